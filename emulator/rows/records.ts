import type { SQLInputValue } from "node:sqlite";
import { type FieldType, fits, timeOf } from "../../provider/contract/fields.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { invalid } from "../data/platformError.ts";
import { findShownField, requireTable, type Table, type TableField } from "../data/tables.ts";

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
  [sort: `sort${number}`]: SortValue;
}

const base = "id, table_id, parent, creator, submitted, viewers, team_viewers, locked, conflict, data";

/** Columns to select for the rows of a table. */
export const columnNamesOf = (table: Table): string[] => [
  ...base.split(", "),
  ...table.sorted.map(({ sort }) => `sort${sort}`),
];

export function findRow(database: Database, rowID: string): KeptRow | undefined {
  return database.one<KeptRow>(`SELECT ${base} FROM rows WHERE id = ?`, rowID);
}

/** Stored parts of a row beside its ID, table and time. */
export interface StoredRow {
  parent: string | null;
  creator: string | null;
  viewers: readonly string[];
  teamViewers: readonly string[];
  data: Json;
}

const listIn = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));

/** The stored parts of a row that was read; a row of an old file without a creator is nobody's. */
export const readStoredParts = (row: KeptRow): StoredRow => ({
  parent: row.parent,
  creator: row.creator,
  viewers: listIn(row.viewers),
  teamViewers: listIn(row.team_viewers),
  data: JSON.parse(row.data) as Json,
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

/** A row before and after a change of its values. */
interface Change {
  rowID: string;
  before: Json;
  after: Json;
}

/**
 * Renews what links to a row hold of it, which sorts and filters go by: a read has the row's present values. Looks at all
 * rows of the tables that link to it, and only when the shown value has changed (assumed).
 */
export function renewLinks(database: Database, table: Table, { rowID, before, after }: Change): void {
  const links = database.all<{ tableID: string; label: string; targetField: string | null }>(
    "SELECT table_id AS tableID, label, target_field AS targetField FROM fields WHERE target_table = ?",
    table.id,
  );
  for (const { tableID, label, targetField } of links) {
    const shown = findShownField(table, targetField)?.label;
    if (shown === undefined || JSON.stringify(before[shown]) === JSON.stringify(after[shown])) continue;
    const linking = requireTable(database, tableID);
    const rows = database.all<KeptRow>(
      `SELECT ${base} FROM rows WHERE table_id = ? AND EXISTS (SELECT 1 FROM json_each(data) f
         WHERE f.key = ? AND f.type = 'object' AND json_extract(f.value, '$.crossAppRowID') = ?)`,
      ...[tableID, label, rowID],
    );
    for (const row of rows) {
      const data = JSON.parse(row.data) as Json;
      const link = data[label];
      if (!isObject(link)) continue;
      const value = { label: shown, value: after[shown] ?? null };
      updateRow(database, linking, row.id, { ...readStoredParts(row), data: { ...data, [label]: { ...link, value } } });
    }
  }
}

/** Deletes a row with the rows and files that hang on it (assumed). */
export function deleteRow(database: Database, rowID: string): void {
  for (const { id } of database.all<{ id: string }>("SELECT id FROM rows WHERE parent = ?", rowID)) {
    deleteRow(database, id);
  }
  database.run("DELETE FROM children WHERE row_id = ?", rowID);
  database.run("DELETE FROM rows WHERE id = ?", rowID);
}

function sortValues(table: Table, data: Json): SQLInputValue[] {
  return table.sorted.map((field) => sortValue(field, data[field.label]));
}

/** Messages for values that a field does not take. The refusals are assumed. */
const refusals: Record<FieldType, string> = {
  text: "a text",
  number: "a number",
  date: "a date in ISO 8601 form",
  checkbox: "a list of texts",
  location: "a location with an address",
  linked: "an object with crossAppRowID",
  subtable: "a sub-table",
  file: "a file",
  viewers: "a list of texts",
  teamViewers: "a list of texts",
};

/** Throws unless the field takes the value; null, which clears, is always taken. */
export function validateValue(field: TableField, value: unknown, where: string): void {
  if (!fits(field.type, value)) throw invalid(`${where}${field.label} must be ${refusals[field.type]}`);
  const problem = field.type === "location" ? findLocationProblem(value) : undefined;
  if (problem !== undefined) throw invalid(`${where}${field.label}: ${problem}`);
}

/** Members of an address that are texts. */
const addressTexts = (
  "country formattedAddress addressLastLine addressNumber areaName1 areaName2 areaName3 areaName4 mainAddressLine " +
  "placeName postCode postCodeExt streetName unitType unitValue"
).split(" ");

/** Returns a sentence on a location that no platform could mean; the range of coordinates is assumed. */
function findLocationProblem(value: unknown): string | undefined {
  const address = isObject(value) ? value["address"] : undefined;
  if (!isObject(address)) return undefined;
  const wrong = addressTexts.find((name) => address[name] !== undefined && typeof address[name] !== "string");
  if (wrong !== undefined) return `${wrong} must be a text`;
  const coordinates = isObject(address["geometry"]) ? address["geometry"]["coordinates"] : undefined;
  const [longitude, latitude] = Array.isArray(coordinates) ? (coordinates as number[]) : [0, 0]; // the schema has two
  if (Math.abs(longitude ?? 0) <= 180 && Math.abs(latitude ?? 0) <= 90) return undefined;
  return "coordinates must be a longitude of -180 to 180 and a latitude of -90 to 90";
}

/** Value in a sort column. */
export type SortValue = string | number | null;

/**
 * The value that a field is sorted by (assumed): text and number as they are, a date as its time, a checkbox as whether
 * anything is checked, a location as its address.
 */
export function sortValue(field: TableField, value: unknown): SortValue {
  switch (field.type) {
    case "checkbox":
      return Array.isArray(value) && value.length > 0 ? 1 : 0;
    case "date":
      return timeOf(value) ?? null;
    case "location": {
      const address = isObject(value) ? value["address"] : undefined;
      const text = isObject(address) ? address["formattedAddress"] : undefined;
      return typeof text === "string" ? text : null;
    }
    case "linked": {
      const shown = isObject(value) ? value["value"] : undefined;
      const text = isObject(shown) ? shown["value"] : undefined;
      return typeof text === "string" || typeof text === "number" ? text : null;
    }
    default:
      return typeof value === "string" || typeof value === "number" ? value : null;
  }
}
