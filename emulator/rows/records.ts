import type { SQLInputValue } from "node:sqlite";
import { type FieldType, fits, timeOf } from "../../platform/contract/values.ts";
import { at, type Json } from "../../platform/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { invalid } from "../data/platformError.ts";
import type { Table, TableField } from "../data/tables.ts";

/** A row in its stored form. Lists are JSON texts, null when empty. */
export interface KeptRow {
  id: string;
  table_id: string;
  parent: string | null;
  creator: string | null;
  submitted: number;
  viewers: string | null;
  team_viewers: string | null;
  locked: number;
  conflict: number;
  /** JSON object of the values by label. */
  data: string;
  /** Sort values, for those sort numbers that were asked for. */
  [sort: `sort${number}`]: string | number | null;
}

const base = "id, table_id, parent, creator, submitted, viewers, team_viewers, locked, conflict, data";

/** Columns to select for the rows of a table. */
export const columnNamesOf = (table: Table): string[] => [
  ...base.split(", "),
  ...table.sorted.map(({ sort }) => `sort${sort}`),
];

export const findRow = (database: Database, rowID: string): KeptRow | undefined =>
  database.one<KeptRow>(`SELECT ${base} FROM rows WHERE id = ?`, rowID);

/** Stored parts of a row beside its ID, table and time. */
export interface StoredRow extends Pick<KeptRow, "parent" | "creator"> {
  viewers: readonly string[];
  teamViewers: readonly string[];
  data: Json;
}

export const listIn = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));
export const dataOf = ({ data }: KeptRow): Json => JSON.parse(data) as Json; // written by insertRows

/** The stored parts of a row that was read. */
export const readStoredParts = (row: KeptRow): StoredRow => ({
  ...{ parent: row.parent, creator: row.creator, data: dataOf(row) },
  ...{ viewers: listIn(row.viewers), teamViewers: listIn(row.team_viewers) },
});

const list = (items: readonly string[]): string | null => (items.length === 0 ? null : JSON.stringify(items));

/** Stores new rows. The caller's transaction makes it all or nothing. */
export function insertRows(
  database: Database,
  table: Table,
  rows: Iterable<StoredRow & { id: string }>,
  now: number,
): void {
  const columns = ["id", "table_id", "parent", "creator", "submitted", "viewers", "team_viewers", "data"];
  const sorts = table.sorted.map(({ sort }) => `sort${sort}`);
  const places = [...columns, ...sorts].map(() => "?").join(", ");
  const insert = database.prepare(`INSERT INTO rows (${[...columns, ...sorts].join(", ")}) VALUES (${places})`);
  for (const { id, parent, creator, viewers, teamViewers, data } of rows) {
    insert.run(
      ...[id, table.id, parent, creator, now, list(viewers), list(teamViewers), JSON.stringify(data)],
      ...sortValues(table, data),
    );
  }
}

export function updateRow(database: Database, table: Table, rowID: string, row: StoredRow): void {
  const sorts = table.sorted.map(({ sort }) => `, sort${sort} = ?`).join("");
  const { parent, creator, viewers, teamViewers, data } = row;
  database.run(
    `UPDATE rows SET parent = ?, creator = ?, viewers = ?, team_viewers = ?, data = ?${sorts} WHERE id = ?`,
    ...[parent, creator, list(viewers), list(teamViewers), JSON.stringify(data)],
    ...[...sortValues(table, data), rowID],
  );
}

/** Deletes a row with the rows and files that hang on it (assumed). */
export function deleteRow(database: Database, rowID: string): void {
  const below = database.all<{ id: string }>("SELECT id FROM rows WHERE parent = ?", rowID);
  for (const { id } of below) deleteRow(database, id);
  database.run("DELETE FROM children WHERE row_id = ?", rowID);
  database.run("DELETE FROM rows WHERE id = ?", rowID);
}

const sortValues = (table: Table, data: Json): SQLInputValue[] =>
  table.sorted.map((field) => sortValue(field, data[field.label]));

/** What a field takes, in messages. The refusals are assumed. */
const wanted: Readonly<Record<FieldType, string>> = {
  ...{ text: "a text", number: "a number", date: "a date in ISO 8601 form", location: "a location with an address" },
  ...{ linked: "an object with crossAppRowID", subtable: "a sub-table", file: "a file" },
  ...{ checkbox: "a list of texts", viewers: "a list of texts", teamViewers: "a list of texts" },
};

/** Throws unless the field takes the value; null, which clears, is always taken. */
export function validateValue({ type, label }: TableField, value: unknown, where: string): void {
  if (!fits(type, value)) throw invalid(`${where}${label} must be ${wanted[type]}`);
}

/**
 * The value that a field is sorted by (assumed): text and number as they are, a date as its time, a checkbox as whether
 * anything is checked, a location as its address, a link as what it shows.
 */
function sortValue({ type }: TableField, value: unknown): string | number | null {
  if (type === "checkbox") return Array.isArray(value) && value.length > 0 ? 1 : 0;
  if (type === "date") return timeOf(value) ?? null;
  if (type === "location") value = at(value, "address.formattedAddress");
  if (type === "linked") value = at(value, "value.value");
  return typeof value === "string" || (typeof value === "number" && type !== "location") ? value : null;
}
