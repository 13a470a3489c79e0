import sift from "sift";
import { messageOf } from "../../machine/failures.ts";
import { compareTexts } from "../../machine/spelling.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import { invalid } from "../data/platformError.ts";

/**
 * Returns a predicate over stored rows that follows the rules of document databases. validateFilters has checked the
 * operators.
 */
export function matcher(filters: readonly Json[]): (document: Json) => boolean {
  const own = aliasInherited(filters);
  const tests = own.filters.map((filter) => {
    try {
      return library(filter, { operations });
    } catch (error) {
      throw invalid(`optViewFilters: ${messageOf(error)}`);
    }
  });
  if (own.aliases.length === 0) return (document) => tests.every((test) => test(document));
  return (document) => {
    const aliased = withAliases(document, own.aliases);
    return tests.every((test) => test(aliased));
  };
}

// Operators in which the library differs from document databases.

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
};

/** Compares texts by code points; the library's own goes by UTF-16. */
const comparing =
  (name: string, fits: (order: number) => boolean) =>
  (wanted: unknown, owner: unknown, options: unknown): unknown => {
    const own = typeof wanted === "string" ? undefined : library({ [name]: wanted }, {});
    const test = (value: unknown) =>
      own?.(value) ?? (typeof value === "string" && fits(compareTexts(value, wanted as string))); // a string, or own is there
    return library.createEqualsOperation(test, owner, options);
  };

/** Each of the values must equal the field or something in its list; no values at all fit nothing. */
const $all = (wanted: unknown, owner: unknown, options: unknown): unknown => {
  if (!Array.isArray(wanted)) throw new Error("$all needs a list");
  const tests = wanted.map((item: unknown) => library(isObject(item) ? item : { $eq: item }, { operations }));
  const test = (value: unknown) => tests.length > 0 && tests.every((fits) => fits(value));
  return library.createEqualsOperation(test, owner, options);
};

// The library's types are CommonJS under a name of an ES module, so it is described here.
const library = sift as unknown as {
  (filter: Json, options: object): (document: unknown) => boolean;
  createEqualsOperation: (test: (value: unknown) => boolean, owner: unknown, options: unknown) => unknown;
};

/** The library's own takes null and empty lists for 0. */
const $mod = (params: unknown[], owner: unknown, options: unknown): unknown => {
  const [by, left] = params;
  const test = (value: unknown) => typeof value === "number" && Math.trunc(value) % Number(by) === Number(left);
  return library.createEqualsOperation(test, owner, options);
};

const operations: object = {
  $mod,
  $all,
  ...Object.fromEntries(Object.entries(orders).map(([name, fits]) => [name, comparing(name, fits)])),
};

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
