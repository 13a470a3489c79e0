import { resolve } from "node:path";
import { find, plain } from "../layers/document.ts";
import { loadLayers, mergedLayers } from "../layers/layers.ts";
import type { Removals } from "../resources/model/removals.ts";
import { ResourceError } from "../resources/model/resource.ts";
import { grammar } from "./grammar.ts";
import { removed as schema } from "./policy.ts";
import { memberPlace, teamPath } from "./removedChecks.ts";

/** What an Environment file, as it is now, says about what leaves the platform. */
export function removalsIn(file: string, folder: string): Removals {
  const problems: string[] = [];
  const report = ({ message }: { message: string }): void => void problems.push(message);
  const { value: root } = mergedLayers(loadLayers(resolve(folder, file), { folder, grammar }, report), report);
  const { data: removed } = schema.safeParse((root && plain(find(root, ["removed"])?.value ?? emptyMap)) ?? {});
  if (!root || !removed) {
    throw new ResourceError(`${file} says what may be removed, and can't be read: ${problems[0] ?? "correct removed"}`);
  }
  const { organizations = [], teams = [], members = {}, seeds = [], apps = [], rows = {} } = removed;
  const lists: Readonly<Record<string, readonly string[]>> = { organizations, teams, seeds, apps };
  const allows = ([kind = "", key = "", person]: readonly string[]): boolean => {
    const [organization = ""] = key.split("/");
    const isOfTeam = kind === "teams" || kind === "members";
    if (lists[kind]?.includes(key) || (isOfTeam && (organizations.includes(organization) || teams.includes(key))))
      return true;
    if (!isOfTeam) return find(root, [kind, key]) !== undefined;
    const team = teamPath(key);
    if (!team || kind === "teams") return team !== undefined && find(root, team) !== undefined;
    const is = (other: string): boolean => other.toLowerCase() === person?.toLowerCase();
    return (members[key] ?? []).some(is) || (person !== undefined && memberPlace(root, team, person) !== undefined);
  };
  return { allows, rows: (seed) => rows[seed] ?? [] };
}

const emptyMap = { kind: "map", at: { file: "", line: 1, column: 1 }, entries: new Map() } as const;
