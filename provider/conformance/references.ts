import { isObject } from "../contract/wire.ts";
import { isWord } from "./matchers.ts";

const whole = /^\$([A-Za-z][\w.]*)$/;
const inside = /\$\{([\w.]+)\}/g;

/** Names that every fact has: a word that no other try of a fact has, and an ID that nothing has. */
export const builtIn = ["unique", "unknown"] as const;

/** A name that is referred to, and where. */
export interface Mention {
  name: string;
  path: PropertyKey[];
}

/** The names that a value refers to: `$name` is the value of a name, `${name}` its text within other text. */
export function mentions(value: unknown, path: PropertyKey[] = []): Mention[] {
  if (typeof value === "string") return namesIn(value).map((name) => ({ name, path }));
  if (Array.isArray(value)) return value.flatMap((item, index) => mentions(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...[...key.matchAll(inside)].map(([, name = ""]) => ({ name, path: [...path, key] })),
    ...mentions(inner, [...path, key]),
  ]);
}

function namesIn(text: string): string[] {
  const one = isWord(text) ? undefined : whole.exec(text)?.[1];
  return one === undefined ? [...text.matchAll(inside)].map(([, name = ""]) => name) : [one];
}

/** A value with what its names stand for; `{$times: 3, of: x}` becomes a list. Matchers stay. */
export function resolve(value: unknown, known: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === "string") return isWord(value) ? value : resolvedText(value, known);
  if (Array.isArray(value)) return value.map((item) => resolve(item, known));
  if (!isObject(value)) return value;
  const { $times: times, of } = value;
  if (typeof times === "number") return Array.from({ length: times }, () => resolve(of, known));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [written(key, known), resolve(inner, known)]));
}

function resolvedText(text: string, known: ReadonlyMap<string, unknown>): unknown {
  const name = whole.exec(text)?.[1];
  return name !== undefined && known.has(name) ? known.get(name) : written(text, known);
}

const written = (text: string, known: ReadonlyMap<string, unknown>): string =>
  text.replaceAll(inside, (there, name: string) => (known.has(name) ? String(known.get(name)) : there));
