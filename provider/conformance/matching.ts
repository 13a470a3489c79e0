import { isObject, type Json } from "../contract/wire.ts";
import { isOperator, isWord, type MatchOperator, type MatchWord } from "./matchers.ts";

/** Where something is not as expected: the dotted path, and both values. */
export interface Mismatch {
  path: string;
  expected: unknown;
  seen: unknown;
}

/**
 * Compares what came with what is expected; undefined when it matches. Objects may have more keys than expected, lists
 * have the same length and order.
 */
export function mismatch(expected: unknown, seen: unknown, path = ""): Mismatch | undefined {
  const wrong = { path, expected, seen };
  if (isWord(expected)) return byWord[expected](seen) ? undefined : wrong;
  if (Array.isArray(expected)) {
    if (!Array.isArray(seen) || seen.length !== expected.length) return wrong;
    return first(expected.entries(), ([index, item]) => mismatch(item, seen[index], joined(path, index)));
  }
  if (!isObject(expected)) return Object.is(expected, seen) ? undefined : wrong;
  const [operator] = Object.keys(expected);
  if (operator !== undefined && isOperator(operator)) return byOperator[operator](expected[operator], seen, wrong);
  if (!isObject(seen)) return wrong;
  return first(Object.entries(expected), ([key, value]) =>
    mismatch(value, Object.hasOwn(seen, key) ? seen[key] : undefined, joined(path, key)),
  );
}

const matches = (expected: unknown, seen: unknown): boolean => mismatch(expected, seen) === undefined;
const joined = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);

function first<Item>(items: Iterable<Item>, find: (item: Item) => Mismatch | undefined): Mismatch | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

const byWord: Record<MatchWord, (seen: unknown) => boolean> = {
  $any: (seen) => seen !== undefined,
  $absent: (seen) => seen === undefined,
  $text: (seen) => typeof seen === "string" && seen !== "",
  $number: (seen) => typeof seen === "number",
  $boolean: (seen) => typeof seen === "boolean",
  $list: (seen) => Array.isArray(seen),
  $object: isObject,
};

type Test = (inner: unknown, seen: unknown, wrong: Mismatch) => Mismatch | undefined;
const when =
  (test: (inner: unknown, seen: unknown) => boolean): Test =>
  (inner, seen, wrong) =>
    test(inner, seen) ? undefined : wrong;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const contains = (inner: unknown, seen: unknown): boolean =>
  typeof seen === "string"
    ? typeof inner === "string" && seen.includes(inner)
    : listOf(seen).some((item) => matches(inner, item));

const byOperator: Record<MatchOperator, Test> = {
  $match: when((inner, seen) => typeof seen === "string" && new RegExp(String(inner), "u").test(seen)),
  $length: when((inner, seen) => (typeof seen === "string" || Array.isArray(seen)) && matches(inner, seen.length)),
  $contains: when(contains),
  $lacks: when((inner, seen) => (typeof seen === "string" || Array.isArray(seen)) && !contains(inner, seen)),
  $items: when((inner, seen) => Array.isArray(seen) && paired(listOf(inner), seen as unknown[])),
  $value: when((inner, seen) => isObject(seen) && Object.values(seen).some((value) => matches(inner, value))),
  $exactly: (inner, seen) => mismatch(inner, seen) ?? surplus(inner as Json, seen as Json),
  $either: when((inner, seen) => listOf(inner).some((one) => matches(one, seen))),
  $all: (inner, seen, { path }) => first(listOf(inner), (one) => mismatch(one, seen, path)),
  $not: when((inner, seen) => !matches(inner, seen)),
  $least: when((inner, seen) => typeof seen === "number" && seen >= Number(inner)),
  $recent: when((inner, seen) => typeof seen === "number" && Math.abs(Date.now() - seen) <= Number(inner)),
};

/** True when each expected item has a different match among the seen ones. */
function paired([expected, ...others]: readonly unknown[], seen: readonly unknown[]): boolean {
  if (others.length === 0 && expected === undefined) return seen.length === 0;
  return seen.some(
    (item, index) =>
      matches(expected, item) && (others.length > 0 ? paired(others, seen.toSpliced(index, 1)) : seen.length === 1),
  );
}

function surplus(expected: Json, seen: Json): Mismatch | undefined {
  const key = Object.keys(seen).find((name) => !Object.hasOwn(expected, name));
  return key === undefined ? undefined : { path: key, expected: "$absent", seen: seen[key] };
}

/** The expectation, with the values at these paths only required to exist. */
export function softenExpected(expected: unknown, paths: readonly string[]): unknown {
  return paths.reduce((value, path) => soft(value, path.split(".")), expected);
}

function soft(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return "$any";
  if (Array.isArray(value)) {
    return value.map((item, index) => (step === "*" || step === String(index) ? soft(item, rest) : (item as unknown)));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, step === "*" || step === key ? soft(inner, rest) : inner]),
  );
}

/** The value at a dotted path, through lists as well; undefined when there is none. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === "") return value;
  return path.split(".").reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return (inner as unknown[])[Number(step)];
    return isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  }, value);
}
