import type { Path } from "./paths.ts";
import { equal, isProperties, type PropertyMap, property, type PropertyValue } from "./values.ts";

/** One difference between two sets of properties, at the deepest place where they differ. */
export interface ValueChange {
  path: Path;
  kind: "add" | "delete" | "update";
  old?: PropertyValue;
  new?: PropertyValue;
  /** Set when this change forces the replacement. */
  replaces?: boolean;
}

/** Lists where two sets of properties differ; null counts as absent. */
export function changesBetween(olds: PropertyMap, news: PropertyMap): ValueChange[] {
  const changes: ValueChange[] = [];
  collect([], olds, news, changes);
  return changes;
}

function collect(
  path: Path,
  old: PropertyValue | undefined,
  next: PropertyValue | undefined,
  changes: ValueChange[],
): void {
  if (equal(old ?? null, next ?? null)) return;
  if (old === undefined || old === null) changes.push({ path, kind: "add", new: next ?? null });
  else if (next === undefined || next === null) changes.push({ path, kind: "delete", old });
  else if (isProperties(old) && isProperties(next)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
      collect([...path, name], property(old, name), property(next, name), changes);
    }
  } else if (Array.isArray(old) && Array.isArray(next)) {
    for (let i = 0; i < Math.max(old.length, next.length); i++) collect([...path, i], old[i], next[i], changes);
    // A secret is compared as a whole: even the names inside it may reveal something.
  } else changes.push({ path, kind: "update", old, new: next });
}

/** The top-level names of changes, each once. */
export function listChangedNames(changes: readonly ValueChange[]): string[] {
  return [...new Set(changes.flatMap(({ path }) => (path[0] === undefined ? [] : [String(path[0])])))];
}
