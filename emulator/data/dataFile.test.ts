import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EndpointName } from "../../provider/contract/endpoints.ts";
import { at } from "../../provider/contract/wire.ts";
import { createEmulator } from "../emulator.ts";
import { Platform } from "../platform/platform.ts";
import { readSeed } from "../seed/file.ts";
import { plant, withoutSecrets } from "../seed/planting.ts";
import { Database } from "./database.ts";
import { schemaVersion } from "./schema.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "microapps-data-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("a new data file is its owner's alone, and so is what lies beside it", async () => {
  const emulator = await createEmulator({ data: join(folder, "own.db") });
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  await emulator.close();
  expect(modes.length).toBeGreaterThan(1); // the file and its journal
  expect(new Set(modes)).toEqual(new Set([0o600]));
});

test("one that others could read is its owner's alone once it is opened again", async () => {
  const data = join(folder, "own.db");
  await (await createEmulator({ data, tenants: { other: {} } })).close();
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  const first = await createEmulator({ data, tenants: { other: {} } });
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o666); // with its journals
  const second = await createEmulator({ data, tenants: { other: {} } });
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o077]);
  await second.close();
  await first.close();
  expect(modes).toHaveLength(6);
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
});

test("somebody else's database is left as it is, byte by byte", async () => {
  const data = join(folder, "theirs.db");
  for (const version of [0, schemaVersion, 7]) {
    const theirs = new DatabaseSync(data);
    theirs.exec(`CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = ${version}`);
    theirs.close();
    chmodSync(data, 0o644);
    const before = readFileSync(data);
    await expect(createEmulator({ data })).rejects.toThrow("is not a data file of the emulator");
    expect(readFileSync(data).equals(before)).toBe(true);
    expect(statSync(data).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(["theirs.db"]);
    rmSync(data);
  }
  writeFileSync(data, "Dear diary,\n".repeat(100));
  await expect(createEmulator({ data })).rejects.toThrow("is not a data file of the emulator");
  expect(readFileSync(data, "utf8")).toBe("Dear diary,\n".repeat(100));
});

test("an empty file may become one", async () => {
  writeFileSync(join(folder, "empty.db"), "");
  await (await createEmulator({ data: join(folder, "empty.db") })).close();
});

test("a file that is cut off, and a path that is none, are refused in a sentence", async () => {
  const data = join(folder, "cut.db");
  await (await createEmulator({ data })).close();
  const whole = readFileSync(data);
  const { length } = whole;
  for (const size of [length - 10, Math.floor(length * 0.9), Math.floor(length * 0.3), 60]) {
    writeFileSync(data, whole.subarray(0, size));
    await expect(createEmulator({ data })).rejects.toThrow(
      `${data} can't be used, the data file is broken or cut off: load a snapshot's file into a new data file`,
    );
  }
  await expect(createEmulator({ data: folder })).rejects.toThrow(`${folder} can't be used, it is a folder`);
  const below = join(data, "below/em.db");
  const reason = `${below} can't be used, its folder can't be made: ${data} is no folder`;
  await expect(createEmulator({ data: below })).rejects.toThrow(reason);
  await expect(createEmulator({ data: "/proc/none/em.db" })).rejects.toThrow("its folder can't be made: ");
});

test("while the disk is full, reads go on and changes are refused whole", async () => {
  const seed = readSeed({ tables: { notes: { fields: { Note: "text" }, rows: [{ values: { Note: "kept" } }] } } });
  const database = new Database(":memory:", (fresh) => plant(fresh, withoutSecrets(seed), 0));
  let now = Date.now();
  const options = { now: () => now, wireNames: {}, readOnly: false, settings: {}, check: () => undefined };
  const platform = new Platform(database, options);
  let headers: Record<string, string> = {};
  const call = async (name: EndpointName, body: object) => {
    const bytes = Buffer.from(JSON.stringify(body));
    return platform.answer({ name, headers, query: {}, body: bytes, url: "http://localhost" });
  };
  const { email, password } = seed.administrator;
  const logIn = async () => {
    const { status, body } = await call("login", { email, password });
    expect(status).toBe(200);
    headers = { "x-auth-token": String(at(body, "authToken")), "x-user-id": String(at(body, "userId")) };
  };
  await logIn();
  database.execute("PRAGMA max_page_count = 1"); // its own size, since that is more
  const rowData = { Note: "x".repeat(100_000) };
  const refused = await call("insertmicroapprow", { microAppID: "notes", rowData });
  expect([refused.status, refused.body]).toEqual([
    503,
    { status: "failure", message: "Nothing was changed: the disk is full" },
  ]);
  // A full disk takes nothing more, not even what a page has room for.
  database.run = () => {
    throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
  };
  for (let count = 0; count < 20; count++) {
    now += 2000; // the use of a session is written each second
    if (count === 10) await logIn();
    const read = await call("microappdata", { microAppID: "notes" });
    expect([read.status, at(read.body, "body.microAppRows")]).toEqual([
      200,
      [expect.objectContaining({ Note: "kept" })],
    ]);
  }
  database.close();
});
