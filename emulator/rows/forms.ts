import { type FieldType, timeOf } from "../../provider/contract/fields.ts";
import type { Row } from "../../provider/contract/values.ts";
import { at, isObject, type Json } from "../../provider/contract/wire.ts";
import type { Switches } from "../../provider/habits/deviations.ts";
import type { CallContext, OtherForm } from "../data/callContext.ts";
import { findShownField, findTable, sortName, type Table } from "../data/tables.ts";
import { isVisible } from "./filters.ts";
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

/** A row in the form that filters match: values by label, stored sort values, the platform's own fields. */
export const toStoredForm = (row: KeptRow, table: Table): Row => ({
  ...dataOf(row),
  ...sortFields(row, table),
  ...systemFields(row),
  parentResourceID: row.table_id,
});

/** The caller's side of a read: data, user, habits. */
type Asking = Pick<CallContext, "database" | "user" | "habits"> & Partial<Pick<CallContext, "otherForms">>;

type ValueForms = Partial<Record<FieldType, (value: unknown) => unknown>>;

/** How values are written that a platform has another form for; undefined when it has none. */
function valueForms(
  { linkForm, numberForm, dateForm }: Switches,
  others: readonly OtherForm[] = [],
): ValueForms | undefined {
  if (linkForm === "object" && numberForm === "number" && dateForm === "iso" && others.length === 0) return undefined;
  return {
    ...Object.fromEntries(others.flatMap((form) => Object.entries(inOtherForm[form]))),
    ...(linkForm === "id" ? { linked: (value) => at(value, "crossAppRowID") } : {}),
    ...(numberForm === "text" ? { number: (value) => (typeof value === "number" ? String(value) : undefined) } : {}),
    ...(dateForm === "milliseconds" ? { date: timeOf } : {}),
  };
}

const inOtherForm: Readonly<Record<OtherForm, ValueForms>> = {
  midnight: {
    date: (value) => {
      const time = timeOf(value);
      return time === undefined ? undefined : new Date(time).toISOString();
    },
  },
  trimmed: { text: (value) => (typeof value === "string" ? value.trim() : undefined) },
  numberAsText: { number: (value) => (typeof value === "number" ? String(value) : undefined) },
  checkboxAsText: { checkbox: (value) => (Array.isArray(value) ? value.join() : undefined) },
};

/** Brings rows to the form in which they are read. Rows that are linked to are looked up once. */
export class RowForms {
  readonly #call: Asking;
  readonly #tables = new Map<string, Table | undefined>();
  readonly #links = new Map<string, Json>();
  readonly #hidden = new Map<string, boolean>();
  readonly #cells: ReturnType<typeof valueForms>;

  constructor(call: Asking) {
    this.#call = call;
    this.#cells = valueForms(call.habits, call.otherForms);
  }

  /** The row without what it knows of rows that the caller may not see: a link to one keeps its ID alone. */
  masked(row: KeptRow, table: Table): KeptRow {
    const linked = this.#call.user.admin ? [] : [...table.fields.values()].filter(({ type }) => type === "linked");
    if (linked.length === 0) return row;
    const data = dataOf(row);
    const hidden = linked.filter(({ label }) => this.#isHidden(at(data[label], "crossAppRowID")));
    if (hidden.length === 0) return row;
    const masked = { ...row };
    for (const { label, sort } of hidden) {
      const link = data[label] as Json; // it has a crossAppRowID
      data[label] = {
        crossAppRowID: link["crossAppRowID"],
        value: { label: at(link, "value.label") ?? "", value: null },
      };
      if (sort !== null) masked[`sort${sort}`] = null;
    }
    return { ...masked, data: JSON.stringify(data) };
  }

  #isHidden(rowID: unknown): boolean {
    if (typeof rowID !== "string") return false;
    const known = this.#hidden.get(rowID);
    if (known !== undefined) return known;
    const row = findRow(this.#call.database, rowID);
    const hidden = row !== undefined && !isVisible(this.#call, row);
    this.#hidden.set(rowID, hidden);
    return hidden;
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
    if (this.#cells) {
      for (const { label, type } of table.fields.values())
        data[label] = this.#cells[type]?.(data[label]) ?? data[label];
    }
    return { ...data, ...this.#own(row) };
  }

  #own(row: KeptRow): Row {
    const own: Row = systemFields(row);
    if (this.#call.habits.emptyViewers === "absent") {
      if (row.viewers === null) delete own["viewers"];
      if (row.team_viewers === null) delete own["teamViewers"];
    }
    if (this.#call.habits.parentShown === "no") delete own["embeddingRowID"];
    if (this.#call.habits.submittedForm === "milliseconds") return own;
    return { ...own, submitted: new Date(row.submitted).toISOString() };
  }

  /** The raw form, by field ID (assumed; the documentation only calls it internal). */
  raw(row: KeptRow, table: Table): Row {
    const data = dataOf(row);
    const fields = [...table.fields.values()].filter(({ label }) => Object.hasOwn(data, label));
    return {
      ...sortFields(row, table),
      fields: Object.fromEntries(fields.map(({ id, label }) => [id, data[label]])),
      ...this.#own(row),
      parentResourceID: row.table_id,
    };
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
    const row = this.#isHidden(rowID) ? undefined : findRow(this.#call.database, rowID);
    const table = this.#table(tableID);
    // A link to a row that no longer exists shows what was written (assumed); masked() has taken that from hidden ones.
    if (!row || !table) return { crossAppRowID: rowID, value: written ?? { label: label ?? "", value: null } };
    const data = dataOf(row);
    const shown = findShownField(table, label);
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
    if (!this.#tables.has(tableID)) this.#tables.set(tableID, findTable(this.#call.database, tableID));
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
