import { expect, test } from "@jest/globals";
import type { Resource } from "../resources/resource.ts";
import { seedRows } from "../resources/seedRows.ts";
import { parse, toKeyed, toListed } from "./properties.ts";

const resource = seedRows as unknown as Resource; // the general type
const rows = [{ Code: "10" }, { Code: "9" }, { Code: "a" }];
const keys = ["10", "9", "a"];

test("a list whose items have names is a map for an engine, and the same list again", () => {
  const kept = toKeyed(resource, { table: "t", rows, keys });
  expect(kept).toEqual({ table: "t", keys, rows: { "10": rows[0], "9": rows[1], a: rows[2] } });
  expect(toListed(resource, kept)).toEqual({ table: "t", rows, keys });
});

test("what has no names, or names that a map can't hold, stays a list", () => {
  for (const names of [undefined, ["10", "9"], ["10", "9", "9"], ["10", "9", "__proto__"]]) {
    expect(toKeyed(resource, { rows, keys: names })["rows"]).toBe(rows);
  }
  expect(toListed(resource, { rows })).toEqual({ rows });
});

test("no item is lost when the names are those of another list, and one that is gone leaves no gap", () => {
  const map = { b: { Code: "b" }, c: { Code: "c" } };
  expect(toListed(resource, { rows: map, keys: ["a", "b"] })["rows"]).toEqual([map.b, map.c]);
  expect(toListed(resource, { rows: map })["rows"]).toEqual([map.b, map.c]);
  expect(toListed(resource, { rows: map, keys: ["c", "x", "b"] })["rows"]).toEqual([map.c, map.b]);
});

test("the rows of the last run, which ignoreChanges puts in place of the program's, keep their order", () => {
  const last = toKeyed(resource, { table: "t", rows, keys });
  expect(toListed(resource, { table: "t", rows: last["rows"] }, last)["rows"]).toEqual(rows);
  expect(toListed(resource, { table: "t", rows: [{ Code: "b" }] }, last)["rows"]).toEqual([{ Code: "b" }]);
});

const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`label${index}`, 1]));

test.each([
  ["unknown inputs", { table: "t", key: "Code", rows, ...many }, 50],
  ["wrong values of one input", { table: "t", key: "Code", rows, types: many }, 50],
  ["unknown keys in one input", { table: "t", key: "Code", rows, parent: many }, 4],
])("of 20,000 %s the first ones are told, at once, and how many there are beside", (_name, inputs, most) => {
  const { problems } = parse(resource, inputs);
  expect(problems.length).toBeLessThanOrEqual(most + 1);
  if (most === 50) expect(problems.at(-1)).toEqual({ property: "", reason: "and 19950 more" });
  for (const { reason } of problems) expect(reason.length).toBeLessThan(1_000);
});
