import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { lookingContext } from "../../cli/commands/lookingContext.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { TableReads } from "../../provider/client/lists/tableReads.ts";
import { MemberLists } from "../../provider/client/members/memberLists.ts";
import { getRow } from "../../provider/functions/getRow.ts";
import { getRows } from "../../provider/functions/getRows.ts";
import type { Habits } from "../../provider/habits/habits.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { both, hiding, nestedTables, tableAlone } from "../harness/seeds/hiddenParents.ts";

// Functions that read rows, on platforms that do not show below which row each row of a sub-table stands.

const administrator = { email: "admin@example.com", password: "correct-horse" };
const tables = { ...nestedTables, empty: tableAlone };

let emulator: Emulator;
let client: Client;
let reader: Client;
const ids: Record<string, string> = {};

beforeEach(async () => {
  emulator = await createEmulator({ seed: { administrator, tables } });
  client = createClient({ endpoint: emulator.url, ...administrator });
  for (const name of ["AT", "CZ", "SK"]) ids[name] = await insert("countries", name);
  for (const [name, parent] of [
    ["Graz", "AT"],
    ["Brno", "CZ"],
    ["Brno", "AT"],
    ["Linz", "AT"],
  ] as const)
    ids[`${name} ${parent}`] = await insert("cities", name, ids[parent]);
});
afterEach(async () => {
  await reader.close();
  await client.close();
  await emulator.close();
});

const insert = async (microAppID: string, Name: string, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData: { Name }, ...(embeddingRowID ? { embeddingRowID } : {}) }))
    .rowID;

/** A run on a platform with these habits, which a profile may know. */
function begin(habits: Partial<Habits>, isKnown: boolean): ResourceContext {
  const login = { endpoint: emulator.url, ...administrator };
  emulator.setProfile({ version: 1, habits });
  reader = createClient({ ...login, ...(isKnown ? { profile: { version: 1, habits } } : {}) });
  const reads = { client: reader, members: new MemberLists(reader), tables: new TableReads(reader) };
  return lookingContext(reads, login, ".", new AbortController().signal);
}

type Query = Parameters<typeof getRows.invoke>[1];
/** The rows that the function answers: their names, each with that of the row that it stands below. */
async function rows(context: ResourceContext, query: Query): Promise<string[]> {
  const nameOf = (id: string | undefined): string =>
    Object.entries(ids).find(([, each]) => each === id)?.[0] ?? "nothing";
  return (await getRows.invoke(context, query)).rows.map(
    ({ values, parentRowID }) => `${String(values["Name"])} below ${nameOf(parentRowID)}`,
  );
}

const all = ["Graz below AT", "Brno below CZ", "Brno below AT", "Linz below AT"];

test.each(both)("where parents %s and %s, getRows reads them by their table", async (_how, _known, habits, profile) => {
  const context = begin(habits, profile !== undefined);
  const cities = { table: "cities", parentTable: "countries" };
  expect(await rows(context, cities)).toEqual(all);
  expect(await rows(context, { ...cities, limit: 2 })).toEqual(all.slice(0, 2));
  expect(await rows(context, { ...cities, where: { Name: "Brno" } })).toEqual(all.slice(1, 3));
  expect(await rows(context, { ...cities, where: { Name: "Brno" }, limit: 1 })).toEqual(["Brno below CZ"]);
  expect(await rows(context, { ...cities, where: { Name: "nobody" } })).toEqual([]);
  expect(await rows(context, { ...cities, filters: [{ Name: { $gt: "H" } }] })).toEqual(["Linz below AT"]);
  expect(await rows(context, { ...cities, sort: [{ label: "Name", order: "descending" }], limit: 2 })).toEqual([
    "Linz below AT",
    "Graz below AT",
  ]);
  // Now the run knows it.
  expect(await rows(context, { table: "cities" })).toEqual(all);
  expect(await rows(context, { table: "streets", parentTable: "cities" })).toEqual([]);
  expect(await rows(context, { table: "countries" })).toEqual(
    ["AT", "CZ", "SK"].map((name) => `${name} below nothing`),
  );
});

test.each(both)("where parents %s and %s, those of one parent name it", async (_how, _known, habits, profile) => {
  const context = begin(habits, profile !== undefined);
  const below = ["Brno below CZ"];
  expect(await rows(context, { table: "cities", parentRowID: ids["CZ"] })).toEqual(below);
  expect(await rows(context, { table: "cities", filters: [{ embeddingRowID: ids["CZ"] }] })).toEqual(below);
  expect(await rows(context, { table: "cities", parentRowID: ids["SK"] })).toEqual([]);
  expect(await rows(context, { table: "cities", parentRowID: ids["AT"], where: { Name: "Linz" } })).toEqual([all[3]]);
});

