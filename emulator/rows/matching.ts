import sift from "sift";
import { messageOf } from "../../machine/failures.ts";
import type { Json } from "../../provider/contract/wire.ts";
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
      return library(filter, { operations: { $mod } });
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
