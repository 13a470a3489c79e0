import { fits, type RowData } from "../../platform/contract/values.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext, Handler } from "../data/callContext.ts";
import { requireUser } from "../data/people.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { findShownField, requireTable, type Table, type TableField } from "../data/tables.ts";
import { isVisible, requireWritable } from "../rows/filters.ts";
import * as records from "../rows/records.ts";
import { dataOf, findRow, type KeptRow, type StoredRow } from "../rows/records.ts";
import { remarkOnLabel } from "../rows/remarks.ts";

export const insertmicroapprow: Handler<"insertmicroapprow"> = (request, call) => {
  const table = requireTable(call.database, request.microAppID);
  const writer = new Writer(call, table);
  const row = { ...writer.newRow(request.rowData, request, ""), id: call.newID() };
  records.insertRows(call.database, table, [row], call.now);
  return { rowID: row.id };
};

export const insertmicroapprows: Handler<"insertmicroapprows"> = (request, call) => {
  const table = requireTable(call.database, request.microAppID);
  const { maximumBatch = Infinity } = call.settings;
  if (request.rows.length > maximumBatch) throw invalid(`rows: must have at most ${maximumBatch} items`);
  const writer = new Writer(call, table);
  const newRow = (data: RowData, index: number): StoredRow & { id: string } => {
    const own = data["embeddingRowID"];
    const options = typeof own === "string" ? { ...request, embeddingRowID: own } : request;
    return { ...writer.newRow(data, options, `rows.${index}: `), id: call.newID() };
  };
  const rows = request.rows.flatMap((data, index) => {
    try {
      return newRow(data, index);
    } catch (error) {
      if (error instanceof PlatformError && call.habits.partialBatches === "partial") return []; // leaves it out
      throw error;
    }
  });
  records.insertRows(call.database, table, rows, call.now);
  return { inserted: rows.length };
};

export const updatemicroapprow: Handler<"updatemicroapprow"> = (request, call) => {
  const { database } = call;
  const row = findRow(database, request.rowID);
  if (!row && call.habits.updateUnknownRow === "success") return {};
  if (!row) throw notFound("Row", request.rowID);
  requireWritable(call, row);
  if (request.microAppID !== undefined && request.microAppID !== row.table_id) {
    throw invalid(`microAppID: row ${row.id} is in another data table`);
  }
  const table = requireTable(database, row.table_id);
  const writer = new Writer(call, table);
  const before = records.readStoredParts(row);
  const after = {
    parent: request.embeddingRowID === undefined ? row.parent : writer.parent(request.embeddingRowID, ""),
    creator: request.userID === undefined ? (row.creator ?? call.user.id) : requireUser(database, request.userID).id,
    viewers: writer.listed("viewers", request.rowData) ?? before.viewers,
    teamViewers: writer.listed("teamViewers", request.rowData) ?? before.teamViewers,
    data: { ...before.data, ...writer.values(request.rowData, "") },
  };
  records.updateRow(database, table, row.id, after);
  return {};
};

export const removemicroapprow: Handler<"removemicroapprow"> = ({ rowID }, call) => {
  const row = findRow(call.database, rowID);
  if (!row && call.habits.removeUnknownRow === "success") return {};
  if (!row) throw notFound("Row", rowID);
  requireWritable(call, row);
  records.deleteRow(call.database, rowID);
  return {};
};

interface Options {
  embeddingRowID?: string | undefined;
  userID?: string | undefined;
  viewers?: string[] | undefined;
  teamViewers?: string[] | undefined;
}

/** Validates rows before they are written. What several rows refer to is looked up once. */
class Writer {
  readonly #call: CallContext;
  readonly #table: Table;
  readonly #parents = new Set<string>();
  readonly #links = new Map<string, Json>();
  readonly #users = new Set<string>();
  /** Labels that a remark has named. */
  readonly #foreign = new Set<string>();

