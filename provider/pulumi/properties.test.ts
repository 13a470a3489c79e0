import { expect, test } from "@jest/globals";
import { organization } from "../resources/organization.ts";
import type { Resource } from "../resources/resource.ts";
import { seedRows } from "../resources/seedRows.ts";
import { teamRoster } from "../resources/teamRoster.ts";
import { explainRefusedIgnores, fromDynamic, parse, remembering, toKeyed, toListed } from "./properties.ts";

const [seed, roster, acme] = [seedRows, teamRoster, organization] as unknown as [Resource, Resource, Resource]; // the general type
const rows = [{ Code: "10" }, { Code: "9" }, { Code: "a" }];
const keys = ["10", "9", "a"];

test("a list whose items have names is a map for an engine, and the same list again", () => {
  const kept = toKeyed(seed, { table: "t", rows, keys });
  expect(kept).toEqual({ table: "t", keys, rows: { "10": rows[0], "9": rows[1], a: rows[2] } });
  expect(toListed(seed, kept)).toEqual({ table: "t", rows, keys });
});

test("what has no names, or names that a map can't hold, stays a list", () => {
  for (const names of [undefined, ["10", "9"], ["10", "9", "9"], ["10", "9", "__proto__"]]) {
    expect(toKeyed(seed, { rows, keys: names })["rows"]).toBe(rows);
  }
  expect(toListed(seed, { rows })).toEqual({ rows });
});

test("no item is lost when the names are those of another list, and one that is gone leaves no gap", () => {
  const map = { b: { Code: "b" }, c: { Code: "c" } };
  expect(toListed(seed, { rows: map, keys: ["a", "b"] })["rows"]).toEqual([map.b, map.c]);
  expect(toListed(seed, { rows: map })["rows"]).toEqual([map.b, map.c]);
  expect(toListed(seed, { rows: map, keys: ["c", "x", "b"] })["rows"]).toEqual([map.c, map.b]);
});

test("the rows of the last run, which ignoreChanges puts in place of the program's, keep their order", () => {
  const last = toKeyed(seed, { table: "t", rows, keys });
  expect(toListed(seed, { table: "t", rows: last["rows"] }, last)["rows"]).toEqual(rows);
  expect(toListed(seed, { table: "t", rows: [{ Code: "b" }] }, last)["rows"]).toEqual([{ Code: "b" }]);
});

const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`label${index}`, 1]));

test.each([
  ["unknown inputs", { table: "t", key: "Code", rows, ...many }, 50],
  ["wrong values of one input", { table: "t", key: "Code", rows, types: many }, 50],
  ["unknown keys in one input", { table: "t", key: "Code", rows, parent: many }, 4],
])("of 20,000 %s the first ones are told, at once, and how many there are beside", (_name, inputs, most) => {
  const { problems } = parse(seed, inputs);
  expect(problems.length).toBeLessThanOrEqual(most + 1);
  if (most === 50) expect(problems.at(-1)).toEqual({ property: "", reason: "and 19950 more" });
  for (const { reason } of problems) expect(reason.length).toBeLessThan(1_000);
});

test("a part of rows can't be ignored, nor what is in a source; whole rows of the program can", () => {
  const instead =
    'can\'t be ignored: set mode to "upsert", which removes no row, and leave a label out of the rows to leave its ' +
    'values alone, set mode to "insertOnly" to change no row that is there, or set onConflict to "keepLive" to keep what is edited by hand';
  for (const path of ['rows["EUR"].Name', "rows[0].Name", "rows.EUR", "rows[*]", "*.EUR"]) {
    expect(explainRefusedIgnores(seed, ["table", path], { rows: [] })).toBe(
      `ignoreChanges names ${path}, and a part of rows ${instead}`,
    );
  }
  expect(explainRefusedIgnores(seed, ["rows"], { source: "rows.csv" })).toBe(
    `ignoreChanges names rows, and what is in a source ${instead}`,
  );
  expect(explainRefusedIgnores(seed, ["rows", "*", "source", "references.Country"], { rows: [] })).toBeUndefined();
  expect(explainRefusedIgnores(roster, ['members["ada@example.com"]', "members.*"], {})).toBeUndefined();
});

test("a misspelt path is refused, with the names that there are", () => {
  const names = "it has name, description, adminID, forceDestroy, adopt";
  expect(explainRefusedIgnores(acme, ["nme"], {})).toBe(
    `ignoreChanges names nme, which is not an input of Organization; ${names}`,
  );
  expect(explainRefusedIgnores(acme, ["[0]"], {})).toContain("names [0], which is not an input of Organization");
  expect(explainRefusedIgnores(seed, ["digest"], {})).toContain("names digest, which is not an input of SeedRows");
});

test("what a program says of a dynamic resource is not an input of it, and secrets are remembered by name", () => {
  const secrets = ["name"];
  const read = { inputs: { name: "Acme" }, secrets, isPreview: undefined };
  expect(fromDynamic(remembering({ name: "Acme" }, secrets))).toEqual(read);
  expect(remembering({ name: "Acme" }, [])).toEqual({ name: "Acme" });
  const program = { resourceUrn: "urn", isPreview: true, secrets };
  expect(fromDynamic({ name: "Acme", __program: program })).toEqual({
    inputs: { name: "Acme", resourceUrn: "urn" },
    isPreview: true,
    secrets,
  });
  // What the program says counts, not what ignored changes bring back from the last run.
  expect(fromDynamic({ __program: {}, __options: { secrets } })).toMatchObject({ secrets: [] });
  // A state of 0.1.0 remembers options that are refused by now.
  const former = { replaceOnChanges: ["name"], timeouts: { create: 300 }, secrets };
  expect(fromDynamic({ name: "Acme", __options: former })).toEqual(read);
});
