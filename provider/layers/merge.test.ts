import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isLong } from "../../testing/harness/drawn.ts";
import { parse, type Problem, toPlainValue, describePlace, type Value } from "./document.ts";
import { type Grammar, mergeLayers } from "./layers.ts";

/** Things by name, with a list, words, rows and a map of their own. */
const grammar: Grammar = {
  named: (map) => (map.length === 1 && map[0] === "things" ? "thing" : undefined),
  hasList: (map, key) => map.length === 2 && key === "list",
  hasRows: (map) => map.length === 2,
  gathers: (list) => list.at(-1) === "formerly",
};

const treeOf = (content: unknown, file: string): Value => {
  const value = parse(JSON.stringify(content), file, (problem) => {
    throw new Error(problem.message);
  });
  if (!value) throw new Error("it was made as JSON");
  return value;
};

const told = (...trees: Value[]) => {
  const problems: Problem[] = [];
  const { value, taken } = mergeLayers({ trees, grammar }, (problem) => problems.push(problem));
  const messages = problems.map(({ at, message }) => `${describePlace(at)}: ${message}`);
  return { value: value && toPlainValue(value), taken: [...taken.keys()], messages };
};

const item = fc.integer({ min: 0, max: 3 });
const key = fc.constantFrom("a", "b", "c");
const row = fc.record({ Code: key, Name: item }, { requiredKeys: ["Code"] });
const thing = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: item },
  {
    weight: 6,
    arbitrary: fc.record(
      {
        key: fc.constant("Code"),
        list: fc.uniqueArray(item),
        "list+": fc.uniqueArray(item),
        "list-": fc.uniqueArray(item),
        formerly: fc.oneof(key, fc.array(key)),
        map: fc.oneof(item, fc.dictionary(key, item)),
        "rows+": fc.array(row),
        "rows~": fc.array(row),
        "rows-": fc.array(key),
      },
      { requiredKeys: [] },
    ),
  },
);
const content = fc.oneof(
  { weight: 1, arbitrary: item },
  { weight: 9, arbitrary: fc.record({ things: fc.oneof(item, fc.dictionary(key, thing)), name: item }) },
);

describe("layers", () => {
  test("without mistakes are a layer like any other once they are merged", () => {
    fc.assert(
      fc.property(content, content, content, (...contents) => {
        const [a, b, c] = contents.map((each, index) => treeOf(each, `${index}.yaml`)) as [Value, Value, Value];
        const [lower, all] = [told(a, b), told(a, b, c)];
        if (lower.messages.length > 0 || all.messages.length > 0) return;
        expect(told(treeOf(lower.value, "lower.yaml"), c).value).toEqual(all.value);
      }),
      { numRuns: isLong ? 2_000 : 300 },
    );
  });

  test("add to lists and take out of them, and merge maps", () => {
    const base = treeOf({ things: { a: { list: [1, 2], map: { b: 1 } } } }, "base.yaml");
    const above = treeOf(
      { things: { a: { "list+": [3], "list-": [1], map: { c: 2 } }, b: { key: "Code" } } },
      "a.yaml",
    );
    expect(told(base, above)).toEqual({
      value: { things: { a: { list: [2, 3], map: { b: 1, c: 2 } }, b: { key: "Code" } } },
      taken: [],
      messages: [],
    });
  });

  test("take out what layers below have, and may declare it again without what it was", () => {
    const [a, b, c] = [
      treeOf({ things: { a: { list: [1], map: { b: 1 } } } }, "a.yaml"),
      treeOf({ things: { a: null } }, "b.yaml"),
      treeOf({ things: { a: { list: [2] } } }, "c.yaml"),
    ] as const;
    expect(told(a, b)).toEqual({ value: { things: {} }, taken: ['["things","a"]'], messages: [] });
    expect(told(a, b, c).value).toEqual({ things: { a: { list: [2] } } });
  });
});