  constructor(call: CallContext, table: Table) {
    this.#call = call;
    this.#table = table;
  }

  newRow(rowData: RowData, options: Options, where: string): StoredRow {
    const { userID = this.#call.user.id, embeddingRowID } = options;
    const { viewers = [], teamViewers = [] } = this.#call.habits.viewers === "kept" ? options : {};
    if (!this.#users.has(userID)) this.#users.add(requireUser(this.#call.database, userID).id);
    return {
      parent: this.parent(embeddingRowID, where),
      creator: userID,
      data: this.values(rowData, where),
      viewers: this.listed("viewers", rowData) ?? viewers,
      teamViewers: this.listed("teamViewers", rowData) ?? teamViewers,
    };
  }

  /** The parent row's ID; refused when the table takes none (assumed). */
  parent(rowID: string | undefined, where: string): string | null {
    const { parent, name } = this.#table;
    if (rowID === undefined) {
      if (parent === null) return null;
      throw invalid(`${where}embeddingRowID is required, because ${name} is a sub-table`);
    }
    if (parent === null) throw invalid(`${where}embeddingRowID: ${name} is not a sub-table`);
    if (this.#parents.has(rowID)) return rowID;
    if (!this.#seen(rowID, parent)) throw invalid(`${where}embeddingRowID: no row ${rowID} in table ${parent}`);
    this.#parents.add(rowID);
    return rowID;
  }

  /** A row of a table that the caller may see. */
  #seen(rowID: string, table: string): KeptRow | undefined {
    const row = findRow(this.#call.database, rowID);
    return row?.table_id === table && isVisible(this.#call, row) ? row : undefined;
  }

  /** The values of declared labels; others are dropped silently. */
  values(rowData: RowData, where: string): Json {
    const { habits } = this.#call;
    const values: Json = {};
    for (const [key, value] of Object.entries(rowData)) {
      const field = this.#table.fields.get(key);
      if (!field) remarkOnLabel(this.#call, this.#table, key, this.#foreign);
      if (!field || field.type === "subtable" || value === undefined) continue;
      const { label, type } = field;
      if (value === null && type === "linked" && habits.linkNull === "ignored") continue;
      if (!fits(type, value) && habits.wrongValues === "dropped") continue;
      if (habits.wrongValues === "refused") records.validateValue(field, value, where);
      values[label] = type === "linked" && isObject(value) ? this.#linked(field, value, where) : value;
      if (value === "" && habits.emptyText !== "text") values[label] = habits.emptyText === "null" ? null : undefined;
    }
    return values;
  }

  /** Viewers by the row's field; undefined when the table or the row has none. */
  listed(type: "viewers" | "teamViewers", rowData: RowData): string[] | undefined {
    const fields = [...this.#table.fields.values()];
    const field = fields.find((field) => field.type === type && Object.hasOwn(rowData, field.label));
    if (this.#call.habits.viewers === "dropped") return undefined;
    return field && [rowData[field.label]].flat().filter((item) => typeof item === "string");
  }

  /** A link with what it shows, which its sort value is made of. The target must exist (assumed). */
  #linked({ label, targetTable, targetField }: TableField, value: Json, where: string): Json {
    const rowID = value["crossAppRowID"];
    if (typeof rowID !== "string" || targetTable === null) return value;
    const key = `${rowID} ${label}`;
    const known = this.#links.get(key);
    if (known) return known;
    const row = this.#seen(rowID, targetTable);
    if (!row && !this.#call.settings.strict) return value;
    if (!row) throw invalid(`${where}${label}: no row ${rowID} in table ${targetTable}`);
    const shown = findShownField(requireTable(this.#call.database, targetTable), targetField);
    const there = shown === undefined ? null : (dataOf(row)[shown.label] ?? null);
    const made = { crossAppRowID: rowID, value: { label: shown?.label ?? "", value: there } };
    this.#links.set(key, made);
    return made;
  }
}
