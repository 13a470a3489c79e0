import { isDeepStrictEqual } from "node:util";
import { toPlain } from "./properties.ts";

/** A place inside properties: names, indexes, and `*` for every element. */
export type PropertyPath = readonly (string | number)[];

/** Reads `root.nested[0]["a.b"].*`, as the options of Pulumi spell it; undefined for what is no path. */
export function parsePath(text: string): PropertyPath | undefined {
  const steps = /\.?(?:\["((?:\\"|[^"])*)"\]|\[(\d+|\*)\]|([^.[\]]+))/y;
  const path: (string | number)[] = [];
  while (steps.lastIndex < text.length) {
    const [, quoted, index, name] = steps.exec(text) ?? [];
    if (quoted !== undefined) path.push(quoted.replaceAll('\\"', '"'));
    else if (index !== undefined) path.push(index === "*" ? index : Number(index));
    else if (name !== undefined) path.push(name);
    else return undefined;
  }
  return path.length === 0 || text.startsWith(".") ? undefined : path;
}

/** Writes a path as {@link parsePath} reads it. */
export const pathText = ([first, ...rest]: PropertyPath): string =>
  String(first) +
  rest.map((step) => (typeof step === "number" || step === "*" ? `[${step}]` : `[${JSON.stringify(step)}]`)).join("");

/** True when anything at or below a path differs. */
export function differAt(path: PropertyPath, old: unknown, now: unknown): boolean {
  const [step, ...rest] = path;
  if (step === undefined) return !isDeepStrictEqual(toPlain(old), toPlain(now));
  const names = step === "*" ? [...new Set([...namesIn(old), ...namesIn(now)])] : [String(step)];
  return names.some((name) => differAt(rest, elementOf(old, name), elementOf(now, name)));
}

const namesIn = (value: unknown): string[] => (typeof value === "object" && value !== null ? Object.keys(value) : []);

const elementOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value // what is inherited is no element
    : undefined;
