import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmulator } from "../emulator.ts";
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
