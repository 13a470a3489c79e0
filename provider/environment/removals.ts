import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { find, toPlainValue, type Value } from "../layers/document.ts";
import { loadLayers, mergeLayers } from "../layers/layers.ts";
import type { Removals } from "../resources/model/removals.ts";
import { ResourceError } from "../resources/model/resource.ts";
import { findPresentName } from "./formerKeys.ts";
import { grammar } from "./grammar.ts";
import { hasLine, removed as schema } from "./policy.ts";
import { memberPlace, teamPath } from "./removedChecks.ts";

const called = z.object({ formerly: z.union([z.string(), z.array(z.string())]).optional() });
const organizations = z.record(z.string(), called.extend({ teams: z.record(z.string(), called).optional() })).catch({}); // the check of the file reports what is wrong there

/** Parsed files with their stamps: a run asks again for each thing that it removes. */
const memory = new Map<string, { files: readonly string[]; stamps: string; removals: Removals }>();

/** The removals that an Environment file allows. Reads it again once one of its files changes. */
export function removalsIn(file: string, folder: string): Removals {
  const path = resolve(folder, file);
  const before = memory.get(path);
  if (before && stampsOf(before.files) === before.stamps) return before.removals;
  const read = (): Read => {
    const problems: string[] = [];
    const report = ({ message }: { message: string }): void => void problems.push(message);
    const layers = loadLayers(path, { folder, grammar }, report);
    return { file, root: mergeLayers(layers, report).value, files: layers.files, problems };
  };
  // Stamps first: what changes while it is read is read again.
  const { files } = read();
  const stamps = stampsOf(files);
  const whole = read();
  const removals = removalsOf(whole);
  if (isDeepStrictEqual(files, whole.files)) memory.set(path, { files, stamps, removals });
  return removals;
}

/** A text that differs when the content of files has changed, made without reading them. */
const stampsOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : "";
    })
    .join("\n");

interface Read {
  file: string;
  root: Value | undefined;
  files: readonly string[];
  problems: readonly string[];
}

function removalsOf({ file, root, problems }: Read): Removals {
  const { data: removed } = schema.safeParse((root && toPlainValue(find(root, ["removed"])?.value ?? emptyMap)) ?? {});
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
  const known = organizations.parse(toPlainValue(find(root, ["organizations"])?.value ?? emptyMap));
  // A resource knows the keys with which it was applied; the lines of the file may have those of now.
  const now = ([kind = "", key = "", ...more]: readonly string[]): string[] =>
    kind === "teams" || kind === "members" ? [kind, findPresentName(key, known), ...more] : [kind, key, ...more];
  return {
    allows: (path) => [path, now(path)].some((each) => hasLine(removed, each) || isDeclared(each)),
    rows: (seed) => removed.rows?.[seed] ?? [],
  };
}

const emptyMap = { kind: "map", at: { file: "", line: 1, column: 1 }, entries: new Map() } as const;
