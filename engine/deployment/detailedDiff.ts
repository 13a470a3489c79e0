import type { Difference, InputsAndOutputs } from "../providers/provider.ts";
import { formatPath, type Path } from "../values/paths.ts";
import type { ValueChange } from "../values/propertyChanges.ts";
import { isProperties, property, Secret, Unknown, unknown, type PropertyValue } from "../values/values.ts";

type Detail = NonNullable<Difference["detail"]>;

/** Adds the values to the changes that a provider names by their paths. */
export function toDetailedChanges(detail: Detail, olds: InputsAndOutputs, news: InputsAndOutputs): ValueChange[] {
  const found = new Map<string, ValueChange>();
  for (const { path, change } of detail) {
    const [before, after] = change.input ? [olds.inputs, news.inputs] : [olds.outputs, news.outputs];
    const placed = place(path, 0, change.kind, before, after);
    found.set(formatPath(placed.path), change.replaces ? { ...placed, replaces: true } : placed);
  }
  return [...found.values()];
}

/** Finds the values of a change. Where one side lacks a part of the path, that part is added or deleted as a whole. */
function place(
  path: Path,
  depth: number,
  kind: ValueChange["kind"],
  before: PropertyValue,
  after: PropertyValue,
): ValueChange {
  const key = path[depth];
  const old = key === undefined ? before : part(before, key);
  const next = key === undefined ? after : part(after, key);
  const here = path.slice(0, depth + 1);
  if (depth >= path.length - 1) {
    // A provider may name what neither side holds, such as a row of a file.
    if (kind === "add") return { path: here, kind, new: next ?? unknown };
    if (kind === "delete") return { path: here, kind, old: old ?? unknown };
    return { path: here, kind, old: old ?? null, new: next ?? null };
  }
  const [was, is] = [old ?? null, next ?? null];
  if (was === null && is !== null) return { path: here, kind: "add", new: is };
  if (was !== null && is === null) return { path: here, kind: "delete", old: was };
  return place(path, depth + 1, kind, was, is);
}

function part(value: PropertyValue, key: string | number): PropertyValue | undefined {
  // Their inside is hidden, or not known.
  if (value instanceof Secret || value instanceof Unknown) return value;
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isProperties(value) && typeof key === "string" ? property(value, key) : undefined;
}

/** Turns a difference round: what an update would undo is what a refresh found. */
export function invertDifference(difference: Difference): Difference {
  if (!difference.detail) return difference;
  const back = { add: "delete", delete: "add", update: "update" } as const;
  return {
    ...difference,
    detail: difference.detail.map(({ path, change }) => ({ path, change: { ...change, kind: back[change.kind] } })),
  };
}
