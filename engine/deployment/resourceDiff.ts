import type { Difference, InputsAndOutputs } from "../providers/provider.ts";
import type { Operator } from "../providers/registry.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { parsePath, type Path, pathContains, resetPath, formatPath } from "../values/paths.ts";
import { type ValueChange, listChangedNames, changesBetween } from "../values/propertyChanges.ts";
import {
  copyProperties,
  mapProperties,
  type PropertyMap,
  property,
  revealSecrets,
  isProperties,
  Secret,
  Unknown,
  type PropertyValue,
} from "../values/values.ts";
import type { Run } from "./run.ts";

/** Returns inputs in which everything that `ignoreChanges` names has its old value. */
export function withIgnored(
  run: Run,
  urn: string,
  inputs: PropertyMap,
  olds: PropertyMap,
  ignoreChanges: readonly string[],
): PropertyMap {
  if (ignoreChanges.length === 0) return inputs;
  const news = copyProperties(inputs);
  const failed = ignoreChanges.filter((path) => {
    const parsed = safePath(path);
    return parsed !== undefined && !resetPath(parsed, copyProperties(olds), news);
  });
  if (failed.length > 0) {
    const message = `cannot ignore changes in added or removed elements of the path: ${failed.join(", ")}`;
    run.emit({ type: "log", severity: "info", message, urn });
  }
  return news;
}

function safePath(text: string): Path | undefined {
  try {
    return parsePath(text);
  } catch {
    // As with Pulumi, a path that cannot be read ignores nothing.
    return undefined;
  }
}

/** Asks the provider what changed; where it does not know, compares the inputs without secret marks. */
export async function diffResource(
  run: Run,
  operator: Operator,
  old: Pick<ResourceState, "urn" | "id" | "inputs" | "outputs">,
  inputs: PropertyMap,
  ignoreChanges: string[],
  preview: boolean,
): Promise<Difference> {
  const difference = await operator.diff(old, old, inputs, ignoreChanges, preview);
  if (difference.changes !== "unknown") return difference;
  const news = withIgnored(run, old.urn, inputs, old.inputs, ignoreChanges);
  const changes = changesBetween(mapProperties(old.inputs, revealSecrets), mapProperties(news, revealSecrets));
  if (changes.length === 0) return { ...difference, changes: "none" };
  return {
    ...difference,
    changes: "some",
    changed: listChangedNames(changes),
    detail: changes.map(({ path, kind }) => ({ path, change: { kind, replaces: false, input: true } })),
  };
}

/** Applies `replaceOnChanges` to the properties that a difference names. */
export function withReplaceOnChanges(
  difference: Difference,
  replaceOnChanges: readonly string[],
  hasInitErrors: boolean,
): Difference {
  if (difference.changes !== "some" && !hasInitErrors) return difference;
  const paths = replaceOnChanges.map(parsePath);
  const isNamed = (path: Path): boolean => paths.some((outer) => pathContains(outer, path));
  const detail = difference.detail?.map(({ path, change }) => ({
    path,
    change: isNamed(path) ? { ...change, replaces: true } : change,
  }));
  const replaces = new Set([
    ...difference.replaces,
    ...difference.changed.filter((name) => isNamed(safePath(name) ?? [])),
  ]);
  const initError = hasInitErrors && isNamed(["#initerror"]);
  if (initError) replaces.add("#initerror");
  return {
    ...difference,
    changes: initError ? "some" : difference.changes,
    replaces: [...replaces],
    ...(detail === undefined ? {} : { detail }),
  };
}

export const needsReplacement = (difference: Difference): boolean =>
  difference.replaces.length > 0 || (difference.detail?.some(({ change }) => change.replaces) ?? false);

/** Lists the changes to show: the provider's own detail, or else the difference of the inputs. */
export function changesOf(difference: Difference, old: InputsAndOutputs, next: InputsAndOutputs): ValueChange[] {
  return difference.detail
    ? toDetailedChanges(difference.detail, old, next)
    : changesOfInputs(difference, old.inputs, next.inputs);
}

function changesOfInputs(difference: Difference, olds: PropertyMap, news: PropertyMap): ValueChange[] {
  const all = changesBetween(olds, news);
  const isReplacing = (path: Path): boolean => difference.replaces.includes(String(path[0]));
  const changes = all.map((change) => (isReplacing(change.path) ? { ...change, replaces: true } : change));
  const keys = new Set(listChangedNames(all));
  // The provider may name a key whose inputs are the same, such as "id" or a computed one.
  for (const name of difference.replaces) {
    if (!keys.has(name)) changes.push(changeOfKey(name, olds, news));
  }
  return changes;
}

function changeOfKey(name: string, olds: PropertyMap, news: PropertyMap): ValueChange {
  const old = property(olds, name);
  const next = property(news, name);
  return {
    path: [name],
    kind: "update",
    replaces: true,
    ...(old === undefined ? {} : { old }),
    ...(next === undefined ? {} : { new: next }),
  };
}

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
    // A provider may name what neither side holds, such as a row of a file: that has no value to show.
    if (kind === "add") return { path: here, kind, ...(next === undefined ? {} : { new: next }) };
    if (kind === "delete") return { path: here, kind, ...(old === undefined ? {} : { old }) };
    return {
      path: here,
      kind,
      ...(old === undefined && next === undefined ? {} : { old: old ?? null, new: next ?? null }),
    };
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
