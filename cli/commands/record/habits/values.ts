import { timeOf } from "../../../../provider/contract/fields.ts";
import type { Row, RowData } from "../../../../provider/contract/values.ts";
import { isObject } from "../../../../provider/contract/wire.ts";
import { keep, type Sighting } from "../../../recording/sighting.ts";
import { isDate } from "../../../recording/tables.ts";

/** Values of rows that were written, until they are read back. */
export class WrittenValues {
  readonly #written = new Map<string, { table: string; values: RowData }>();
  readonly #labels = new Map<string, Set<string>>();

  inserted(rowID: string, table: string, values: RowData): void {
    keep(this.#written, rowID, { table, values });
  }

  updated(rowID: string, values: RowData): void {
    const { table = "", values: before = {} } = this.#written.get(rowID) ?? {};
    keep(this.#written, rowID, { table, values: { ...before, ...values } });
  }

  removed(rowID: string): void {
    this.#written.delete(rowID);
  }

  /** Compares a row of a table, where that is known, with what was written. */
  *read(row: Row, inTable?: string): Generator<Sighting> {
    const written = this.#written.get(row._id);
    const table = inTable ?? written?.table ?? "";
    const labels = this.#labels.get(table) ?? new Set();
    for (const label of Object.keys(row)) labels.add(label);
    if (table !== "") keep(this.#labels, table, labels);
    if (!written) return;
    this.#written.delete(row._id);
    for (const [label, value] of Object.entries(written.values)) {
      // A label that the table lacks is dropped whatever its value.
      if (row[label] !== undefined || labels.has(label)) yield* compared(value, row[label]);
    }
  }
}

function* compared(written: unknown, read: unknown): Generator<Sighting> {
  if (typeof written === "number") {
    if (read === written) yield ["numberForm", "number"];
    if (read === String(written)) yield ["numberForm", "text"];
  } else if (written === "") {
    if (read === "") yield ["emptyText", "text"];
    if (read === null) yield ["emptyText", "null"];
    if (read === undefined) yield ["emptyText", "absent"];
  } else if (typeof written === "string" && isDate(written)) {
    if (typeof read === "string") yield ["dateForm", "iso"];
    if (read === timeOf(written)) yield ["dateForm", "milliseconds"];
  } else if (written === null) {
    if (isObject(read) && "crossAppRowID" in read) yield ["linkNull", "ignored"];
  } else if (isObject(written) && "crossAppRowID" in written) {
    if (isObject(read) && read["crossAppRowID"] === written["crossAppRowID"]) yield ["linkForm", "object"];
    if (read === written["crossAppRowID"]) yield ["linkForm", "id"];
  }
}
