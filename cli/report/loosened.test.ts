import { afterAll, expect, test } from "@jest/globals";
import { findLoosenedExpectations } from "./report.ts";
import { Folders } from "./testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const strict = `expect:
      unique: [Code, Name]
      notNull: [Name]
      acceptedValues: { Kind: [a, b] }
      relationships: { Kind: { table: kinds, key: Code } }
      rowCount: { min: 1, max: 10 }
`;
const loose = `expect:
      unique: [Code]
      acceptedValues: { Kind: [a, b, c, d] }
      relationships: { Kind: { table: others, key: Code } }
      rowCount: { min: 0 }
`;
const environment = (expect: string, name = "places", more = ""): Record<string, string> => ({
  "env.yaml": `seeds:\n  ${name}:\n    table: places\n    key: Code\n    rows: [{ Code: x, Name: X, Kind: a }]\n    ${more}${expect}`,
});

test("an expectation that holds a table to less is named with what is gone; a stricter one is none", () => {
  const [before, after] = [folders.declared(environment(strict)), folders.declared(environment(loose))];
  const lost =
    "places expects less of its table: unique Name is gone; notNull Name is gone; acceptedValues of Kind have c, d more; relationships of Kind lead elsewhere; rowCount.min is 0, and was 1; rowCount.max is gone, and was 10";
  expect(findLoosenedExpectations(before, after)).toEqual([{ text: lost, place: "env.yaml:6:5" }]);
  expect(findLoosenedExpectations(after, before)).toEqual([
    {
      text: "places expects less of its table: relationships of Kind lead elsewhere",
      place: "env.yaml:6:5",
    },
  ]);
  expect(findLoosenedExpectations(before, before)).toEqual([]);
  const bare = folders.declared(environment("", "towns", "formerly: places\n"));
  expect(findLoosenedExpectations(before, bare)).toEqual([
    {
      text: expect.stringMatching(/^towns expects less of its table: unique Code is gone; .*of Kind are gone/),
      place: "env.yaml:2:3",
    },
  ]);
});

test("each requirement that changes is a setting of its own in a report, at its place", async () => {
  const { changes } = await folders.thing(environment(strict), environment(loose));
  expect(changes.map(({ op, name, fields, place }) => [op, name, fields[0]?.before, fields[0]?.after, place])).toEqual([
    ["remove", "expect.notNull", ["Name"], undefined, "env.yaml:8:7"],
    ["remove", "expect.rowCount.max", 10, undefined, "env.yaml:11:27"],
    ["change", "expect.unique", ["Code", "Name"], ["Code"], "env.yaml:7:7"],
    ["change", "expect.acceptedValues.Kind", ["a", "b"], ["a", "b", "c", "d"], "env.yaml:8:25"],
    ["change", "expect.rowCount.min", 1, 0, "env.yaml:10:19"],
    ["change", "expect.relationships.Kind.table", "kinds", "others", "env.yaml:9:32"],
  ]);
});
