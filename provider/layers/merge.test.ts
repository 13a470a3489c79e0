import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse, type Problem, toPlainValue, describePlace } from "./document.ts";
import { type Grammar, layer, mergeTrees, resolveVerbs, type Tree } from "./layers.ts";

/** Things by name, with a list, words, rows and a map of their own. */
const grammar: Grammar = {
  named: (map) => (map.length === 1 && map[0] === "things" ? "thing" : undefined),
  hasList: (map, key) => map.length === 2 && key === "list",
  hasRows: (map) => map.length === 2,
  gathers: (list) => list.at(-1) === "formerly",
};

const treeOf = (content: unknown, file: string): Tree => {
  const value = parse(JSON.stringify(content), file, (problem) => {
    throw new Error(problem.message);
  });
  if (!value) throw new Error("it was made as JSON");
  return layer(value, grammar);
};

const told = (tree: Tree) => {
  const problems: Problem[] = [];
  const { value, taken } = resolveVerbs(tree, grammar, (problem) => problems.push(problem));
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
  test("say the same in whichever grouping they are merged, mistakes included", () => {
    fc.assert(
      fc.property(content, content, content, (...contents) => {
        const [a, b, c] = contents.map((each, index) => treeOf(each, `${index}.yaml`)) as [Tree, Tree, Tree];
        const left = mergeTrees(mergeTrees(a, b, grammar), c, grammar);
        const right = mergeTrees(a, mergeTrees(b, c, grammar), grammar);
        expect(told(right)).toEqual(told(left));
      }),
      { numRuns: 500 },
    );
  });

  test("that were merged are a layer like any other: what they say is not merged with itself", () => {
    const base = treeOf({ things: { a: { list: [1, 2], map: { b: 1 } } } }, "base.yaml");
    const above = treeOf(
      { things: { a: { "list+": [3], "list-": [1], map: { c: 2 } }, b: { key: "Code" } } },
      "a.yaml",
    );
    expect(told(mergeTrees(base, above, grammar))).toEqual({
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
    expect(told(mergeTrees(a, b, grammar))).toEqual({ value: { things: {} }, taken: ['["things","a"]'], messages: [] });
    expect(told(mergeTrees(mergeTrees(a, b, grammar), c, grammar)).value).toEqual({ things: { a: { list: [2] } } });
  });
});