test.each(both)("where parents %s and %s, one row is found by its key", async (_how, _known, habits, profile) => {
  const context = begin(habits, profile !== undefined);
  const find = (Name: string) =>
    getRow
      .invoke(context, { table: "cities", parentTable: "countries", key: { Name } })
      .then(({ parentRowID }) => parentRowID);
  expect(await find("Linz")).toBe(ids["AT"]);
  await expect(find("Brno")).rejects.toThrow("there is not one such row in the table but 2");
  await expect(find("Wien")).rejects.toThrow("there is no such row in the table");
});

test.each(both)("where parents %s and %s, rows whose parents nobody names are refused", async (...each) => {
  const [, , habits, profile] = each;
  const isKnown = profile !== undefined;
  const told: string[] = [];
  const context = begin(habits, isKnown);
  context.report.info = (text) => void told.push(text);
  const refused = /table cities .*: set parentTable, or parentRowID$/;
  if (isKnown || habits.subRows === undefined) {
    await expect(rows(context, { table: "cities" })).rejects.toThrow(refused);
    await expect(rows(context, { table: "cities", where: { Name: "Graz" } })).rejects.toThrow(refused);
  } else {
    // An empty answer is what the specification promises of a table without rows.
    expect(await rows(context, { table: "cities" })).toEqual([]);
    const sentence = "table cities shows no rows; if it is a sub-table, set parentTable, or parentRowID";
    expect(told).toEqual([expect.stringContaining(sentence)]);
  }
  if (habits.subRows === undefined)
    await expect(rows(context, { table: "cities", parentTable: "empty" })).rejects.toThrow(
      "is a sub-table, not of empty",
    );
});

test.each([{ viewFilters: "ignored" }, { viewFilters: "refused" }, { parentFilter: "ignored" }] as const)(
  "where neither rows nor filters (%j) show parents, none are answered",
  async (filters) => {
    const habits = { ...filters, parentShown: "no" } as const;
    for (const isKnown of [false, true]) {
      const context = begin(habits, isKnown);
      const unseen = "set microapps:profile to a file with habits.parentShown";
      await expect(rows(context, { table: "cities" })).rejects.toThrow(unseen);
      await expect(rows(context, { table: "cities", parentTable: "countries" })).rejects.toThrow(unseen);
      const below = rows(context, { table: "cities", parentRowID: ids["AT"] });
      await expect(below).rejects.toThrow(filters.viewFilters === "refused" ? /optViewFilters|habits/ : unseen);
    }
    const shown = begin(filters, true);
    expect(await rows(shown, { table: "cities" })).toEqual(all);
    expect(await rows(shown, { table: "countries" })).toHaveLength(3);
  },
);

/** Does something once before the first call that reads below a parent, and reads all cities meanwhile. */
async function citiesDuring(habits: Partial<Habits>, work: () => Promise<unknown>): Promise<string[]> {
  const context = begin(habits, true);
  const read = context.client.microappdata;
  let isDone = false;
  context.client.microappdata = async (request, options) => {
    // A glance at one row shows whether any is there.
    if (!isDone && request.optLimit !== 1 && JSON.stringify(request.optViewFilters ?? []).includes("embeddingRowID")) {
      isDone = true;
      await work();
    }
    return read.call(context.client, request, options);
  };
  return rows(context, { table: "cities", parentTable: "countries" });
}

test.each(hiding)(
  "where parents %s, one that is deleted between two pages takes its rows along",
  async (_how, habits) => {
    const remove = () => client.removemicroapprow({ rowID: ids["CZ"] ?? "" });
    expect(await citiesDuring(habits, remove)).toEqual(all.filter((row) => !row.endsWith("CZ")));
  },
);

test.each(hiding)("where parents %s, one that comes between two pages", async (_how, habits) => {
  const reading = citiesDuring(habits, async () =>
    insert("cities", "Pecs", (ids["HU"] = await insert("countries", "HU"))),
  );
  if (habits.subRows) expect(await reading).toEqual(all);
  else await expect(reading).rejects.toThrow(/stands below no row of table countries that is there: try again/);
});

test("where parents are shown, the calls are those of reading the table", async () => {
  const context = begin({}, false);
  const calls = async (query: Query): Promise<number> => {
    const since = emulator.lastCall();
    await rows(context, query);
    return emulator.calls({ since }).filter(({ endpoint }) => endpoint === "microappdata").length;
  };
  expect(await calls({ table: "empty" })).toBe(1);
  expect(await calls({ table: "countries" })).toBe(3); // one asks once whether it is a sub-table
  expect(await calls({ table: "countries" })).toBe(2);
  expect(await calls({ table: "cities" })).toBe(2);
  expect(await calls({ table: "cities", parentRowID: ids["AT"] })).toBe(2);
  const known = begin({}, true);
  expect(await rows(known, { table: "cities", where: { Name: "Brno" } })).toEqual(all.slice(1, 3));
  const since = emulator.lastCall();
  await rows(known, { table: "countries" });
  expect(emulator.calls({ since })).toHaveLength(2);
});
