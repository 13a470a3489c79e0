import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../machine/failures.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import { invalid } from "../data/platformError.ts";

// Queries as document databases understand them. A path that leads through lists has several values, and a missing one
// has undefined alone. No key means what JavaScript adds to values, such as a text's length.

type Test = (value: unknown) => boolean;
type Condition = (values: readonly unknown[]) => boolean;

/** Returns a predicate over stored rows. validateFilters has checked the operators. */
export function matcher(filters: readonly Json[]): Test {
  try {
    const tests = filters.map(testOf);
    return (document) => tests.every((test) => test(document));
  } catch (error) {
    throw invalid(`optViewFilters: ${messageOf(error)}`);
  }
}

function testOf(filter: unknown): Test {
  if (!isObject(filter)) throw new Error("a filter must be an object");
  const tests = Object.entries(filter).map(([key, wanted]): Test => {
    if (!key.startsWith("$")) {
      const [path, condition] = [key.split("."), conditionOf(wanted)];
      return (document) => condition(valuesAt(document, path));
    }
    const parts = listOf(key, wanted).map(testOf);
    if (key === "$and") return (document) => parts.every((test) => test(document));
    if (key === "$or") return (document) => parts.some((test) => test(document));
    if (key === "$nor") return (document) => !parts.some((test) => test(document));
    throw new Error(`${key} stands below a key`);
  });
  return (document) => tests.every((test) => test(document));
}

function listOf(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} needs a list`);
  return value as unknown[];
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (isObject(value)) return Object.hasOwn(value, step) ? valuesAt(value[step], rest) : [undefined];
  if (!Array.isArray(value)) return [undefined];
  const found = value.filter(isObject).flatMap((item) => valuesAt(item, [step, ...rest]));
  if (/^\d+$/.test(step) && Number(step) < value.length) found.push(...valuesAt(value[Number(step)], rest));
  return found.length === 0 ? [undefined] : found;
}

const hasOperators = (value: unknown): value is Json =>
  isObject(value) && Object.keys(value).some((key) => key.startsWith("$"));

function conditionOf(wanted: unknown): Condition {
  if (!hasOperators(wanted)) return equals(wanted);
  const all = Object.entries(wanted).map(([name, operand]) => {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator) throw new Error(`${name} does not stand below a key`);
    return operator(operand, wanted);
  });
  return (values) => all.every((condition) => condition(values));
}

/** One of the values fits, or something in a list that is one. */
const some =
  (fits: Test): Condition =>
  (values) =>
    values.some((value) => fits(value) || (Array.isArray(value) && value.some(fits)));

const not =
  (condition: Condition): Condition =>
  (values) =>
    !condition(values);

/** Nothing equals null. */
const isEqual = (one: unknown, other: unknown): boolean =>
  (one ?? null) === (other ?? null) || (typeof one === "object" && isDeepStrictEqual(one, other));
const equals = (wanted: unknown): Condition => some((value) => isEqual(value, wanted));
const isAmong = (name: string, wanted: unknown): Condition => {
  const list = listOf(name, wanted);
  return some((value) => list.some((item) => isEqual(value, item)));
};

/** Compares values of the same type, texts by code points. */
const ordered =
  (fits: (order: number) => boolean) =>
  (wanted: unknown): Condition =>
    some((value) => {
      if (typeof value === "string" && typeof wanted === "string") return fits(compareTexts(value, wanted));
      if (typeof value === "number" && typeof wanted === "number") return fits(value - wanted);
      if (typeof value === "boolean" && typeof wanted === "boolean") return fits(Number(value) - Number(wanted));
      return value === null && wanted === null && fits(0);
    });

const operators: Readonly<Record<string, (operand: unknown, condition: Json) => Condition>> = {
  $eq: equals,
  $ne: (wanted) => not(equals(wanted)),
  $in: (list) => isAmong("$in", list),
  $nin: (list) => not(isAmong("$nin", list)),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
  $not: (inner) => not(conditionOf(inner)),
  $exists: (wanted) => (values) => values.some((value) => value !== undefined) === Boolean(wanted),
  $regex: (pattern, { $options }) => {
    const expression = new RegExp(String(pattern), typeof $options === "string" ? $options.replace("g", "") : "");
    return some((value) => typeof value === "string" && expression.test(value));
  },
  $options: () => () => true, // of $regex
  $size: (size) => (values) => values.some((value) => Array.isArray(value) && value.length === size),
  /** Each must be the value or something in its list; none at all fits nothing. */
  $all: (list) => {
    const parts = listOf("$all", list).map(conditionOf);
    return (values) => parts.length > 0 && parts.every((condition) => condition(values));
  },
  $elemMatch: (inner) => {
    const condition = hasOperators(inner) ? conditionOf(inner) : undefined;
    const test = condition ? (item: unknown) => condition([item]) : testOf(inner);
    return (values) => values.some((value) => Array.isArray(value) && value.some(test));
  },
  $mod: (divided) => {
    const [by, left] = listOf("$mod", divided);
    return some((value) => typeof value === "number" && Math.trunc(value) % Number(by) === Number(left));
  },
};

// UTF-16 puts the surrogates of the highest code points before U+E000 to U+FFFF; SQLite and MongoDB compare UTF-8.
const place = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Compares texts by their code points, as their bytes in UTF-8 compare: below 0, 0 or above 0. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return place(a) - place(b);
  }
  return one.length - other.length;
}
