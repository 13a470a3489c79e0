import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { operators, words, type MatchOperator, type MatchWord } from "./matchers.ts";
import { mismatch, softenExpected, valueAt } from "./matching.ts";

const plainKey = fc.string().filter((key) => !key.startsWith("$") && key !== "__proto__" && !key.includes("."));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.string().filter((text) => !text.startsWith("$")),
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(plainKey, tie("json"), { maxKeys: 4 }),
  ),
}));

test("a value matches itself, with or without further keys", () => {
  fc.assert(fc.property(json, (value) => expect(mismatch(value, value)).toBeUndefined()));
  const object = fc.dictionary(plainKey, json);
  fc.assert(fc.property(object, object, (part, more) => expect(mismatch(part, { ...more, ...part })).toBeUndefined()));
});

test("a value that differs in one place does not match, and the place is named", () => {
  fc.assert(
    fc.property(
      json,
      fc.array(
        plainKey.filter((key) => key !== ""),
        { maxLength: 3 },
      ),
      (value, path) => {
        const nested = (inner: unknown): unknown =>
          path.reduceRight<unknown>((below, key) => ({ [key]: below }), inner);
        const found = mismatch(nested({ here: value }), nested({ here: ["other", value] }));
        expect(found?.path.startsWith([...path, "here"].join("."))).toBe(true);
      },
    ),
  );
});

test("a list of another length does not match", () => {
  const list = fc.array(json);
  fc.assert(fc.property(list, json, (items, more) => expect(mismatch(items, [...items, more])).toBeDefined()));
  fc.assert(fc.property(list, json, (items, more) => expect(mismatch([...items, more], items)).toBeDefined()));
});

type Values = fc.Arbitrary<unknown>;
const not = (isIt: (value: unknown) => boolean): Values => json.filter((value) => !isIt(value));
const isText = (value: unknown): boolean => typeof value === "string";
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** Values that match a word, and values that don't. */
const ofWords: Record<MatchWord, [Values, Values]> = {
  $any: [json, fc.constant(undefined)],
  $absent: [fc.constant(undefined), json],
  $text: [fc.string({ minLength: 1 }), fc.oneof(fc.constant(""), not(isText))],
  $number: [fc.integer(), not((value) => typeof value === "number")],
  $boolean: [fc.boolean(), not((value) => typeof value === "boolean")],
  $list: [fc.array(json), not(Array.isArray)],
  $object: [fc.dictionary(plainKey, json), not(isObject)],
};

test.each(Object.keys(words) as MatchWord[])("%s takes what it says, and nothing else", (word) => {
  const [right, wrong] = ofWords[word];
  fc.assert(fc.property(right, (value) => expect(mismatch(word, value)).toBeUndefined()));
  fc.assert(fc.property(wrong, (value) => expect(mismatch(word, value)).toBeDefined()));
});

const small = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 5 });
/** An operator's argument, values that match it, and values that don't. */
const ofOperators: Record<MatchOperator, [unknown, Values, Values]> = {
  $match: ["^a+$", fc.stringMatching(/^a+$/), fc.oneof(fc.stringMatching(/^a*b$/), fc.integer())],
  $length: [
    3,
    fc.array(json, { minLength: 3, maxLength: 3 }),
    fc.oneof(fc.array(json, { maxLength: 2 }), fc.integer()),
  ],
  $contains: [
    3,
    small.map((list) => [...list, 3]),
    fc.oneof(
      small.map((list) => list.filter((one) => one !== 3)),
      fc.integer(),
    ),
  ],
  $lacks: [
    3,
    small.map((list) => list.filter((one) => one !== 3)),
    fc.oneof(
      small.map((list) => [3, ...list]),
      fc.integer(),
    ),
  ],
  $items: [
    [1, 2, "$text"],
    fc.shuffledSubarray([1, 2, "x"], { minLength: 3 }),
    fc.oneof(
      fc.shuffledSubarray([1, 2, "x"], { maxLength: 2 }),
      fc.constantFrom([1, 2, 3], [1, 1, "x"], [1, 2, "x", 2]),
    ),
  ],
  $value: [3, fc.constantFrom({ a: 3 }, { a: 1, b: 3 }), fc.constantFrom({ a: 1 }, {}, [3], 3)],
  $exactly: [{ a: 1 }, fc.constant({ a: 1 }), fc.constantFrom({ a: 1, b: 2 }, { a: 2 }, {}, [])],
  $either: [[1, "$text"], fc.constantFrom(1, "x"), fc.constantFrom(2, "", null, undefined)],
  $all: [[{ a: 1 }, { b: 2 }], fc.constant({ a: 1, b: 2 }), fc.constantFrom({ a: 1 }, { b: 2 }, {}, 1)],
  $not: [{ a: 1 }, fc.constantFrom({ a: 2 }, {}, undefined, 1), fc.constantFrom({ a: 1 }, { a: 1, b: 2 })],
  $least: [5, fc.integer({ min: 5 }), fc.oneof(fc.integer({ max: 4 }), fc.constant("9"))],
  $recent: [
    60_000,
    fc.constant(0).map(() => Date.now()),
    fc.constantFrom(0, Date.now() - 120_000, Date.now() + 120_000, "now"),
  ],
};

test.each(Object.keys(operators) as MatchOperator[])("%s takes what it says, and nothing else", (operator) => {
  const [inner, right, wrong] = ofOperators[operator];
  fc.assert(fc.property(right, (value) => expect(mismatch({ [operator]: inner }, value)).toBeUndefined()));
  fc.assert(fc.property(wrong, (value) => expect(mismatch({ [operator]: inner }, value)).toBeDefined()));
});

test("parts of a text are found, and missed", () => {
  expect(mismatch({ $contains: "pp" }, "apple")).toBeUndefined();
  expect(mismatch({ $contains: "x" }, "apple")).toBeDefined();
  expect(mismatch({ $lacks: "pp" }, "apple")).toBeDefined();
});

test("volatile values need only be there", () => {
  const expected = softenExpected({ rows: [{ _id: "a", Code: "CZ" }], at: 5 }, ["rows.*._id", "at"]);
  expect(mismatch(expected, { rows: [{ _id: "b", Code: "CZ" }], at: 6 })).toBeUndefined();
  expect(mismatch(expected, { rows: [{ _id: "b", Code: "AT" }], at: 6 })?.path).toBe("rows.0.Code");
  expect(mismatch(expected, { rows: [{ Code: "CZ" }], at: 6 })?.path).toBe("rows.0._id");
});

test("a value is found through objects and lists", () => {
  expect(valueAt({ a: [{ b: 1 }, { b: 2 }] }, "a.1.b")).toBe(2);
  expect(valueAt({ a: [] }, "a.0.b")).toBeUndefined();
  expect(valueAt({}, "constructor")).toBeUndefined();
});
