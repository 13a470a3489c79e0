import { type FieldType, timeOf, type Row } from "../../platform/contract/values.ts";
import { at, type Json } from "../../platform/contract/wire.ts";
import type { CallContext, OtherForm } from "../data/callContext.ts";
import { findShownField, findTable, sortName, type Table } from "../data/tables.ts";
import { dataOf, findRow, listIn, type KeptRow } from "./records.ts";

const systemFields = (row: KeptRow): Row => ({
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
  // `<date> (<time>) <offset>`: the form is documented, its parts are assumed; the platform's place is at offset 0.
  clientSubmitted: new Date(row.submitted).toISOString().replace(/T(.{8}).*/, " ($1) +00:00"),
  ...(row.parent === null ? {} : { embeddingRowID: row.parent }),
});

/** A row in the form that filters match: values by label, stored sort values, the platform's own fields. */
export const toStoredForm = (row: KeptRow, table: Table): Row => ({
  ...dataOf(row),
  ...sortFields(row, table),
  ...systemFields(row),
  parentResourceID: row.table_id,
});

/** The caller's side of a read. */
type Asking = Pick<CallContext, "database" | "habits" | "otherForms">;

type ValueForms = Partial<Record<FieldType, (value: unknown) => unknown>>;

const asText = (value: unknown) => (typeof value === "number" ? String(value) : undefined);

const inOtherForm: Readonly<Record<OtherForm, ValueForms>> = {
  midnight: {
    date: (value) => {
      const time = timeOf(value);
      return time === undefined ? undefined : new Date(time).toISOString();
    },
  },
  trimmed: { text: (value) => (typeof value === "string" ? value.trim() : undefined) },
  numberAsText: { number: asText },
  checkboxAsText: { checkbox: (value) => (Array.isArray(value) ? value.join() : undefined) },
};

/** How values are written that a platform has another form for. */
const valueForms = ({ otherForms }: Asking): ValueForms =>
  Object.fromEntries(otherForms.flatMap((form) => Object.entries(inOtherForm[form])));

/** The value of a key, which is made when it is first asked for. */
function known<Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = values.get(key) ?? make();
  values.set(key, found);
  return found;
}

/** Brings rows to the form in which they are read. Rows that are linked to are looked up once. */
export class RowForms {
  readonly #call: Asking;
  readonly #tables = new Map<string, Table | undefined>();
  readonly #links = new Map<string, Json>();
  readonly #cells: [FieldType, (value: unknown) => unknown][];

  constructor(call: Asking) {
    this.#call = call;
    this.#cells = Object.entries(valueForms(call)) as [FieldType, (value: unknown) => unknown][]; // keys of the type
  }

  /** Values by label, linked tables in their documented form, the platform's own fields. */
  read(row: KeptRow, table: Table): Row {
    const data = dataOf(row);
    const fields = [...table.fields.values()];
    for (const { label, type, targetTable, targetField } of fields) {
      const id = type === "linked" && targetTable !== null ? at(data[label], "crossAppRowID") : undefined;
      if (typeof id !== "string") continue;
      const written = at(data[label], "value");
      const follow = () => this.#follow(id, targetTable ?? "", targetField, written);
      data[label] = known(this.#links, `${id} ${targetField ?? ""}`, follow);
    }
    for (const [type, form] of this.#cells) {
      for (const { label } of fields.filter((field) => field.type === type))
        data[label] = form(data[label]) ?? data[label];
    }
    return { ...data, ...this.#own(row) };
  }

  #own(row: KeptRow): Row {
    const own: Row = systemFields(row);
    if (this.#call.habits.parentShown === "no") delete own["embeddingRowID"];
    return own;
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

  #follow(rowID: string, tableID: string, label: string | null, written: unknown): Json {
    const row = findRow(this.#call.database, rowID);
    const table = known(this.#tables, tableID, () => findTable(this.#call.database, tableID));
    // A link to a row that no longer exists shows what was written (assumed).
    if (!row || !table) return { crossAppRowID: rowID, value: written ?? { label: label ?? "", value: null } };
    const data = dataOf(row);
    const shown = findShownField(table, label);
    const additionalValues = [...table.fields.values()]
      .filter(({ type }) => ["text", "number", "date", "checkbox"].includes(type))
      .filter((field) => field !== shown && data[field.label] !== undefined)
      .map(({ id, label }) => [id, { label, value: data[label] }]);
    return {
      crossAppRowID: rowID,
      value: { label: shown?.label ?? "", value: shown === undefined ? null : (data[shown.label] ?? null) },
      additionalValues: Object.fromEntries(additionalValues) as Json,
    };
  }
}

const sortFields = (row: KeptRow, { sorted }: Table): Json =>
  Object.fromEntries(
    sorted.map(({ sort, type }) => {
      const value = row[`sort${sort}`] ?? null;
      return [sortName(sort), type === "checkbox" ? value === 1 : value];
    }),
  );
