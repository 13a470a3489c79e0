import { isObject } from "../../platform/contract/wire.ts";

/** Where something is not as expected: the dotted path, and both values. */
export interface Mismatch {
  path: string;
  expected: unknown;
  seen: unknown;
}

type Test = (seen: unknown) => boolean;

/** Matchers that are one word: what a value must be, where it is not known. */
const words = {
  $any: (seen) => seen !== undefined,
  $absent: (seen) => seen === undefined,
  $text: (seen) => typeof seen === "string" && seen !== "",
  $number: (seen) => typeof seen === "number",
  $boolean: (seen) => typeof seen === "boolean",
  $list: (seen) => Array.isArray(seen),
} as const satisfies Record<string, Test>;

export const isWord = (value: unknown): value is keyof typeof words =>
  typeof value === "string" && Object.hasOwn(words, value);

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const isSized = (value: unknown): value is string | unknown[] => typeof value === "string" || Array.isArray(value);
const matches = (expected: unknown, seen: unknown): boolean => mismatch(expected, seen) === undefined;

/** Matchers with a value, by the one key of an object. */
const operators: Readonly<Record<string, (inner: unknown, seen: unknown) => boolean>> = {
  /** Text of this regular expression. */
  $match: (inner, seen) => typeof seen === "string" && new RegExp(String(inner), "u").test(seen),
  /** A list or text of so many. */
  $length: (inner, seen) => isSized(seen) && seen.length === inner,
  /** A list with an item that matches, or a text with this part. */
  $contains: (inner, seen) =>
    typeof seen === "string" ? seen.includes(String(inner)) : list(seen).some((item) => matches(inner, item)),
  /** A list without any item that matches. */
  $lacks: (inner, seen) => Array.isArray(seen) && !seen.some((item) => matches(inner, item)),
  /** A list of items that match these, in any order. */
  $items: (inner, seen) => Array.isArray(seen) && paired(list(inner), list(seen)),
  /** An object with a value that matches, under whatever key. */
  $value: (inner, seen) => isObject(seen) && Object.values(seen).some((value) => matches(inner, value)),
  $either: (inner, seen) => list(inner).some((one) => matches(one, seen)),
  $all: (inner, seen) => list(inner).every((one) => matches(one, seen)),
  $not: (inner, seen) => !matches(inner, seen),
};

/**
 * Compares what came with what is expected; undefined when it matches. Objects may have more keys than expected, lists
 * have the same length and order. Throws where a matcher is mistyped: it would let nothing pass, or anything.
 */
export function mismatch(expected: unknown, seen: unknown, path = ""): Mismatch | undefined {
  const wrong = { path, expected, seen };
  if (isWord(expected)) return words[expected](seen) ? undefined : wrong;
  if (typeof expected === "string" && /^\$\w+$/.test(expected)) throw new Error(`nothing is called ${expected}`);
  if (typeof expected !== "object" || expected === null) return Object.is(expected, seen) ? undefined : wrong;
  const [operator = "", ...others] = Object.keys(expected);
  if (operator.startsWith("$")) {
    const test = operators[operator];
    if (!test || others.length > 0) throw new Error(`no matcher is {${Object.keys(expected).join(", ")}}`);
    return test(own(expected, operator), seen) ? undefined : wrong;
  }
  const isAlike = Array.isArray(expected) ? list(seen).length === expected.length && isSized(seen) : isObject(seen);
  if (!isAlike || typeof seen !== "object" || seen === null) return wrong;
  for (const [key, value] of Object.entries(expected)) {
    const found = mismatch(value, own(seen, key), path === "" ? key : `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}

const own = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (Reflect.get(value, key) as unknown) : undefined;

/** True when each expected item has a different match among the seen ones. */
function paired(expected: readonly unknown[], seen: readonly unknown[]): boolean {
  const [item, ...others] = expected;
  if (expected.length === 0) return seen.length === 0;
  return seen.some((one, index) => matches(item, one) && paired(others, seen.toSpliced(index, 1)));
}

/** The value at a dotted path, through lists as well; undefined when there is none. */
export const valueAt = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (inner, key) => (typeof inner === "object" && inner !== null ? own(inner, key) : undefined),
      value,
    );
