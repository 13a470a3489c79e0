import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pages } from "../../platform/client/index.ts";
import type { Json } from "../../platform/contract/wire.ts";
import { sampleOf } from "../harness/drawn.ts";
import { plugin } from "../harness/kinds.ts";
import { applied, type Seeded } from "../harness/seeds/seeded.ts";
import { Stage } from "../harness/stage.ts";
import { rewriter, type Habits, type Rewriter } from "./rewriter.ts";

// Servers that store rows as they are sent and give them back in a way of their own.

const fields = { Code: { type: "text", sort: 1 }, Name: "text", Size: "number" };
const tables = { items: { name: "Items", fields } };

let server: Rewriter;
let stage: Stage;
beforeEach(async () => {
  server = await rewriter();
});
afterEach(async () => {
  await stage.clear();
  await server.close();
});

async function set(habits: Habits, settings: object = {}): Promise<void> {
  stage = await Stage.set(
    { tables, settings: { strict: false, ...settings } },
    { "microapps:endpoint": server.url },
    plugin,
  );
  Object.assign(server, { habits, target: stage.emulator.url });
}

const up = (rest: object, made?: Seeded): Promise<Seeded> =>
  applied(stage, { table: "items", key: "Code", ...rest }, made);

/** The rows as they are stored. */
async function live(): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const page of pages(stage.client, { microAppID: "items" })) {
    rows.push(...page.map(({ Code, Name, Size }) => ({ Code, Name, Size })));
  }
  return rows;
}

const declared = Object.keys(fields);
/** A row whose values the server has made something else of, but for what is its own. */
const each =
  (change: (value: unknown) => unknown) =>
  (row: Json): Json =>
    Object.fromEntries(
      Object.entries(row).map(([label, value]) => [label, declared.includes(label) ? change(value) : value]),
    );
const textAsNumbers = each((value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value));

test("text that comes back as numbers is told by line and label, a natural key that is not recognised any more too", async () => {
  await set({ row: textAsNumbers });
  await writeFile(join(stage.host.folder, "items.csv"), "Code,Name,Size\nK1,one,10\n007,two,20\nK3,three,030\n");
  const made = await up({ source: "items.csv" });
  const { failed } = made;
  const told = (row: string, values: string, label: string): string => {
    const [found = "", sent = ""] = values.split("/");
    return `items.csv:${row}: table items gave back ${found} in "${label}", where "${sent}" was sent: declare types: {${label}: number}`;
  };
  expect(failed).toContain(told('2 "K1"', "10/10", "Size"));
  expect(failed).toContain(told('3 "007" and 1 more', "20/20", "Size"));
  expect(failed).toContain(told('3 "007"', "7/007", "Code"));
  expect(failed).not.toContain('"Name"');
  // Nor is it inserted once more, whether it is remembered or not.
  for (const state of [made, undefined]) {
    const next = up({ source: "items.csv", adopt: true }, state);
    await expect(next).rejects.toThrow("items.csv:3: table items has the natural key as a number");
  }
  expect(await live()).toHaveLength(3);
  const typed = { source: "items.csv", adopt: true, types: { Code: "text", Size: "number" } };
  await writeFile(join(stage.host.folder, "items.csv"), "Code,Name,Size\nK1,one,10\n7,two,20\nK3,three,030\n");
  expect((await up(typed, made)).failed).toContain(told('3 "7"', "7/7", "Code"));
  expect(await live()).toHaveLength(3);
});

test("a natural key that comes back as a number is the same row", async () => {
  await set({ row: textAsNumbers });
  await writeFile(join(stage.host.folder, "items.csv"), "Code,Name,Size\n1,one,10\n2,two,20\n");
  const source = { source: "items.csv" };
  const made = await up(source);
  expect(made.failed).toContain('items.csv:2 "1": table items gave back 1 in "Code", where "1" was sent');
  // Not even when nothing is remembered.
  for (const state of [made, undefined]) {
    const calls = await stage.calls(() => up({ ...source, adopt: true }, state));
    expect(new Set(calls)).toEqual(new Set(["updatemicroapprow"]));
    expect(await live()).toHaveLength(2);
  }
  const typed = { ...source, types: { Code: "number", Size: "number" } };
  const right = await up(typed, made);
  expect(right.failed).toBeUndefined();
  expect(await stage.calls(() => up(typed, right))).toEqual([]);
  expect((await stage.host.read("SeedRows", right.id, right.outputs)).outputs).not.toHaveProperty("drift");
  await stage.host.destroy("SeedRows", right.id, right.outputs);
  expect(await live()).toEqual([]);
});

/** The same order whatever is asked for. */
const inOrder =
  (direction: 1 | -1) =>
  ({ optViewSort: _, ...request }: Json): Json => ({ ...request, optViewSort: { _id: direction } });

test.each(sampleOf([1, -1] as const, 1))(
  "a server that always answers in one order (%j) hides nothing and gets nothing twice",
  async (order) => {
    await set({ request: inOrder(order) }, { maximumLimit: 7 });
    const strangers = Array.from({ length: 20 }, (_, index) => ({ Code: `theirs${index}` }));
    await stage.client.insertmicroapprows({ microAppID: "items", rows: strangers });
    const rows = Array.from({ length: 30 }, (_, index) => ({ Code: `K${index}`, Name: "one" }));
    const lossy = await up({ rows: rows.map((row) => ({ ...row, Colour: "red" })) });
    expect(lossy.failed).toContain('table items did not keep the label "Colour"');
    const made = await up({ rows }, lossy);
    expect(made.failed).toBeUndefined();
    expect((await stage.host.read("SeedRows", made.id, made.outputs)).outputs).not.toHaveProperty("drift");
    expect(await stage.calls(() => up({ rows }, made))).toEqual([]);
    // One old row is changed, which may not be among the newest.
    const changed = rows.map((row, index) => (index === 0 ? { ...row, Colour: "red" } : row));
    expect((await up({ rows: changed }, made)).failed).toContain(
      'rows[0] "K0": table items did not keep the label "Colour"',
    );
    expect(await live()).toHaveLength(50);
  },
);
