import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { eventually } from "../../testing/harness/processes.ts";
import type { Emulator } from "../emulator.ts";
import { administrate, directory, replyOf, signIn, start, type Caller } from "../testing/platform.ts";
import { run } from "../testing/processes.ts";

const many = 4000;

async function fill(admin: Caller, prefix: string): Promise<void> {
  const rows = Array.from({ length: many }, (_, i) => ({ Code: `${prefix}${i}`, Population: i }));
  await admin.get("status", "insertmicroapprows", { microAppID: "countries", rows });
}

/** Codes of all rows, in the order of a sort field. */
async function codes(caller: Caller, more: object = {}): Promise<string[]> {
  const query = { microAppID: "countries", optViewSort: { sortVal2: 1 }, searchFilter: [{ limit: 100_000, skip: 0 }] };
  const rows = await caller.get("body.microAppRows", "microappdata", { ...query, ...more });
  return (rows as { Code: string }[]).map(({ Code }) => Code);
}

/** The SQL of all indexes of a data file, without the names that change with each exchange. */
function indexes(data: string): string[] {
  const connection = new DatabaseSync(data, { readOnly: true });
  const made = connection.prepare(
    `SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name NOT GLOB '*:*'`,
  );
  const statements = made.all().map(({ sql }) => String(sql).replace(/^CREATE INDEX ("[^"]*"|\S+)/, ""));
  connection.close();
  return statements.map((sql) => sql.replaceAll('"', "")).sort();
}

/** A platform of which a snapshot has many rows, and which has many others now. */
async function changed(data: string): Promise<{ emulator: Emulator; admin: Caller }> {
  const emulator = await start({ data });
  const admin = await signIn(emulator.url);
  await fill(admin, "old");
  emulator.saveSnapshot("before");
  await administrate(emulator, "reset", { method: "POST" });
  const again = await signIn(emulator.url);
  await fill(again, "new");
  return { emulator, admin: again };
}

test("a snapshot of many rows is loaded while others are answered: they see the old rows, then the new ones", async () => {
  const data = join(directory(), "platform.db");
  const { emulator, admin } = await changed(data);
  const indexed = indexes(data);
  const state = { loading: true };
  const loading = administrate(emulator, "snapshots/before", { method: "POST" }).finally(() => (state.loading = false));
  const seen: string[] = [];
  while (state.loading) {
    const found = await codes(admin, { searchFilter: [{ limit: 50, skip: 0 }] });
    expect(found).toHaveLength(50);
    // A read never mixes both.
    const [begin] = new Set(found.map((code) => code.slice(0, 3)));
    expect(new Set(found.map((code) => code.slice(0, 3))).size).toBe(1);
    seen.push(begin ?? "");
  }
  expect((await loading).status).toBe(200);
  expect([...new Set(seen)][0]).toBe("new");
  expect(await codes(admin)).toEqual(Array.from({ length: many }, (_, i) => `old${i}`));
  expect(emulator.differences("before")).toEqual([]);
  expect(indexes(data)).toEqual(indexed);
  // Rows of after are found by their sort fields, and the next load is one as well.
  await admin.get("rowID", "insertmicroapprow", {
    microAppID: "countries",
    rowData: { Code: "last", Population: 1e6 },
  });
  expect(await codes(admin, { optViewFilters: [{ sortVal2: { $gte: 1e6 } }] })).toEqual(["last"]);
  await emulator.restoreSnapshot("before");
  emulator.loadSnapshot("before");
  expect(emulator.differences("before")).toEqual([]);
  const file = join(directory(), "state.json");
  await emulator.saveSnapshotFile(file);
  await emulator.loadSnapshotFile(file);
  expect(indexes(data)).toEqual(indexed);
  expect(await codes(admin)).toHaveLength(many);
});

test("what changes the snapshot while it is loaded ends that, and all stays as it was", async () => {
  const { emulator, admin } = await changed(":memory:");
  for (const change of [() => emulator.saveSnapshot("before"), () => emulator.deleteSnapshot("before")]) {
    const loading = emulator.restoreSnapshot("before");
    change();
    await expect(loading).rejects.toThrow("Snapshot before was saved again or deleted while it was loaded");
    expect((await codes(admin)).every((code) => code.startsWith("new"))).toBe(true);
  }
  await expect(emulator.restoreSnapshot("before")).rejects.toThrow("Snapshot not found: before");
});

test("a process that is killed in the middle leaves the old state, and what it left goes at the next start", async () => {
  const data = join(directory(), "platform.db");
  const { emulator } = await changed(data);
  await emulator.close();
  const first = await run("--data", data);
  const token = new URL(first.console).hash.replace("#token=", "");
  const watching = new DatabaseSync(data, { readOnly: true, timeout: 10_000 });
  const drafts = () => watching.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'draft:*:rows'").all();
  const loading = administrate({ url: first.url, token }, "snapshots/before", { method: "POST" }).catch(() => "cut");
  await eventually("a draft", () => drafts().length > 0);
  await first.end("SIGKILL");
  expect(await loading).toBe("cut");
  expect(drafts()).toHaveLength(1);
  watching.close();
  const after = await start({ data });
  expect((await codes(await signIn(after.url))).every((code) => code.startsWith("new"))).toBe(true);
  const left = new DatabaseSync(data, { readOnly: true });
  expect(left.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'draft:*'").all()).toEqual([]);
  left.close();
  await after.restoreSnapshot("before");
  expect((await codes(await signIn(after.url))).every((code) => code.startsWith("old"))).toBe(true);
});

test("another process sees the exchange, too", async () => {
  const data = join(directory(), "platform.db");
  const { emulator } = await changed(data);
  const other = await run("--data", data);
  const admin = await signIn(other.url);
  expect((await codes(admin))[0]).toBe("new0");
  await emulator.restoreSnapshot("before");
  expect((await codes(admin))[0]).toBe("old0");
  const reply = await replyOf(await administrate(emulator, "rows?table=countries&sort=Population&limit=1"));
  expect(reply.at("total")).toBe(many);
  await other.end("SIGTERM");
});
