import { isObject, type Json } from "../../provider/contract/wire.ts";

// The matcher reads keys as JavaScript does: every object has a `constructor`, every text a `length`. Rows have neither.

const inherited = [{}, [], "", 0, false].flatMap((value) => {
  const names: string[] = [];
  for (let type: unknown = Object(value); type !== null; type = Object.getPrototypeOf(type)) {
    names.push(...Object.getOwnPropertyNames(type));
  }
  return names;
});
const names = new Set(inherited);

/** A path of a filter under the key that documents have it by. */
interface Alias {
  key: string;
  path: readonly string[];
}

/** Filters in which no key means what JavaScript adds to values, and the aliases that documents need for them. */
export interface OwnFilters {
  filters: Json[];
  aliases: readonly Alias[];
}

/** Gives each path with an inherited name an alias, which stands for the row's own value there, or for none. */
export function aliasInherited(filters: readonly Json[]): OwnFilters {
  const aliases = new Map<string, Alias>();
  const renamed = (key: string): string => {
    const path = key.split(".");
    if (key.startsWith("$") || !path.some((step) => names.has(step))) return key;
    const alias = `own:${path.join("/")}`;
    aliases.set(alias, { key: alias, path });
    return alias;
  };
  const query = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(query);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const nested = key.startsWith("$") ? nesting.has(key) : hasOperators(inner);
        return [renamed(key), nested ? query(inner) : inner];
      }),
    );
  };
  return { filters: filters.map((filter) => query(filter) as Json), aliases: [...aliases.values()] }; // objects stay objects
}

/** Operators whose operands have keys; those of others are values. */
const nesting = new Set(["$and", "$or", "$nor", "$not", "$elemMatch"]);

const hasOperators = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).some((key) => key.startsWith("$"));

/** The document with its own values under the aliases. */
export function withAliases(document: Json, aliases: readonly Alias[]): Json {
  const added = aliases.map(({ key, path }) => [key, ownAt(document, path)] as const);
  return { ...document, ...Object.fromEntries(added.filter(([, value]) => value !== undefined)) };
}

function ownAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const step of path) {
    const isIndex = Array.isArray(value) && /^\d+$/.test(step);
    if (!(isIndex || isObject(value)) || !Object.hasOwn(value as object, step)) return undefined;
    value = (value as Json)[step];
  }
  return value;
}
