import { resolve } from "node:path";
import { z } from "zod";
import { find, plain } from "../layers/document.ts";
import { loadLayers, mergedLayers } from "../layers/layers.ts";
import type { Removals } from "../resources/model/removals.ts";
import { ResourceError } from "../resources/model/resource.ts";
import { calledNow } from "./formerKeys.ts";
import { grammar } from "./grammar.ts";
import { hasLine, removed as schema } from "./policy.ts";
import { memberPlace, teamPath } from "./removedChecks.ts";

const called = z.object({ formerly: z.union([z.string(), z.array(z.string())]).optional() });
const organizations = z.record(z.string(), called.extend({ teams: z.record(z.string(), called).optional() })).catch({}); // what is wrong there is said by whoever reads the file

/** What an Environment file, as it is now, says about what leaves the platform. */
export function removalsIn(file: string, folder: string): Removals {
  const problems: string[] = [];
  const report = ({ message }: { message: string }): void => void problems.push(message);
  const { value: root } = mergedLayers(loadLayers(resolve(folder, file), { folder, grammar }, report), report);
  const { data: removed } = schema.safeParse((root && plain(find(root, ["removed"])?.value ?? emptyMap)) ?? {});
  if (!root || !removed) {
    throw new ResourceError(`${file} says what may be removed, and can't be read: ${problems[0] ?? "correct removed"}`);
  }
  const isDeclared = ([kind = "", key = "", person]: readonly string[]): boolean => {
    if (kind !== "teams" && kind !== "members") return find(root, [kind, key]) !== undefined;
    const team = teamPath(key);
    if (!team) return false;
    if (kind === "teams") return find(root, team) !== undefined;
    return person !== undefined && memberPlace(root, team, person) !== undefined;
  };
  const known = organizations.parse(plain(find(root, ["organizations"])?.value ?? emptyMap));
  // A resource knows the keys with which it was applied; the lines of the file may have those of now.
  const now = ([kind = "", key = "", ...more]: readonly string[]): string[] =>
    kind === "teams" || kind === "members" ? [kind, calledNow(key, known), ...more] : [kind, key, ...more];
  return {
    allows: (path) => [path, now(path)].some((each) => hasLine(removed, each) || isDeclared(each)),
    rows: (seed) => removed.rows?.[seed] ?? [],
  };
}

const emptyMap = { kind: "map", at: { file: "", line: 1, column: 1 }, entries: new Map() } as const;
