import { declarable, type RowData } from "../../../platform/contract/values.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { keyText } from "../../reconcile/digests.ts";

/** The cells of rows that a run has removed, for the seed of the same run that inserts them again. */
export class RemovedCells {
  readonly #rows = new Map<string, RowData[]>();
  /** Rows by their key, for the keys that were asked for. */
  readonly #byKey = new Map<string, Map<string, RowData>>();

  add(table: string, rows: readonly RowData[]): void {
    const known = this.#rows.get(table) ?? [];
    for (const row of rows) known.push(writable(row));
    this.#rows.set(table, known);
    this.#byKey.clear();
  }

  /** The cells of a removed row that has the key of this one; undefined when there was none. */
  of(table: string, key: readonly string[], row: RowData): RowData | undefined {
    const rows = this.#rows.get(table);
    if (!rows) return undefined;
    const name = JSON.stringify([table, ...key]);
    const known = this.#byKey.get(name) ?? new Map(rows.map((one) => [textOf(key, one), one]));
    this.#byKey.set(name, known);
    return known.get(textOf(key, row));
  }
}

const textOf = (key: readonly string[], row: RowData): string =>
  JSON.stringify(key.map((label) => keyText(row[label]) ?? row[label] ?? null));

/** The cells of a row that an insert may bring along: plain ones, lists of them, and links. */
const writable = (row: RowData): RowData =>
  Object.fromEntries(
    Object.entries(declarable(row)).filter(
      ([, value]) => isPlain(value) || (Array.isArray(value) && value.every(isPlain)) || isLink(value),
    ),
  );

const isPlain = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
const isLink = (value: unknown): boolean => isObject(value) && typeof value["crossAppRowID"] === "string";
