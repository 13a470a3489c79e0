import type { Difference, InputsAndOutputs } from "../providers/provider.ts";
import { formatPath, type Path } from "../values/paths.ts";
import type { Change } from "../values/propertyChanges.ts";
import { isProperties, property, Secret, Unknown, unknown, type Value } from "../values/values.ts";

type Detail = NonNullable<Difference["detail"]>;

/** The changes that a provider names by their paths, with the values that stand there. */
export function detailedChanges(detail: Detail, olds: InputsAndOutputs, news: InputsAndOutputs): Change[] {
  const found = new Map<string, Change>();
  for (const { path, change } of detail) {
    const [before, after] = change.input ? [olds.inputs, news.inputs] : [olds.outputs, news.outputs];
    const placed = place(path, 0, change.kind, before, after);
    found.set(formatPath(placed.path), change.replaces ? { ...placed, replaces: true } : placed);
  }
  return [...found.values()];
}

/** Where one side has nothing on the way to the place, everything below is added or deleted as a whole. */
function place(path: Path, depth: number, kind: Change["kind"], before: Value, after: Value): Change {
  const key = path[depth];
  const old = key === undefined ? before : part(before, key);
  const next = key === undefined ? after : part(after, key);
  const here = path.slice(0, depth + 1);
  if (depth >= path.length - 1) {
    // A provider may name what stands in neither, such as a row of a file.
    if (kind === "add") return { path: here, kind, new: next ?? unknown };
    if (kind === "delete") return { path: here, kind, old: old ?? unknown };
    return { path: here, kind, old: old ?? null, new: next ?? null };
  }
  const [was, is] = [old ?? null, next ?? null];
  if (was === null && is !== null) return { path: here, kind: "add", new: is };
  if (was !== null && is === null) return { path: here, kind: "delete", old: was };
  return place(path, depth + 1, kind, was, is);
}

function part(value: Value, key: string | number): Value | undefined {
  // What is inside these is not to be seen, or not known.
  if (value instanceof Secret || value instanceof Unknown) return value;
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProperties(value) && typeof key === "string" ? property(value, key) : undefined;
}

/** The way back: what a refresh found, out of what an update would undo. */
export function inverted(difference: Difference): Difference {
  if (!difference.detail) return difference;
  const back = { add: "delete", delete: "add", update: "update" } as const;
  return {
    ...difference,
    detail: difference.detail.map(({ path, change }) => ({ path, change: { ...change, kind: back[change.kind] } })),
  };
}
