import { expect, test } from "@jest/globals";
import { seedsOf } from "./seeds.ts";
import type { TableRows } from "./tables.ts";

/** A table with one row, whose ID and key are the table's name. */
const table = (name: string, links: Record<string, string> = {}, parent?: string): TableRows =>
  ({
    option: { table: name, seed: name, key: ["Key"], file: `${name}.csv` },
    columns: { links: Object.entries(links), labels: ["Key", ...Object.keys(links)], typeOf: () => "text" },
    keyOf: (rowID: string) => (rowID === name ? name : undefined),
    ...{ isReferable: true, count: 1, restricted: 0, orphans: 0, parent },
  }) as unknown as TableRows; // as much of it as is looked at

const dumped = (...tables: TableRows[]) =>
  seedsOf(tables, (text) => expect(text).toBe("")).map(({ name, declaration: { references = {}, parent } }) => [
    name,
    ...Object.values(references).map((rows) => rows.seed),
    ...(parent ? ["below", parent.seed] : []),
  ]);

test("each circle is opened at one link, and two that share it at this one", () => {
  const [a, b, c] = [table("a", { To: "b" }), table("b", { To: "c" }), table("c", { To: "a", Back: "b" })];
  expect(dumped(a, b, c)).toEqual([["a", "b"], ["b", "c"], ["c"], ["c-links", "a", "b"]]);
  const [shared, below] = [table("shared", { To: "below" }), table("below", { To: "shared" }, "shared")];
  expect(dumped(below, shared)).toEqual([
    ["below", "shared", "below", "shared"],
    ["shared"],
    ["shared-links", "below"],
  ]);
});

test("a circle of parent rows alone is refused", () => {
  expect(() => dumped(table("rows", {}, "rows"))).toThrow(
    "tables refer to each other in a circle of parent rows, which no empty platform can take: rows (its parent rows)",
  );
});
