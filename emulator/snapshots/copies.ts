import type { Database } from "../data/database.ts";

/** Tables that a snapshot has, with their keys. Sessions and the call log are not part of it. */
export const keyColumns = {
  meta: "key",
  users: "id",
  api_keys: "key",
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
export type SnapshotContent = keyof typeof keyColumns;
/** In the order in which they are copied: rows need columns for the sort fields. */
export const contents = Object.keys(keyColumns) as SnapshotContent[];

/**
 * The part of a table to copy. Only the seed and the settings are copied of `meta`, the platform's notes about itself.
 */
export const selectCopied = (
  table: SnapshotContent,
  from: string,
  notes: readonly string[] = ["seed", "settings"],
): string =>
  table === "meta"
    ? `(SELECT key, value FROM "${from}" WHERE key IN (${notes.map((note) => `'${note}'`).join(", ")}))`
    : `"${from}"`;

/** Copies contents to tables whose names begin with a prefix, ordered by what does not change from run to run. */
export function copyContents(
  database: Database,
  prefix: string,
  notes?: readonly string[],
  tables: readonly SnapshotContent[] = contents,
): void {
  for (const table of tables) {
    const order = table === "fields" || table === "contents" ? `ORDER BY ${keyColumns[table]}` : "";
    const name = `"${prefix}:${table}"`;
    database.execute(`DROP TABLE IF EXISTS ${name}`);
    database.execute(`CREATE TABLE ${name} AS SELECT * FROM ${selectCopied(table, table, notes)} ${order}`);
  }
}

export const columnsOf = (database: Database, table: string): string[] =>
  database.all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => name);

/** True if a table has more rows than are felt when they are copied at once. */
export const isLarge = (database: Database, table: string): boolean =>
  database.one(`SELECT 1 FROM "${table}" LIMIT 1 OFFSET 1000`) !== undefined;
