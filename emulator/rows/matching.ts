import sift from "sift";
import { messageOf } from "../../machine/failures.ts";
import { compareTexts } from "../../machine/spelling.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import { invalid } from "../data/platformError.ts";
import { aliasInherited, withAliases } from "./inherited.ts";

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
