import { isObject } from "../../../platform/contract/wire.ts";
import { formatCount } from "../../../platform/messages/text.ts";

/** A deleted resource, with its values from the state. */
interface Deleted {
  urn: string;
  resourceType: string;
  id?: string;
  properties?: Readonly<Record<string, unknown>>;
}

/** Describes the contents of a deleted resource, `24 rows`; undefined where its state does not know. */
export type DescribeSize = (deleted: Deleted) => string | undefined;

/** Describes the sizes of one run's deletions. Who leaves a team is deleted before it, so it is known by then. */
export function describeSizes(): DescribeSize {
  const left = new Map<string, Map<string, number>>();
  return ({ urn, resourceType, id = "", properties = {} }) => {
    switch (resourceType.split(":").at(-1)) {
      case "SeedRows":
        return rowsOf(properties);
      case "Team": {
        const people = [...(left.get(id)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
        return people === 0 ? undefined : formatCount(people, "person");
      }
      case "TeamRoster": {
        const people = peopleOf(properties);
        remember(left, properties["teamID"], urn, people ?? 0);
        return people === undefined ? undefined : formatCount(people, "person");
      }
      case "TeamMember":
        remember(left, properties["teamID"], urn, 1);
        return undefined;
      case "Organization":
        return "unseen teams too";
      default:
        return undefined;
    }
  };
}

function rowsOf({ rowCount, onDestroy }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof rowCount !== "number") return undefined;
  return `${formatCount(rowCount, "row")}${onDestroy === "retain" && rowCount > 0 ? ", which stay on the platform" : ""}`;
}

/** Counts members even where they are a secret: their user IDs are as many. */
function peopleOf({ members, userIDs }: Readonly<Record<string, unknown>>): number | undefined {
  if (isObject(members)) return Object.keys(members).length;
  return Array.isArray(userIDs) ? userIDs.length : undefined;
}

function remember(left: Map<string, Map<string, number>>, team: unknown, urn: string, count: number): void {
  if (typeof team !== "string") return;
  left.set(team, (left.get(team) ?? new Map<string, number>()).set(urn, count));
}
