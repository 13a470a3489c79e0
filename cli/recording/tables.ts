import { fits, timeOf, type FieldType } from "../../provider/contract/fields.ts";
import { declarable, type Row, type RowData } from "../../provider/contract/values.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";

/** Bounds of what is kept of rows. */
export const maxRows = 5000;
export const maxTables = 500;
const maxRowCharacters = 3_000_000;
/** Rows of one read that tell of the order of a sort field. */
const maxOrdered = 500;

/** A row as it was last seen or written. */
export interface KnownRow {
  id: string | undefined;
  values: RowData;
  creator?: string | undefined;
  submitted?: number | undefined;
  viewers: string[];
  teamViewers: string[];
  parent?: string | undefined;
  /** Characters of the values. */
  size: number;
}

/** Findings about a table. */
export interface KnownTable {
  id: string;
  rows: KnownRow[];
  /** Types of the values of each label, in the order in which the labels came. */
  labels: Map<string, Set<FieldType | "other">>;
  /** IDs of rows that a label links to, and the label that is shown of them. */
  links: Map<string, { rows: Set<string>; shown: string | undefined }>;
  /** Labels that a sort field may have: those that no read contradicts. */
  sorts: Map<number, Map<string, number>>;
  fieldIDs: Map<string, Set<string>>;
  /** The table whose rows carried rows of this one that went with them. */
  parent?: KnownTable;
}

const sortNumber = (name: string): number | undefined => {
  const [, digits] = /^sortVal(\d*)$/.exec(name) ?? [];
  return digits === undefined ? undefined : digits === "" ? 1 : Number(digits);
};

/** The values of a row by label, without what the platform adds. */
export const valuesOf = (row: RowData): RowData =>
  Object.fromEntries(Object.entries(declarable(row)).filter(([label]) => sortNumber(label) === undefined));

/** The tables that came by. */
export class KnownTables {
  readonly all = new Map<string, KnownTable>();
  /** Rows that did not fit the bound. */
  omitted = 0;
  #rows = 0;
  #characters = 0;
  readonly #places = new Map<string, { table: KnownTable; row: KnownRow }>();

  /** The table of an ID; undefined when there are too many. */
  table(id: string): KnownTable | undefined {
    const known = this.all.get(id);
    if (known || this.all.size >= maxTables) return known;
    const made = { id, rows: [], labels: new Map(), links: new Map(), sorts: new Map(), fieldIDs: new Map() };
    this.all.set(id, made);
    return made;
  }

  find(rowID: string): { table: KnownTable; row: KnownRow } | undefined {
    return this.#places.get(rowID);
  }

  /** Takes a row as it was read. */
  seen(table: KnownTable, row: Row): void {
    const { _id, userID, viewers, teamViewers, submitted, embeddingRowID } = row;
    const texts = (list: unknown[] | null | undefined): string[] => (list ?? []).map(String);
    const found = this.#place(table, _id);
    if (!found) return;
    const values = valuesOf(row);
    this.#fill(found, values);
    Object.assign(found, { creator: userID ?? undefined, submitted: submitted ?? undefined });
    Object.assign(found, { viewers: texts(viewers), teamViewers: texts(teamViewers) });
    if (embeddingRowID) found.parent = embeddingRowID;
    this.#look(table, values);
    for (const [name, value] of Object.entries(row)) {
      const sort = sortNumber(name);
      if (sort !== undefined) this.sortedBy(table, sort, [row], (one) => one === value);
    }
  }

  /** Takes a row as it was written; a batch gives no ID. */
  written(table: KnownTable, id: string | undefined, values: RowData, rest: Partial<KnownRow>): void {
    const found = this.#place(table, id);
    if (!found) return;
    this.#fill(found, valuesOf(values));
    Object.assign(found, rest);
  }

  changed(rowID: string, values: RowData): void {
    const found = this.#places.get(rowID);
    if (found) this.#fill(found.row, { ...found.row.values, ...valuesOf(values) });
  }

  removed(rowID: string): void {
    const found = this.#places.get(rowID);
    if (!found) return;
    this.#places.delete(rowID);
    this.#drop(found.table, found.row);
    for (const table of this.all.values()) {
      const below = table.rows.filter(({ parent }) => parent === rowID);
      if (below.length > 0) table.parent = found.table;
      for (const row of below) {
        if (row.id === undefined) this.#drop(table, row);
        else this.removed(row.id);
      }
    }
  }

