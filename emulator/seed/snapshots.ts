import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import { answerRemoved } from "../../machine/removed.ts";
import { sentences } from "../../platform/messages/text.ts";
import { profile } from "../../platform/profile/profile.ts";
import { seed, settings } from "../../platform/seed/schema.ts";
import { DatabaseSync, schemaVersion, toMemoryPath, type Database } from "../data/database.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { indexSorts } from "../data/tables.ts";

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
    saveTo(database, draft).close();
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Throws for the name of a file as version 0.1.0 wrote them. */
export function requireName(file: string): void {
  if (/\.json(\.(zst|gz))?$/.test(file)) throw invalid(`${file}: ${answerRemoved("files", "snapshot.json") ?? ""}`);
}

/** Saves all but what belongs to the running platform alone: who is signed in, what was called, keys of signed files. */
function saveTo(database: Database, place: string): DatabaseSync {
  const copy = new DatabaseSync(place);
  database.copyTo(place);
  copy.exec("PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON; DELETE FROM sessions; DELETE FROM calls");
  copy.exec("DELETE FROM meta WHERE key NOT IN ('seed', 'settings', 'profile'); PRAGMA incremental_vacuum");
  return copy;
}

const fileOf = (database: Database, name = ""): string => join(`${database.file ?? ""}.snapshots`, name);

/** Saves the platform under a name, in place of a snapshot that has it. */
export function saveSnapshot(database: Database, name: string): void {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw invalid("a snapshot's name consists of letters, digits, dots, hyphens and underscores");
  if (database.file !== undefined) {
    mkdirSync(fileOf(database), { recursive: true, mode: 0o700 });
    saveFile(database, fileOf(database, `${name}.db`));
    return;
  }
  const place = toMemoryPath(randomUUID());
  const connection = saveTo(database, place); // what is in memory is there as long as somebody has it open
  database.inMemory.get(name)?.connection.close();
  database.inMemory.set(name, { place, connection });
}

export function snapshots(database: Database): string[] {
  const files = database.file !== undefined && existsSync(fileOf(database)) ? readdirSync(fileOf(database)) : [];
  const saved = files.filter((name) => name.endsWith(".db")).map((name) => name.slice(0, -3));
  return [...saved, ...database.inMemory.keys()].sort();
}

/** Where a snapshot stands, as SQLite opens it. */
export function placeOf(database: Database, name: string): string {
  if (!snapshots(database).includes(name)) throw notFound("Snapshot", name);
  return database.inMemory.get(name)?.place ?? fileOf(database, `${name}.db`);
}

export function deleteSnapshot(database: Database, name: string): void {
  const place = placeOf(database, name);
  database.inMemory.get(name)?.connection.close();
  if (!database.inMemory.delete(name)) rmSync(place);
}

/** Makes an empty file that only its owner may read, for the time of some work. */
export function newFile(): string {
  const file = join(tmpdir(), `microapps-${randomUUID()}.db`);
  try {
    writeFileSync(file, "", { flag: "wx", mode: 0o600 });
    return file;
  } catch (error) {
    throw new PlatformError("unavailable", `A file is needed in ${tmpdir()}: ${messageOf(error)}`);
  }
}

/**
 * Puts the platform to what a place has, unless that is broken or `check` throws for it. Sessions and the call log stay.
 * @param shown names the place in messages
 */
export function load(database: Database, place: string, shown: string, check: () => void = () => undefined): void {
  try {
    requireName(shown);
    database.attached(place, () =>
      database.transaction(() => {
        takeAttached(database);
        check();
      }),
    );
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    const message = messageOf(error);
    const why = /unable to open/.test(message) ? "there is no such file" : message;
    const isBroken = /malformed|not a database/.test(message);
    throw invalid(`${shown} can't be loaded: ${isBroken ? "it is broken, cut off or no snapshot" : why}`);
  }
  database.giveBack();
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

/** Throws for what no emulator of this version has written. */
function requireOurs(database: Database): void {
  const [whole] = database.all<{ quick_check: string }>("PRAGMA snapshot.quick_check(1)");
  const foreign = "SELECT 1 FROM snapshot.sqlite_schema WHERE type NOT IN ('table', 'index')";
  if (whole?.quick_check !== "ok" || database.one(foreign)) throw new Error("malformed");
  const version = database.one<{ user_version: number }>("PRAGMA snapshot.user_version")?.user_version;
  if (version !== schemaVersion) throw new Error("it is of another version of the emulator, so it must be saved anew");
  const wrong = `SELECT 1 FROM snapshot.fields WHERE sort IS NOT NULL AND (typeof(sort) <> 'integer' OR sort NOT BETWEEN 1 AND 50)
    UNION ALL SELECT 1 FROM snapshot.rows WHERE NOT json_valid(data) LIMIT 1`;
  if (database.one(wrong)) throw new Error("a sort field or the values of a row can't be as they are there");
  for (const [key, schema] of Object.entries({ seed, settings, profile })) {
    const kept = database.one<{ value: string }>("SELECT value FROM snapshot.meta WHERE key = ?", key);
    const [issue] = kept ? (schema.safeParse(JSON.parse(kept.value), sentences).error?.issues ?? []) : [];
    if (issue) throw new Error(`the ${key}: ${[...issue.path, issue.message].map(String).join(": ")}`);
  }
}

/** Columns that a table has in both: a sort field that an earlier state had has left its column. */
function sharedColumns(database: Database, table: string): string {
  const columns = (of: string) => `SELECT name FROM pragma_table_info('${table}', '${of}')`;
  const shared = database.all<{ name: string }>(`${columns("main")} INTERSECT ${columns("snapshot")}`);
  return shared.map(({ name }) => name).join(", ");
}

/** Lists the changes since a snapshot; tables without changes are left out. */
export const differences = (database: Database, name: string): SnapshotDifference[] =>
  database.attached(placeOf(database, name), () =>
    tables.flatMap((table) => {
      const columns = sharedColumns(database, table);
      const all = (of: string) =>
        `SELECT ${columns} FROM ${of}.${table} ${table === "meta" ? "WHERE key IN ('seed', 'settings')" : ""}`;
      const only = (one: string, other: string): string[] => {
        const sql = `SELECT ${keys[table]} AS key FROM (${all(one)} EXCEPT ${all(other)}) ORDER BY 1`;
        return database.all<{ key: string | number }>(sql).map(({ key }) => String(key));
      };
      const [now, before] = [only("main", "snapshot"), only("snapshot", "main")];
      const [isNow, wasThere] = [new Set(now), new Set(before)];
      const [added, removed] = [now.filter((key) => !wasThere.has(key)), before.filter((key) => !isNow.has(key))];
      const changed = now.filter((key) => wasThere.has(key));
      return now.length + before.length === 0 ? [] : [{ table, added, removed, changed }];
    }),
  );
