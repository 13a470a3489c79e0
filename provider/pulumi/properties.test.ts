import { expect, test } from "@jest/globals";
import { seedRows } from "../resources/seedRows.ts";
import type { Resource } from "../resources/resource.ts";
import { keyed, listed } from "./properties.ts";

const resource = seedRows as unknown as Resource; // as doors know it
const rows = [{ Code: "10" }, { Code: "9" }, { Code: "a" }];
const keys = ["10", "9", "a"];

test("a list whose items have names is a map for an engine, and the same list again", () => {
  const kept = keyed(resource, { table: "t", rows, keys });
  expect(kept).toEqual({ table: "t", keys, rows: { "10": rows[0], "9": rows[1], a: rows[2] } });
  expect(listed(resource, kept)).toEqual({ table: "t", rows, keys });
});

test("what has no names, or names that a map can't hold, stays a list", () => {
  for (const names of [undefined, ["10", "9"], ["10", "9", "9"], ["10", "9", "__proto__"]]) {
    expect(keyed(resource, { rows, keys: names })["rows"]).toBe(rows);
  }
  expect(listed(resource, { rows })).toEqual({ rows });
});

test("no item is lost when the names are those of another list, and one that is gone leaves no gap", () => {
  const map = { b: { Code: "b" }, c: { Code: "c" } };
  expect(listed(resource, { rows: map, keys: ["a", "b"] })["rows"]).toEqual([map.b, map.c]);
  expect(listed(resource, { rows: map })["rows"]).toEqual([map.b, map.c]);
  expect(listed(resource, { rows: map, keys: ["c", "x", "b"] })["rows"]).toEqual([map.c, map.b]);
});

test("the rows of the last run, which ignoreChanges puts in place of the program's, keep their order", () => {
  const last = keyed(resource, { table: "t", rows, keys });
  expect(listed(resource, { table: "t", rows: last["rows"] }, last)["rows"]).toEqual(rows);
  expect(listed(resource, { table: "t", rows: [{ Code: "b" }] }, last)["rows"]).toEqual([{ Code: "b" }]);
});
