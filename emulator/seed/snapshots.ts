import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import { answerRemoved } from "../../machine/removed.ts";
import { profile } from "../../provider/habits/profile.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import { type Database, DatabaseSync, removeDataFile, schemaVersion, toMemoryPath } from "../data/database.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { settings } from "../data/settings.ts";
import { indexSorts } from "../data/tables.ts";
import { seed } from "./schema.ts";

// A snapshot is a data file of its own, written by SQLite's VACUUM INTO. A named one stands in a folder beside the data
// file, or in memory as long as the platform that has no file.

/** Tables that are restored and compared, with their keys. Rows need the columns of the sort fields, which come first. */
const keys = {
  ...{ meta: "key", users: "id", api_keys: "key", tables: "id", fields: "id", rows: "id", organizations: "id" },
  ...{ teams: "id", members: "id", apps: "id", children: "id", files: "resource_id || '/' || key", contents: "digest" },
  ...{ notifications: "id", pushes: "seq" },
};
const tables = Object.keys(keys) as (keyof typeof keys)[];

/** Differences between a snapshot and now in one table: rows by their key. */
export interface SnapshotDifference {
  table: string;
  added: string[];
  removed: string[];
  changed: string[];
}

/** Saves the platform to a file: all of it, or the file stays as it was. Only its owner may read it. */
export function saveFile(database: Database, file: string): void {
  requireName(file);
  const draft = `${file}.${randomUUID()}.draft`; // nobody can put a link there before
  try {
    writeFileSync(draft, "", { flag: "wx", mode: 0o600 });
    database.copyTo(draft);
    const copy = new DatabaseSync(draft);
    forget(copy);
    copy.close();
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const isText = (file: string): boolean => /\.json(\.(zst|gz))?$/.test(file);

/** Throws for the name of a file as version 0.1.0 wrote them. */
export function requireName(file: string): void {
  const sentence = answerRemoved("files", isText(file) ? "snapshot.json" : "");
  if (sentence !== undefined) throw invalid(`${file}: ${sentence}`);
}

/** Removes what belongs to the running platform alone: who is signed in, what was called, and the key of signed files. */
function forget(copy: DatabaseSync): void {
  copy.exec("PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON; DELETE FROM sessions; DELETE FROM calls");
  copy.exec("DELETE FROM meta WHERE key NOT IN ('seed', 'settings', 'profile'); PRAGMA incremental_vacuum");
}

interface Kept {
  place: string;
  /** What is in memory is there as long as somebody has it open. */
  connection: DatabaseSync;
}
const inMemory = new WeakMap<Database, Map<string, Kept>>();

function inMemoryOf(database: Database): Map<string, Kept> {
  const found = inMemory.get(database) ?? new Map<string, Kept>();
  inMemory.set(database, found);
  return found;
}

const folderOf = (file: string): string => `${file}.snapshots`;

/** Saves the platform under a name, in place of a snapshot that has it. */
export function saveSnapshot(database: Database, name: string): void {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw invalid("a snapshot's name consists of letters, digits, dots, hyphens and underscores");
  if (database.file !== undefined) {
    mkdirSync(folderOf(database.file), { recursive: true, mode: 0o700 });
    saveFile(database, join(folderOf(database.file), `${name}.db`));
    return;
  }
  const place = toMemoryPath(randomUUID());
  const connection = new DatabaseSync(place);
  database.copyTo(place);
  forget(connection);
  inMemoryOf(database).get(name)?.connection.close();
  inMemoryOf(database).set(name, { place, connection });
}

export function snapshots(database: Database): string[] {
  if (database.file === undefined) return [...inMemoryOf(database).keys()].sort();
  const folder = folderOf(database.file);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".db")) : [];
  return names.map((name) => name.slice(0, -3)).sort();
}

/** Where a snapshot stands, as SQLite opens it. */
export function placeOf(database: Database, name: string): string {
  if (!snapshots(database).includes(name)) throw notFound("Snapshot", name);
  const kept = inMemoryOf(database).get(name);
  return kept ? kept.place : join(folderOf(database.file ?? ""), `${name}.db`);
}

export function deleteSnapshot(database: Database, name: string): void {
  const place = placeOf(database, name);
  inMemoryOf(database).get(name)?.connection.close();
  if (!inMemoryOf(database).delete(name)) rmSync(place);
}

/** Writes what stands at a place, which may be in memory, to an empty file. */
export function writeCopy(place: string, file: string): void {
  const reader = new DatabaseSync(":memory:"); // one that is opened in memory by its name would write there, too
  reader.prepare("ATTACH ? AS kept").run(place);
  reader.prepare("VACUUM kept INTO ?").run(file);
  reader.close();
}

/** Does something with an empty file that only its owner may read, and that is gone afterwards. */
export function throughFile<Result>(work: (file: string) => Result): Result {
  const file = newFile();
  try {
    return work(file);
  } finally {
    removeDataFile(file);
  }
}

