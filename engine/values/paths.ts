import { EngineError } from "../errors.ts";
import { isProperties, type PropertyMap, property, Secret, type PropertyValue } from "./values.ts";

/** A place inside properties: names, indexes, and `*` for each element. */
export type Path = (string | number)[];

/** Reads `root.nested[0]["a.b"].*`, the notation of `ignoreChanges`; as lenient as Pulumi's reader is. */
export function parsePath(text: string): Path {
  const path: Path = [];
  let rest = text;
  if (rest.startsWith(".")) throw new EngineError(`the property path '${text}' must not start with a dot`);
  while (rest !== "") {
    const dotted = rest.startsWith(".") ? rest.slice(1) : rest;
    // Two dots on end are one to Pulumi.
    if (dotted.startsWith(".")) {
      rest = dotted;
      continue;
    }
    const quoted = /^\["((?:\\"|[^"])*)"\]/.exec(dotted);
    const indexed = /^\[([+-]?\d+|\*)\]/.exec(dotted);
    const named = /^[^.[]+/.exec(dotted);
    const found = quoted ?? indexed ?? named;
    if (found === null) throw new EngineError(`the property path '${text}' is not valid at '${rest}'`);
    const part = found[1] ?? found[0];
    if (quoted) path.push(part.replaceAll('\\"', '"'));
    else if (indexed && part !== "*") path.push(Number(part));
    else path.push(part);
    rest = dotted.slice(found[0].length);
  }
  return path;
}

/** Writes a path as Pulumi does in the state. */
export function formatPath(path: Path): string {
  return path
    .map((part, i) => {
      if (typeof part === "number") return `[${part}]`;
      if (/[^A-Za-z0-9_]/.test(part)) return `["${part.replaceAll('"', '\\"')}"]`;
      return i === 0 ? part : `.${part}`;
    })
    .join("");
}

/** True if `inner` lies at or below `outer`. */
export function pathContains(outer: Path, inner: Path): boolean {
  return outer.length <= inner.length && outer.every((part, i) => part === "*" || part === inner[i]);
}

const open = (value: PropertyValue | undefined): PropertyValue | undefined =>
  value instanceof Secret ? open(value.value) : value;

/**
 * Sets what `path` names in `news` back to its value in `olds`, in place. Returns false where it cannot: an element of
 * an array was added or removed.
 */
export function resetPath(path: Path, olds: PropertyMap, news: PropertyMap): boolean {
  return reset(path, olds, news, { old: false, next: false });
}

/** True if each side lies inside a secret. A value copied out of one into plain properties becomes a secret itself. */
interface Sealed {
  old: boolean;
  next: boolean;
}

function reset(
  path: Path,
  oldSide: PropertyValue | undefined,
  newSide: PropertyValue | undefined,
  outside: Sealed,
): boolean {
  const sealed = { old: outside.old || oldSide instanceof Secret, next: outside.next || newSide instanceof Secret };
  const old = open(oldSide);
  const next = open(newSide);
  const keep = (value: PropertyValue): PropertyValue =>
    sealed.old && !sealed.next && !(value instanceof Secret) ? new Secret(value) : value;
  const [key, ...rest] = path;
  if (key === undefined) return false;
  const last = rest.length === 0;

  if (typeof key === "number") {
    if (!Array.isArray(old) || !Array.isArray(next)) return !Array.isArray(old) && !Array.isArray(next);
    const value = old[key];
    if (value === undefined || key < 0 || key >= next.length) return last && key >= old.length && key >= next.length;
    if (!last) return reset(rest, value, next[key], sealed);
    next[key] = keep(value);
    return true;
  }
  if (key === "*") return resetEach(rest, old, next, keep, sealed);

  const value = isProperties(old) ? property(old, key) : undefined;
  if (last) {
    if (value === undefined) {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the property is named by the user's path
      if (isProperties(next)) delete next[key];
      return true;
    }
    if (!isProperties(next)) return false;
    next[key] = keep(value);
    return true;
  }
  if (!isProperties(old) || !isProperties(next)) return !isProperties(old) && !isProperties(next);
  const inner = property(next, key);
  if (value === undefined && inner === undefined) return true;
  if (inner === undefined) return false;
  return reset(rest, value, inner, sealed);
}

function resetEach(
  rest: Path,
  old: PropertyValue | undefined,
  next: PropertyValue | undefined,
  keep: (value: PropertyValue) => PropertyValue,
  sealed: Sealed,
): boolean {
  if (Array.isArray(next)) {
    if (!Array.isArray(old)) return rest.length === 0;
    for (const [i, value] of old.entries()) {
      if (i >= next.length) break;
      if (rest.length === 0) next[i] = keep(value);
      else if (!reset(rest, value, next[i], sealed)) return false;
    }
    return old.length === next.length;
  }
  if (!isProperties(next)) return false;
  if (!isProperties(old)) return rest.length === 0;
  if (rest.length > 0) {
    return Object.keys(old).every((name) => Object.hasOwn(next, name) && reset(rest, old[name], next[name], sealed));
  }
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- every property that the old side lacks goes
  for (const name of Object.keys(next)) if (!Object.hasOwn(old, name)) delete next[name];
  for (const [name, value] of Object.entries(old)) next[name] = keep(value);
  return true;
}
