import { afterEach, expect, test } from "@jest/globals";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { eventually } from "../../testing/harness/processes.ts";
import { Database } from "../data/database.ts";
import { administrate, directory, signIn, start } from "../testing/platform.ts";
import { compareSnapshot, differences, saveSnapshot, takeSnapshot } from "./snapshots.ts";

const many = 5000;

const opened: Database[] = [];
afterEach(() => {
  for (const database of opened.splice(0)) database.close();
});

function open(file: string): Database {
  const database = new Database(file, () => undefined);
  opened.push(database);
  return database;
}

const insert = (database: Database, seq: number, data = "{}"): unknown =>
  database.run("INSERT INTO rows (seq, id, table_id, submitted, data) VALUES (?, ?, 't', 0, ?)", seq, `r${seq}`, data);

function filled(file = ":memory:"): Database {
  const database = open(file);
  database.transaction(() => {
    for (let seq = 1; seq <= many; seq++) insert(database, seq * 3);
  });
  return database;
}

/** Changes rows everywhere, another few in each turn. */
function disturbing(database: Database): () => void {
  let turns = 0;
  return () => {
    turns++;
    database.transaction(() => {
      for (let place = 0; place < 40; place++) {
        const seq = (Math.floor((place * many) / 40) + turns) * 3;
        database.run("UPDATE rows SET data = ? WHERE seq = ?", `{"turn":${turns}}`, seq + 3);
        database.run("DELETE FROM rows WHERE seq = ?", seq);
        insert(database, seq - 2);
      }
      insert(database, many * 3 + turns);
    });
  };
}

/** Does something between all slices of some work; returns its result and how often that was. */
async function beside<Result>(work: Promise<Result>, change: () => void): Promise<{ result: Result; turns: number }> {
  const state = { going: true, turns: 0 };
  const done = work.finally(() => (state.going = false));
  while (state.going) {
    change();
    state.turns++;
    await turn();
  }
  return { result: await done, turns: state.turns };
}

test("differences are those of the moment when they were asked for, whatever changes meanwhile", async () => {
  const database = filled();
  saveSnapshot(database, "before");
  expect(await compareSnapshot(database, "before")).toEqual([]);
  const change = disturbing(database);
  change();
  database.run("DELETE FROM rows WHERE seq BETWEEN 3000 AND 6000");
  database.run(
    "INSERT INTO rows SELECT seq + 100000, id || 'x', table_id, NULL, NULL, 0, NULL, NULL, 0, 0, '{}' FROM rows",
  );
  const expected = differences(database, "before");
  expect(expected[0]?.added.length).toBeGreaterThan(3000);
  const { result, turns } = await beside(compareSnapshot(database, "before"), change);
  expect(result).toEqual(expected);
  expect(turns).toBeGreaterThan(4);
  expect(differences(database, "before")).not.toEqual(expected);
});

test("a snapshot is of the moment when it was asked for, in place of the one before", async () => {
  const database = filled();
  saveSnapshot(database, "old");
  const change = disturbing(database);
  change();
  saveSnapshot(database, "expected");
  const { turns } = await beside(takeSnapshot(database, "old"), change);
  expect(turns).toBeGreaterThan(4);
  const rows = (name: string) => database.all(`SELECT * FROM "snapshot:${name}:rows"`);
  expect(rows("old")).toEqual(rows("expected"));
  await eventually("the end of the drafts", () => {
    const left = database.all("SELECT name FROM sqlite_schema WHERE name GLOB 'draft:*'");
    return left.length === 0;
  });
});

test("what another process changes meanwhile is in a snapshot whole or not at all", async () => {
  const file = join(directory(), "platform.db");
  const database = filled(file);
  saveSnapshot(database, "before");
  const other = open(file);
  let pairs = 0;
  const change = () => {
    pairs++;
    other.transaction(() => {
      insert(other, pairs * 3 - 2); // one near the beginning, whose slice is over
      insert(other, many * 3 + pairs);
    });
  };
  await beside(takeSnapshot(database, "taken"), change);
  const count = (where: string) =>
    database.one<{ count: number }>(`SELECT count(*) AS count FROM "snapshot:taken:rows" WHERE ${where}`)?.count;
  expect(count("seq % 3 = 1 AND seq < 15000")).toBe(count("seq > 15000"));
  const { result } = await beside(compareSnapshot(database, "before"), change);
  const added = result[0]?.added ?? [];
  expect(added.filter((id) => Number(id.slice(1)) > many * 3)).toHaveLength(added.length / 2);
});

test.each([0, 2])("a data file gives back the space after a reset, with auto_vacuum %i", async (mode) => {
  const data = join(directory(), "platform.db");
  await (await start({ data })).close();
  const connection = new DatabaseSync(data);
  connection.exec(`PRAGMA auto_vacuum = ${mode}; VACUUM`); // files of earlier versions have none
  connection.close();
  const emulator = await start({ data });
  const admin = await signIn(emulator.url);
  const rows = Array.from({ length: 2000 }, (_, i) => ({ Code: `K${i}`, Name: "name ".repeat(900) }));
  for (let batch = 0; batch < 2; batch++)
    await admin.get("status", "insertmicroapprows", { microAppID: "countries", rows });
  const size = () => statSync(data).size + statSync(`${data}-wal`).size;
  expect(size()).toBeGreaterThan(16e6);
  expect((await administrate(emulator, "reset", { method: "POST" })).status).toBe(200);
  await eventually("a small file", () => size() < 2e6);
  const again = await signIn(emulator.url);
  expect(await again.get("body.microAppRows", "microappdata", { microAppID: "countries" })).toEqual([]);
  await again.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ", Population: 1 } });
  const sorted = { microAppID: "countries", optViewFilters: [{ sortVal2: 1 }] };
  expect(await again.get("body.microAppRows", "microappdata", sorted)).toHaveLength(1);
});
