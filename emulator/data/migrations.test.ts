import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { readCalls } from "../index.ts";
import { directory, signIn, start } from "../testing/platform.ts";
import { run } from "../testing/processes.ts";
import { Database } from "./database.ts";
import { schemaVersion } from "./schema.ts";

const written = join(import.meta.dirname, "../../../emulator/testdata/version1.db.gz");

/** A data file that version 1 of the schema wrote, with something in each table. */
function version1(): string {
  const file = join(directory(), "platform.db");
  writeFileSync(file, gunzipSync(readFileSync(written)), { mode: 0o600 });
  return file;
}

const versionOf = (file: string) => {
  const connection = new DatabaseSync(file, { readOnly: true });
  const version = connection.prepare("PRAGMA user_version").get()?.["user_version"];
  connection.close();
  return version;
};

const seedMustNotCount = () => {
  throw new Error("an old file must not be planted");
};

test("a file of version 1 is read before anything opens it", () => {
  const file = version1();
  const calls = readCalls(file);
  expect(calls).toHaveLength(12);
  expect(calls[1]).toMatchObject({ endpoint: "insertmicroapprows", mutating: true, session: null, duration: null });
  expect(versionOf(file)).toBe(1);
});

test("a file of version 1 is migrated when it is opened, and everything is there", async () => {
  const data = version1();
  const now = () => 1_700_000_000_000;
  const emulator = await start({ data, now, settings: { generationSeconds: 0 } });
  expect(versionOf(data)).toBe(schemaVersion);
  expect(emulator.calls()).toHaveLength(12);
  const admin = await signIn(emulator.url);
  const codes = async () =>
    ((await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as { Code: string }[]).map(
      ({ Code }) => Code,
    );
  expect(await codes()).toEqual(["CZ"]);
  const emails = async () =>
    ((await admin.get("body.teamMembers", "teammembers", { teamID: "crew" })) as { email: string }[]).map(
      ({ email }) => email,
    );
  expect(await emails()).toEqual(["admin@example.com", "ada@example.com", "bob@example.com"]);
  const [{ _id: rowID } = { _id: "" }] = (await admin.get("body.microAppRows", "microappdata", {
    microAppID: "countries",
  })) as { _id: string }[];
  const children = { microAppResourceID: "countries", appID: rowID, fieldID: "flag" };
  expect(await admin.get("body.childItems", "microappchildList", children)).toMatchObject([
    { content: { filename: "cz.png" } },
  ]);
  expect(emulator.notifications("ada@example.com")).toMatchObject({
    inbox: [{ message: "hello", badgeCount: 4 }],
    pushes: [{ message: "hello" }],
  });
  expect(emulator.differences("before").map(({ table }) => table)).toEqual(["rows", "members"]);
  emulator.loadSnapshot("before");
  expect(await codes()).toEqual(["CZ", "SK"]);
  expect(await emails()).toEqual(["admin@example.com", "ada@example.com"]);
  expect(emulator.calls({ since: 12 }).at(-1)?.duration).toEqual(expect.any(Number));
});

test("tables share the index of a sort number, in a file of version 5 as in a new one", async () => {
  const fields = { Code: { type: "text", sort: 1 }, Name: { type: "text", sort: 2 } } as const;
  const data = join(directory(), "platform.db");
  await (await start({ data, seed: { tables: { a: { fields }, b: { fields }, c: { fields } } } })).close();
  const before = new DatabaseSync(data);
  const shared = ["rows:sort1", "rows:sort2"];
  const indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'rows:*' ORDER BY name";
  expect(
    before
      .prepare(indexes)
      .all()
      .map(({ name }) => name),
  ).toEqual(shared);
  for (const name of shared) before.exec(`DROP INDEX "${name}"`);
  for (const table of ["a", "b", "c"]) {
    before.exec(`CREATE INDEX "rows:${table}:sort1" ON rows (sort1, id) WHERE table_id = '${table}'`);
    before.exec(`CREATE INDEX "rows:${table}:sort2" ON rows (sort2, id) WHERE table_id = '${table}'`);
  }
  before.exec("ALTER TABLE calls DROP COLUMN headers; ALTER TABLE calls DROP COLUMN answer; PRAGMA user_version = 5");
  before.close();
  const { url } = await start({ data, seed: undefined });
  const migrated = new DatabaseSync(data, { readOnly: true });
  expect(
    migrated
      .prepare(indexes)
      .all()
      .map(({ name }) => name),
  ).toEqual(shared);
  migrated.close();
  const admin = await signIn(url);
  await admin.get("inserted", "insertmicroapprows", { microAppID: "b", rows: [{ Code: "Y" }, { Code: "X" }] });
  await admin.get("rowID", "insertmicroapprow", { microAppID: "a", rowData: { Code: "A" } });
  const read = { microAppID: "b", optViewSort: { sortVal: -1 } };
  expect(await admin.get("body.microAppRows", "microappdata", read)).toMatchObject([{ Code: "Y" }, { Code: "X" }]);
});

test("two processes open a file of version 1 at once", async () => {
  const data = version1();
  const [one, two] = await Promise.all([run("--data", data), run("--data", data)]);
  const admin = await signIn(one.url);
  await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "PL" } });
  const other = await signIn(two.url);
  expect(await other.get("body.microAppRows", "microappdata", { microAppID: "countries" })).toMatchObject([
    { Code: "CZ" },
    { Code: "PL" },
  ]);
  expect(await Promise.all([one.end("SIGTERM"), two.end("SIGTERM")])).toEqual([
    [0, null],
    [0, null],
  ]);
});

test("a migration that fails leaves the file as it was", () => {
  const file = version1();
  const broken = new DatabaseSync(file);
  broken.exec("DROP TABLE pushes; ALTER TABLE calls ADD COLUMN duration REAL");
  broken.close();
  expect(() => new Database(file, seedMustNotCount)).toThrow("duplicate column name: duration");
  expect(versionOf(file)).toBe(1);
  const connection = new DatabaseSync(file, { readOnly: true });
  expect(() => connection.prepare("SELECT n FROM rows")).not.toThrow();
  connection.close();
});

test("a file of a later version is refused", () => {
  const file = version1();
  const later = new DatabaseSync(file);
  later.exec(`PRAGMA user_version = ${schemaVersion + 1}`);
  later.close();
  expect(() => new Database(file, seedMustNotCount)).toThrow("was written by another version of the emulator");
  expect(versionOf(file)).toBe(schemaVersion + 1);
});
