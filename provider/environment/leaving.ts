import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../platform/contract/wire.ts";
import { formatCount, quote } from "../../platform/messages/text.ts";

/** Part of the keys from which on two seeds are taken for one. */
const minShared = 0.8;

/** A thing that leaves or comes, for finding one that only has another key. */
export interface RenamedSide {
  /** Such as SeedRows. */
  kind: string;
  /** Name below the Environment, or in the program: `acme/crew`. */
  name: string;
  /** The URN of a resource that a program declared by itself. */
  urn?: string | undefined;
  /** Outputs of a thing that leaves, inputs of one that comes. */
  values: Readonly<Record<string, unknown>>;
}

/** Rows of a seed that leaves: those that the other one declares as well, and those that nobody has then. */
export interface RowsLeft {
  stay: number;
  go: number;
}

/** A thing that leaves beside the one that it may be under another key. */
interface Renaming<Thing> {
  left: Thing;
  came: Thing;
  /** Undefined where that is not known. */
  rows: RowsLeft | undefined;
}

/** Pairs what leaves with what comes and may be the same; none where several may be. `rowsOf` counts rows that stay. */
export function findRenamings<Thing extends RenamedSide>(
  left: readonly Thing[],
  came: readonly Thing[],
  rowsOf: (left: Thing, came: Thing) => RowsLeft | undefined,
): Renaming<Thing>[] {
  return left.flatMap((one) => {
    const [other, ...others] = came.filter((each) => isAlike(one, each, rowsOf(one, each)));
    return other && others.length === 0 ? [{ left: one, came: other, rows: rowsOf(one, other) }] : [];
  });
}

/** True if one thing may be the other under another key. */
function isAlike(left: RenamedSide, came: RenamedSide, rows: RowsLeft | undefined): boolean {
  if (left.kind !== came.kind) return false;
  const is = (name: string): boolean => isDeepStrictEqual(left.values[name], came.values[name]);
  const isSingle = left.urn !== undefined;
  // What is above it may come in the same run.
  const isIn = (name: string): boolean => is(name) || (isSingle && came.values[name] === "[unknown]");
  const who = ({ values: { email, userID } }: RenamedSide): string => String(email ?? userID).toLowerCase();
  switch (left.kind) {
    case "SeedRows": {
      if (!is("table") || !is("key")) return false;
      if (came.values["source"] !== undefined && is("source")) return true;
      return rows !== undefined && rows.stay > 0 && rows.stay >= minShared * (rows.stay + rows.go);
    }
    case "Organization":
      return is("name");
    case "Team":
      return is("name") && isIn("organizationID");
    case "TeamMember":
      return isSingle && who(left) === who(came) && isIn("teamID");
    case "TeamRoster":
      return isSingle && isIn("teamID");
    case "GeneratedApp":
      return ["userEmail", "appPrompt"].every((name) => came.values[name] !== undefined && is(name));
    default:
      return false;
  }
}

/** Counts rows of a seed that leaves beside one that comes, where both name their keys. */
export function countRowsLeft(
  { values: { keys: was } }: RenamedSide,
  { values: { keys: is } }: RenamedSide,
): RowsLeft | undefined {
  if (!Array.isArray(was) || !Array.isArray(is)) return undefined;
  const kept = new Set<unknown>(is);
  const stay = was.filter((key: unknown) => kept.has(key)).length;
  return { stay, go: was.length - stay };
}

/** The last part of a name: the key in the file. */
export const keyIn = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/**
 * Names the line that keeps a thing what it is, and the effects of a run without it.
 * @param where the entry of a file, `seeds.kinds (env.yaml:4:3)`; undefined for a resource of a program
 */
export function describeRenaming({ left, came, rows }: Renaming<RenamedSide>, where: string | undefined): string {
  const [was, is] = where === undefined ? [left.name, came.name] : [keyIn(left.name), keyIn(came.name)];
  const line =
    where === undefined
      ? `give ${quote(is)} the option aliases: [{ name: ${quote(was)} }]`
      : `add "formerly: ${left.urn ?? was}" under ${where}`;
  return `perhaps ${quote(was)} is ${quote(is)} now: to keep it the same thing, ${line}. ${without(left.kind, rows, is)}`;
}

/** Effects of a run on two things where one was meant. */
function without(kind: string, rows: RowsLeft | undefined, name: string): string {
  switch (kind) {
    case "SeedRows":
      return rows === undefined
        ? "Without it, one seed goes and another one comes"
        : `Without it, ${formatCount(rows.stay, "row")} stay${rows.stay === 1 ? "s" : ""} for ${quote(name)} and ${rows.go === 0 ? "none is" : formatCount(rows.go, "row") + (rows.go === 1 ? " is" : " are")} removed`;
    case "TeamMember":
    case "TeamRoster":
      return "Without it, one goes and another one comes";
    case "GeneratedApp":
      return "Without it, another app is generated and the first one stays";
    default:
      return `Without it, it is another ${kind.toLowerCase()}, and the first one goes with all that is in it`;
  }
}

/** A deleted resource, with its values from the state. */
interface Deleted {
  urn: string;
  resourceType: string;
  id?: string;
  properties?: Readonly<Record<string, unknown>>;
}

/** Describes the contents of a deleted resource, `24 rows`; undefined where its state does not know. */
type DescribeSize = (deleted: Deleted) => string | undefined;

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
        return "perhaps teams of others";
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
