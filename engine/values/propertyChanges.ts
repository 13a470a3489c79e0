import type { Path } from "./paths.ts";
import { equal, isProperties, property, type Properties, Secret, type Value } from "./values.ts";

/** One difference between two sets of properties, at the deepest place where they differ. */
export interface Change {
  path: Path;
  kind: "add" | "delete" | "update";
  old?: Value;
  new?: Value;
  /** This change is why the resource is replaced. */
  replaces?: boolean;
}

/** Where two sets of properties differ; null counts as absent. */
export function changesBetween(olds: Properties, news: Properties): Change[] {
  const changes: Change[] = [];
  collect([], olds, news, changes);
  return changes;
}

function collect(path: Path, old: Value | undefined, now: Value | undefined, changes: Change[]): void {
  if (equal(old ?? null, now ?? null)) return;
  if (old === undefined || old === null) changes.push({ path, kind: "add", new: now ?? null });
  else if (now === undefined || now === null) changes.push({ path, kind: "delete", old });
  else if (isProperties(old) && isProperties(now)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      collect([...path, name], property(old, name), property(now, name), changes);
    }
  } else if (Array.isArray(old) && Array.isArray(now)) {
    for (let i = 0; i < Math.max(old.length, now.length); i++) collect([...path, i], old[i], now[i], changes);
  } else if (old instanceof Secret && now instanceof Secret) {
    // The inside of a secret is not taken apart: even the names in it may be telling.
    changes.push({ path, kind: "update", old, new: now });
  } else changes.push({ path, kind: "update", old, new: now });
}

/** The top-level names among changes, each once. */
export function changedKeys(changes: readonly Change[]): string[] {
  return [...new Set(changes.flatMap(({ path }) => (path[0] === undefined ? [] : [String(path[0])])))];
}
