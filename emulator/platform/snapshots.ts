import type { Database } from "../data/database.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { indexSorts } from "../data/tables.ts";

// A snapshot is a copy of the tables in the data file itself: made in one transaction, there for every process.

/** What differs between a snapshot and now, by table: rows by their key. */
export interface Difference {
  table: string;
  added: string[];
  removed: string[];
  changed: string[];
}

/** Tables that a snapshot copies, with their keys. Sessions and the call log are not part of it. */
const keyColumns = {
  users: "id",
  tables: "id",
  fields: "id",
  rows: "id",
  organizations: "id",
  teams: "id",
  members: "id",
  apps: "id",
  children: "id",
  files: "resource_id || '/' || key",
  contents: "digest",
  notifications: "id",
  pushes: "seq",
};
const tables = Object.keys(keyColumns) as (keyof typeof keyColumns)[];

const copyOf = (name: string, table: string): string => `"snapshot:${name}:${table}"`;

function validateName(name: string): void {
  if (!/^[\w.-]{1,60}$/.test(name)) {
    throw invalid("a snapshot's name consists of letters, digits, dots, hyphens and underscores");
  }
}

/** Saves the platform under a name; a snapshot of that name is replaced. */
export function saveSnapshot(database: Database, name: string): void {
  validateName(name);
  database.transaction(() => {
    for (const table of tables) {
      database.execute(`DROP TABLE IF EXISTS ${copyOf(name, table)}`);
      database.execute(`CREATE TABLE ${copyOf(name, table)} AS SELECT * FROM ${table}`);
    }
  });
}

export function snapshots(database: Database): string[] {
  const copies = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'snapshot:*:users' ORDER BY name";
  return database.all<{ name: string }>(copies).map(({ name }) => name.split(":")[1] ?? "");
}

/** Puts the platform back to a snapshot. */
export function loadSnapshot(database: Database, name: string): void {
  database.transaction(() => {
    requireSnapshot(database, name);
    for (const table of tables) {
      const columns = columnsOf(database, `snapshot:${name}:${table}`).join(", ");
      database.execute(`DELETE FROM ${table}`);
      database.execute(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${copyOf(name, table)}`);
    }
    indexSorts(database);
  });
}

export function deleteSnapshot(database: Database, name: string): void {
  database.transaction(() => {
    requireSnapshot(database, name);
    for (const table of tables) database.execute(`DROP TABLE ${copyOf(name, table)}`);
  });
}

/** What has changed since a snapshot; tables without changes are left out. */
export function differences(database: Database, name: string): Difference[] {
  return database.reading(() => {
    requireSnapshot(database, name);
    return tables.flatMap((table) => {
      const columns = columnsOf(database, `snapshot:${name}:${table}`).join(", ");
      const key = keyColumns[table];
      const copy = copyOf(name, table);
      const only = (one: string, other: string) =>
        database
          .all<{ key: string | number }>(
            `SELECT ${key} AS key FROM (SELECT ${columns} FROM ${one} EXCEPT SELECT ${columns} FROM ${other}) ORDER BY 1`,
          )
          .map((row) => String(row.key));
      const [now, before] = [only(table, copy), only(copy, table)];
      const [known, unknown] = [new Set(before), new Set(now)];
      const added = now.filter((key) => !known.has(key));
      const removed = before.filter((key) => !unknown.has(key));
      const changed = now.filter((key) => known.has(key));
      return added.length + removed.length + changed.length > 0 ? [{ table, added, removed, changed }] : [];
    });
  });
}

function requireSnapshot(database: Database, name: string): void {
  validateName(name);
  if (!snapshots(database).includes(name)) throw notFound("Snapshot", name);
  const missing = tables.find((table) => columnsOf(database, `snapshot:${name}:${table}`).length === 0);
  if (missing) throw new PlatformError("conflict", `Snapshot ${name} has no ${missing}`);
}

function columnsOf(database: Database, table: string): string[] {
  return database.all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => name);
}
