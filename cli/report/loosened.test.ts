import { afterAll, expect, test } from "@jest/globals";
import { markdown } from "./rendering.ts";
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

test("an expectation that holds a table to less is to be looked at; a stricter one is not", async () => {
  const looser = async (before: string, after: string): Promise<string[]> => {
    const thing = await folders.thing(environment(before), environment(after));
    const change = { compared: true, things: [thing] };
    const environments = [{ name: "dev", change, problems: [], flags: [], notes: [] }];
    const [line = ""] = /Guards that are looser.*/.exec(markdown({ version: 1, kind: "report", environments })) ?? [];
    return [...line.matchAll(/<code>(expect.*?) of/g)].map(([, name = ""]) => name.replaceAll("&#46;", "."));
  };
  expect(await looser(strict, loose)).toEqual(
    ["notNull", "rowCount.max", "unique", "acceptedValues.Kind", "rowCount.min", "relationships.Kind.table"].map(
      (name) => `expect.${name}`,
    ),
  );
  expect(await looser(loose, strict)).toEqual(["expect.relationships.Kind.table"]);
  expect(await looser(strict, strict.replace("rowCount:", "# rowCount:"))).toEqual(["expect.rowCount"]);
  expect(await looser(strict, "")).toEqual(["expect"]);
  expect(await looser("", strict)).toEqual([]);
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
