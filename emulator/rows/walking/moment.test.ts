import { expect, test } from "@jest/globals";
import { Database } from "../../data/database.ts";
import { requireTable } from "../../data/tables.ts";
import { createEmulator } from "../../emulator.ts";
import { parseSeed } from "../../seed/file.ts";
import { plant } from "../../seed/planting.ts";
import { signIn } from "../../testing/platform.ts";
import { sortColumnOf } from "../filters.ts";
import type { RowQuery } from "../query.ts";
import { deleteRow, insertRows, updateRow } from "../records.ts";
import { slices, walkOf } from "./walk.ts";

const seed = parseSeed("tables: { items: { fields: { Amount: { type: number, sort: 1 }, Code: text } } }", "seed.yaml");
const count = 900;

/** Values that differ from one row and one change to the next, a third of them missing. */
const amountOf = (n: number): number | null => (n % 3 === 0 ? null : (n * 7919) % 1009);

function made(): Database {
  const database = new Database(":memory:", (fresh) => plant(fresh, seed, 0));
  const rows = Array.from({ length: count }, (_, n) => rowOf(n, amountOf(n)));
  insertRows(database, requireTable(database, "items"), rows, 0);
  return database;
}

const idOf = (n: number) => `r${String(n).padStart(5, "0")}`;

const rowOf = (n: number, amount: number | null) => ({
  id: idOf(n),
  parent: null,
  creator: "",
  viewers: [],
  teamViewers: [],
  data: { Amount: amount, Code: `c${n % 4}` },
});

/** Moves rows, changes what they hold, takes some away, puts one of those back and adds others. */
function disturb(database: Database, turn: number): void {
  const table = requireTable(database, "items");
  database.transaction(() => {
    for (let n = turn % 7; n < count; n += 7)
      updateRow(database, table, idOf(n), rowOf(n + turn, amountOf(n + turn * 31)));
    for (let n = turn; n < count; n += 97) deleteRow(database, idOf(n));
    if (turn % 2 === 0) insertRows(database, table, [rowOf(turn, 5)], 0);
    insertRows(database, table, [rowOf(count + turn, amountOf(turn)), rowOf(2 * count + turn, null)], 0);
  });
}

const orders: [string, boolean][][] = [[["_id", false]], [["Amount", false]], [["Amount", true]], [["Code", false]]];
const filters = ["", "sort1 >= 300", "json_extract(data, '$.\"Code\"') = 'c1'"];

test("whatever changes while a read lets others in between, it has each row once, as it was", async () => {
  for (const order of orders) {
    for (const sql of filters) {
      for (const skip of sql === "" && order[0]?.[0] !== "Code" ? [0, 130, 440] : [0]) {
        const database = made();
        const table = requireTable(database, "items");
        const id = { sql: "id", kind: "text" } as const;
        const terms = order.map(([key, down]) => ({ column: sortColumnOf(table, key) ?? id, down }));
        if (order[0]?.[0] !== "_id") terms.push({ column: id, down: order[0]?.[1] ?? false });
        const query: RowQuery = { table, conditions: sql === "" ? [] : [{ sql, values: [] }], rest: [], terms };
        const read = async (between: (turn: number) => void) => {
          const rows: string[] = [];
          let turn = 0;
          for await (const part of slices(database, query, walkOf(query), { skip, size: 50 })) {
            rows.push(...part.map((row) => `${row.id} ${row.data}`));
            between(++turn);
          }
          return { rows, turn };
        };
        const expected = await read(() => undefined);
        expect(expected.turn).toBeGreaterThan(5);
        const found = await read((turn) => disturb(database, turn));
        expect([order, sql, skip, found.rows]).toEqual([order, sql, skip, expected.rows]);
        // Nothing that the read needed outlives it.
        expect(database.all("SELECT name FROM sqlite_temp_schema")).toEqual([]);
        database.close();
      }
    }
  }
});

test("two reads that begin at different times have each their own moment, and one that is left lets go of it", async () => {
  const database = made();
  const table = requireTable(database, "items");
  const id = { sql: "id", kind: "text" } as const;
  const query: RowQuery = { table, conditions: [], rest: [], terms: [{ column: id, down: false }] };
  const begin = () => slices(database, query, walkOf(query), { size: 300 });
  const first = begin();
  await first.next();
  deleteRow(database, idOf(500));
  const second = begin();
  await second.next();
  deleteRow(database, idOf(600));
  const restOf = async (reading: ReturnType<typeof begin>) => {
    const ids: string[] = [];
    for await (const part of reading) ids.push(...part.map((row) => row.id));
    return ids;
  };
  const [one, other] = [await restOf(first), await restOf(second)];
  expect([one.length, one.includes(idOf(500)), one.includes(idOf(600))]).toEqual([600, true, true]);
  expect([other.length, other.includes(idOf(500)), other.includes(idOf(600))]).toEqual([599, false, true]);
  const left = begin();
  await left.next();
  await left.return(undefined);
  expect(database.all("SELECT name FROM sqlite_temp_schema")).toEqual([]);
  database.close();
});

test("who moves rows to and fro while another reads takes none away from the answer and doubles none", async () => {
  const emulator = await createEmulator({ seed });
  try {
    const admin = await signIn(emulator.url);
    const rows = Array.from({ length: 2500 }, (_, n) => ({ Amount: n + 100, Code: `c${n}` }));
    await admin.get("inserted", "insertmicroapprows", { microAppID: "items", rows });
    const read = async () =>
      (await admin.get("body.microAppRows", "microappdata", {
        microAppID: "items",
        optViewSort: { sortVal: 1 },
        optLimit: 2500,
      })) as { _id: string; Code: string }[];
    const known = await read();
    const moving = (async () => {
      for (let turn = 0; turn < 400; turn++) {
        const rowID = known[(turn * 131) % known.length]?._id ?? "";
        await admin.get("status", "updatemicroapprow", { rowID, rowData: { Amount: turn % 2 === 0 ? 1 : 9999 } });
      }
    })();
    const answers: string[][] = [];
    for (let turn = 0; turn < 8; turn++) answers.push((await read()).map(({ Code }) => Code));
    await moving;
    expect(answers.map((codes) => [codes.length, new Set(codes).size])).toEqual(answers.map(() => [2500, 2500]));
  } finally {
    await emulator.close();
  }
});
