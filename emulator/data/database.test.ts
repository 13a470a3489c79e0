import { beforeEach, expect, test } from "@jest/globals";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { createEmulator } from "../emulator.ts";
import { schemaVersion } from "./database.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

test("a new data file is its owner's alone, and so is what lies beside it", async () => {
  const emulator = await createEmulator({ data: join(folder, "own.db") });
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  await emulator.close();
  expect(modes.length).toBeGreaterThan(1); // the file and its journal
  expect(new Set(modes)).toEqual(new Set([0o600]));
});

test("one that others could read is its owner's alone once it is opened again", async () => {
  const data = join(folder, "own.db");
  await (await createEmulator({ data })).close();
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  const first = await createEmulator({ data });
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o666); // with its journals
  const second = await createEmulator({ data });
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o077]);
  await second.close();
  await first.close();
  expect(modes).toHaveLength(3);
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
});

test("somebody else's database is left as it is, byte by byte", async () => {
  const data = join(folder, "theirs.db");
  for (const version of [0, schemaVersion]) {
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
    await expect(createEmulator({ data })).rejects.toThrow(/cut\.db can't be used, .+: start a new data file/);
  }
  await expect(createEmulator({ data: folder })).rejects.toThrow(`${folder} can't be used, it is a folder`);
  const below = join(data, "below/em.db");
  const reason = `${below} can't be used, its folder can't be made: ${data} is not a folder`;
  await expect(createEmulator({ data: below })).rejects.toThrow(reason);
  await expect(createEmulator({ data: "/proc/none/em.db" })).rejects.toThrow("its folder can't be made: ");
});

test("a file of another version is refused with how to go on, and left as it is", async () => {
  const data = join(folder, "old.db");
  await (await createEmulator({ data })).close();
  const older = new DatabaseSync(data);
  older.exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${schemaVersion - 1}`);
  older.close();
  const before = readFileSync(data);
  await expect(createEmulator({ data })).rejects.toThrow(
    `${data} was written by another version of the emulator: delete it or name a new file, and its seed is planted anew`,
  );
  expect(readFileSync(data).equals(before)).toBe(true);
});

test("a data file gives back its space after a reset", async () => {
  const data = join(folder, "large.db");
  const emulator = await createEmulator({ data });
  const writing = new DatabaseSync(data);
  writing.exec(`INSERT INTO contents VALUES ('d', randomblob(16000000))`);
  writing.close();
  const size = () => statSync(data).size + statSync(`${data}-wal`).size;
  expect(size()).toBeGreaterThan(16e6);
  await emulator.reset();
  expect(size()).toBeLessThan(2e6);
  await emulator.close();
});
