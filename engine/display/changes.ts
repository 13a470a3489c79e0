import type { PropertyChange } from "../events.ts";
import { isObject } from "../values/json.ts";
import { parsePath } from "../values/paths.ts";

export type Key = string | number;

/** Changes by place; a branch holds the changes below it. */
export type ChangeTree = Map<Key, PropertyChange | ChangeTree>;

/** Splits a path; one that cannot be parsed stays one part. */
function partsOf(path: string): Key[] {
  try {
    const parts = parsePath(path);
    return parts.length === 0 ? [path] : parts;
  } catch {
    return [path];
  }
}

export const topKey = (path: string): string => String(partsOf(path)[0]);

/** Arranges changes by their paths. */
export function changeTree(changes: readonly PropertyChange[]): ChangeTree {
  const root: ChangeTree = new Map();
  for (const change of changes) {
    const parts = partsOf(change.path);
    const last = parts.pop();
    if (last === undefined) continue;
    let at = root;
    for (const part of parts) {
      const below = at.get(part);
      const tree: ChangeTree = below instanceof Map ? below : new Map<Key, PropertyChange | ChangeTree>();
      at.set(part, tree);
      at = tree;
    }
    at.set(last, expanded(change));
  }
  return root;
}

/** Splits a change between two lists or two objects into what differs in them. */
function expanded(change: PropertyChange): PropertyChange | ChangeTree {
  if (change.kind !== "update") return change;
  const { old } = change;
  const next = change.new;
  const pairs: [Key, unknown, unknown][] = [];
  if (Array.isArray(old) && Array.isArray(next)) {
    for (let i = 0; i < Math.max(old.length, next.length); i++) pairs.push([i, old[i], next[i]]);
  } else if (isObject(old) && isObject(next)) {
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) pairs.push([key, old[key], next[key]]);
  } else {
    return change;
  }
  const tree: ChangeTree = new Map();
  for (const [key, before, after] of pairs) {
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    const kind = before === undefined ? "add" : after === undefined ? "delete" : "update";
    tree.set(key, expanded({ path: change.path, kind, old: before, new: after }));
  }
  return tree.size === 0 ? change : tree;
}