  #drop(table: KnownTable, row: KnownRow): void {
    table.rows.splice(table.rows.indexOf(row), 1);
    this.#rows--;
    this.#characters -= row.size;
  }

  #place(table: KnownTable, id: string | undefined): KnownRow | undefined {
    const known = id === undefined ? undefined : this.#places.get(id);
    if (known) return known.row;
    if (this.#rows >= maxRows || this.#characters >= maxRowCharacters) {
      this.omitted++;
      return undefined;
    }
    const row: KnownRow = { id, values: {}, viewers: [], teamViewers: [], size: 0 };
    this.#rows++;
    table.rows.push(row);
    if (id !== undefined) this.#places.set(id, { table, row });
    return row;
  }

  #fill(row: KnownRow, values: RowData): void {
    row.values = values;
    const size = JSON.stringify(values).length;
    this.#characters += size - row.size;
    row.size = size;
  }

  /** Learns types and links of labels from values that were read. */
  #look(table: KnownTable, values: RowData): void {
    for (const [label, value] of Object.entries(values)) lookAt(table, label, value);
    for (const value of Object.values(values)) if (isObject(value)) this.#lookBehind(value);
  }

  /** A link shows IDs of the fields of the table that it leads to. */
  #lookBehind({ crossAppRowID, additionalValues }: Json): void {
    const target = typeof crossAppRowID === "string" ? this.find(crossAppRowID)?.table : undefined;
    if (!target || !isObject(additionalValues)) return;
    for (const [fieldID, shown] of Object.entries(additionalValues)) {
      const label = isObject(shown) ? shown["label"] : undefined;
      if (typeof label === "string") target.fieldIDs.set(fieldID, new Set([label]));
    }
  }

  /** Learns which labels a sort field may have: those whose values pass in all of these rows. */
  sortedBy(table: KnownTable, sort: number, rows: readonly Row[], passes: (value: unknown) => boolean): void {
    const labels = new Set(rows.flatMap((row) => Object.keys(valuesOf(row))));
    const fitting = [...labels].filter((label) => rows.every((row) => passes(row[label])));
    this.#narrow(table, sort, new Map(fitting.map((label) => [label, 1])));
  }

  /** Learns from rows that came in the order of a sort field. */
  ordered(table: KnownTable, sort: number, order: number, all: readonly Row[]): void {
    const rows = all.slice(0, maxOrdered);
    const labels = new Set(rows.flatMap((row) => Object.keys(valuesOf(row))));
    const distinct = new Map<string, number>();
    for (const label of labels) {
      const values = rows.map((row) => comparable(row[label])).filter((value) => value !== undefined);
      const isOrdered = values.every(
        (value, index) => index === 0 || follows(values[index - 1] ?? value, value, order),
      );
      if (isOrdered) distinct.set(label, new Set(values).size);
    }
    this.#narrow(table, sort, distinct);
  }

  #narrow(table: KnownTable, sort: number, found: ReadonlyMap<string, number>): void {
    if (found.size === 0) return; // it is sorted by something that is not shown
    const before = table.sorts.get(sort);
    const both = [...found].filter(([label]) => before?.has(label) ?? true);
    const most = both.map(([label, count]) => [label, Math.max(count, before?.get(label) ?? 0)] as const);
    if (most.length > 0) table.sorts.set(sort, new Map(most));
  }

  /** Learns which label a field has whose value all of these rows have. */
  matched(table: KnownTable, fieldID: string, value: unknown, rows: readonly Row[]): void {
    const labels = new Set(rows.flatMap((row) => Object.keys(valuesOf(row))));
    const has = (seen: unknown): boolean =>
      seen === value ||
      (Array.isArray(seen) && seen.includes(value)) ||
      (isObject(seen) && seen["crossAppRowID"] === value);
    const fitting = [...labels].filter((label) => rows.every((row) => has(row[label])));
    const before = table.fieldIDs.get(fieldID) ?? new Set();
    const both = before.size === 0 ? fitting : fitting.filter((label) => before.has(label));
    table.fieldIDs.set(fieldID, both.length === 0 ? before : new Set(both));
  }
}

/** Learns type and link of a label from one of its values. */
export function lookAt(table: Pick<KnownTable, "labels" | "links">, label: string, value: unknown): void {
  const types = table.labels.get(label) ?? new Set();
  table.labels.set(label, types);
  if (value === null || value === undefined) return;
  const type = typeOf(value);
  types.add(type);
  if (type !== "linked" || !isObject(value)) return;
  const link = table.links.get(label) ?? { rows: new Set<string>(), shown: undefined };
  table.links.set(label, link);
  if (link.rows.size < maxOrdered) link.rows.add(String(value["crossAppRowID"]));
  const shown = isObject(value["value"]) ? value["value"]["label"] : undefined;
  if (typeof shown === "string" && shown !== "") link.shown = shown;
}

const isoDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

export const isDate = (text: string): boolean => isoDate.test(text) && timeOf(text) !== undefined;

function typeOf(value: unknown): FieldType | "other" {
  if (typeof value === "string") return isDate(value) ? "date" : "text";
  if (typeof value === "number") return "number";
  const one = (["checkbox", "location", "linked"] as const).find((type) => fits(type, value));
  return one ?? "other";
}

/** The key for comparing a value; undefined for a value without an order. */
export function comparable(value: unknown): string | number | undefined {
  if (typeof value === "string") return isDate(value) ? timeOf(value) : value;
  if (typeof value === "number") return value;
  const shown = isObject(value) && isObject(value["value"]) ? value["value"]["value"] : undefined;
  return typeof shown === "string" || typeof shown === "number" ? shown : undefined;
}

const follows = (before: string | number, after: string | number, order: number): boolean =>
  before === after ||
  (typeof before === typeof after &&
    (before < after === order >= 0 ||
      (typeof before === "string" && before.localeCompare(String(after)) * order <= 0)));
