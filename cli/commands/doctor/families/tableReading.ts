import { declarable, type Row } from "../../../../provider/contract/values.ts";
import { keyText } from "../../../../provider/reconcile/digests.ts";
import type { TableLook } from "../context.ts";
import type { ProgramTable } from "../declared.ts";

/** Takes in the rows of a table. */
export class TableReading {
  readonly #key: readonly string[];
  readonly #labels = new Set<string>();
  readonly #keys = new Map<string, number>();
  readonly #pages: number[] = [];
  readonly #ids: string[] = [];
  #keyless = 0;
  #sample: Row | undefined;
  rows = 0;
  namesParents = false;

  constructor({ key }: ProgramTable) {
    this.#key = key;
  }

  take(rows: readonly Row[]): void {
    this.#pages.push(rows.length);
    this.rows += rows.length;
    for (const row of rows) {
      this.#ids.push(row._id);
      this.namesParents ||= !!row.embeddingRowID;
      for (const label of Object.keys(declarable(row))) this.#labels.add(label);
      const parts = this.#key.map((label) => keyText(row[label]));
      if (parts.includes(undefined)) {
        this.#keyless++;
        continue;
      }
      this.#sample ??= row;
      // In a sub-table a key only identifies a row below its parent.
      const text = JSON.stringify([...parts, row.embeddingRowID ?? null]);
      this.#keys.set(text, (this.#keys.get(text) ?? 0) + 1);
    }
  }

  result(isAll: boolean): TableLook {
    const twice = new Map([...this.#keys].filter(([, count]) => count > 1));
    const keyless = this.#keyless;
    const { rows, namesParents } = this;
    const seen = { rows, namesParents, ids: this.#ids, pages: this.#pages, labels: this.#labels, sample: this.#sample };
    return { ...seen, isAll, keyless, twice };
  }
}
