import type { Row } from "../../provider/contract/values.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { findTable, shownField, sortName, type Table } from "../data/tables.ts";
import { findRow, type KeptRow } from "./records.ts";

const listIn = (text: string | null): string[] => (text === null ? [] : (JSON.parse(text) as string[]));
const dataOf = (row: KeptRow): Json => JSON.parse(row.data) as Json; // written by insertRows

function systemFields(row: KeptRow): Row {
  return {
    _id: row.id,
    userID: row.creator,
    viewers: listIn(row.viewers),
    teamViewers: listIn(row.team_viewers),
    isLocked: row.locked === 1,
    submitted: row.submitted,
    deviceID: null,
    appVersion: null,
    hasConflict: row.conflict === 1,
    clientCounter: null,
    clientSubmitted: localTime(row.submitted),
    ...(row.parent === null ? {} : { embeddingRowID: row.parent }),
  };
}

/** `<date> (<time>) <offset>`: the form is documented, its parts are assumed; the platform's place is at offset 0. */
function localTime(time: number): string {
  const [date = "", clock = ""] = new Date(time).toISOString().split("T");
  return `${date} (${clock.slice(0, 8)}) +00:00`;
}

/** Brings rows to the form in which they are read. Rows that are linked to are looked up once. */
export class RowForms {
  readonly #database: Database;
  readonly #tables = new Map<string, Table | undefined>();
  readonly #links = new Map<string, Json>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Values by label, linked tables in their documented form, the platform's own fields. */
  read(row: KeptRow, table: Table): Row {
    const data = dataOf(row);
    for (const { label, type, targetTable, targetField } of table.fields.values()) {
      const value = data[label];
      if (type !== "linked" || targetTable === null || !isObject(value)) continue;
      const { crossAppRowID } = value;
      if (typeof crossAppRowID === "string") {
        data[label] = this.#link(crossAppRowID, targetTable, targetField, value["value"]);
      }
    }
    return { ...data, ...systemFields(row) };
  }

  /** The raw form, by field ID (assumed; the documentation only calls it internal). */
  raw(row: KeptRow, table: Table): Row {
    const data = dataOf(row);
    const fields = [...table.fields.values()].filter(({ label }) => Object.hasOwn(data, label));
    return {
      ...sortFields(row, table),
      fields: Object.fromEntries(fields.map(({ id, label }) => [id, data[label]])),
      ...systemFields(row),
      parentResourceID: row.table_id,
    };
  }

  /** What filters are matched against: values by label, stored sort values, the platform's own fields. */
  stored(row: KeptRow, table: Table): Row {
    return { ...dataOf(row), ...sortFields(row, table), ...systemFields(row), parentResourceID: row.table_id };
  }

  #link(rowID: string, tableID: string, label: string | null, written: unknown): Json {
    const key = `${rowID} ${label ?? ""}`;
    const known = this.#links.get(key);
    if (known) return known;
    const made = this.#follow(rowID, tableID, label, written);
    this.#links.set(key, made);
    return made;
  }

  #follow(rowID: string, tableID: string, label: string | null, written: unknown): Json {
    const row = findRow(this.#database, rowID);
    const table = this.#table(tableID);
    // A link to a row that no longer exists shows what was written (assumed).
    if (!row || !table) return { crossAppRowID: rowID, value: written ?? { label: label ?? "", value: null } };
    const data = dataOf(row);
    const shown = shownField(table, label);
    const plain = [...table.fields.values()].filter(({ type }) =>
      ["text", "number", "date", "checkbox"].includes(type),
    );
    const additionalValues = plain
      .filter((field) => field !== shown && data[field.label] !== undefined)
      .map((field) => [field.id, { label: field.label, value: data[field.label] }]);
    return {
      crossAppRowID: rowID,
      value: { label: shown?.label ?? "", value: shown === undefined ? null : (data[shown.label] ?? null) },
      additionalValues: Object.fromEntries(additionalValues) as Json,
    };
  }

  #table(tableID: string): Table | undefined {
    if (!this.#tables.has(tableID)) this.#tables.set(tableID, findTable(this.#database, tableID));
    return this.#tables.get(tableID);
  }
}

function sortFields(row: KeptRow, table: Table): Json {
  return Object.fromEntries(
    table.sorted.map(({ sort, type }) => {
      const value = row[`sort${sort}`] ?? null;
      return [sortName(sort), type === "checkbox" ? value === 1 : value];
    }),
  );
}