/** Makes an empty file that only its owner may read. */
export function newFile(): string {
  const file = join(tmpdir(), `microapps-${randomUUID()}.db`);
  try {
    writeFileSync(file, "", { flag: "wx", mode: 0o600 });
    return file;
  } catch (error) {
    throw new PlatformError("unavailable", `A file is needed in ${tmpdir()}: ${messageOf(error)}`);
  }
}

/** Puts the platform back to a snapshot. Sessions and the call log stay. */
export const loadSnapshot = (database: Database, name: string): void =>
  load(database, placeOf(database, name), `snapshot ${name}`, () => undefined);

/** Puts the platform to what a file has, unless that is broken or `check` throws for it. Sessions and the call log stay. */
export function load(database: Database, place: string, shown: string, check: () => void): void {
  try {
    database.attached(place, () =>
      database.transaction(() => {
        takeAttached(database);
        check();
      }),
    );
    database.giveBack();
  } catch (error) {
    throw error instanceof PlatformError ? error : invalid(`${shown} can't be loaded: ${reasonOf(error, shown)}`);
  }
}

function reasonOf(error: unknown, shown: string): string {
  if (isText(shown)) return answerRemoved("files", "snapshot.json") ?? "";
  const message = messageOf(error);
  if (/unable to open/.test(message)) return "there is no such file";
  return /malformed|not a database|cut off/.test(message) ? "it is broken, cut off or no snapshot" : message;
}

/** Takes over the contents of the attached snapshot. The caller's transaction makes it all or nothing. */
export function takeAttached(database: Database): void {
  requireOurs(database);
  for (const table of tables) {
    if (table === "rows") indexSorts(database);
    const columns = sharedColumns(database, table);
    const insert = (how: string, what = "") =>
      database.execute(
        `INSERT ${how} INTO main.${table} (${columns}) SELECT ${columns} FROM snapshot.${table} ${what}`,
      );
    if (table === "meta") {
      insert("OR REPLACE", "WHERE key IN ('seed', 'settings')");
      insert("OR IGNORE", "WHERE key = 'profile'"); // a profile that the emulator was given stays
    } else {
      database.execute(`DELETE FROM main.${table}`);
      insert("");
    }
  }
}

/** Throws for a file that no emulator of this version has written. */
function requireOurs(database: Database): void {
  const version = database.one<{ user_version: number }>("PRAGMA snapshot.user_version")?.user_version;
  const isOurs = database.one("SELECT 1 FROM snapshot.sqlite_schema WHERE name = 'api_keys' AND type = 'table'");
  if (version !== schemaVersion && isOurs)
    throw new Error("it is of another version of the emulator, so it must be saved anew");
  const [found] = database.all<{ quick_check: string }>("PRAGMA snapshot.quick_check(1)");
  const views = database.one("SELECT 1 FROM snapshot.sqlite_schema WHERE type NOT IN ('table', 'index')");
  if (!isOurs || views || found?.quick_check !== "ok") throw new Error("cut off");
  const wrong = `SELECT 1 FROM snapshot.fields WHERE sort IS NOT NULL AND (typeof(sort) <> 'integer' OR sort NOT BETWEEN 1 AND 50)
    UNION ALL SELECT 1 FROM snapshot.rows WHERE NOT json_valid(data)`;
  if (database.one(`${wrong} LIMIT 1`))
    throw new Error("a sort field or the values of a row can't be as they are there");
  const notes = { seed, settings, profile };
  for (const { key, value } of database.all<{ key: string; value: string }>("SELECT key, value FROM snapshot.meta")) {
    const [issue] = notes[key as keyof typeof notes].safeParse(JSON.parse(value), sentences).error?.issues ?? [];
    if (issue) throw new Error(`the ${key}: ${[...issue.path, issue.message].map(String).join(": ")}`);
  }
}

/** Columns that a table has in both: a sort field that an earlier state had has left its column. */
const sharedColumns = (database: Database, table: string): string =>
  database
    .all<{ name: string }>(
      "SELECT name FROM pragma_table_info(?, 'main') INTERSECT SELECT name FROM pragma_table_info(?, 'snapshot')",
      ...[table, table],
    )
    .map(({ name }) => name)
    .join(", ");

/** Lists the changes since a snapshot; tables without changes are left out. */
export const differences = (database: Database, name: string): SnapshotDifference[] =>
  database.attached(placeOf(database, name), () =>
    tables.flatMap((table) => {
      const columns = sharedColumns(database, table);
      const all = (of: string) =>
        `SELECT ${columns} FROM ${of}.${table} ${table === "meta" ? "WHERE key IN ('seed', 'settings')" : ""}`;
      const only = (one: string, other: string) =>
        database
          .all<{ key: string | number }>(
            `SELECT ${keys[table]} AS key FROM (${all(one)} EXCEPT ${all(other)}) ORDER BY 1`,
          )
          .map(({ key }) => String(key));
      const [now, before] = [only("main", "snapshot"), only("snapshot", "main")];
      const [known, left] = [new Set(before), new Set(now)];
      const changed = now.filter((key) => known.has(key));
      const [added, removed] = [now.filter((key) => !known.has(key)), before.filter((key) => !left.has(key))];
      return now.length + before.length > 0 ? [{ table, added, removed, changed }] : [];
    }),
  );
