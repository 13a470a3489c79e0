import type { RowData } from "../../../platform/contract/values.ts";
import { formatCount } from "../../../platform/messages/text.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import { rowsByIDs } from "../live/queries.ts";
import { newRow } from "./plannedRows.ts";
import type { Removal } from "./steps.ts";

/** Rows of one removal whose cells are kept: they are in memory. */
export const maxKept = 100_000;

/** Keeps the cells of rows that are about to be removed, where a seed may declare them that nobody knows of yet. */
export async function keepCells<Checked extends { left: readonly Removal[] }>(
  context: RowContext,
  table: string,
  removal: Checked,
): Promise<Checked> {
  const { rowClaims } = context;
  const ids = removal.left.map(({ id }) => id);
  if (!rowClaims.keepsCells || ids.length > maxKept) return removal;
  for await (const rows of rowsByIDs(context, table, ids)) rowClaims.keepCells(table, rows);
  return removal;
}

/** Gives rows the cells back that users wrote before another seed removed them in this run. */
export class RestoredCells {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  #restored = 0;

  constructor(context: RowContext, target: RowTarget) {
    this.#context = context;
    this.#target = target;
  }

  /** A new row in its sent form. */
  textOf(data: RowData, embeddingRowID: string | undefined): string {
    const removed = this.#context.rowClaims.cellsOf(this.#target, data);
    if (removed) this.#restored++;
    return JSON.stringify(newRow(removed ? { ...removed, ...data } : data, embeddingRowID));
  }

  report(): void {
    if (this.#restored === 0) return;
    this.#context.report.info(
      `${formatCount(this.#restored, "row")} of another seed got another ID and kept the cells that no seed declares: ` +
        `its update came before this seed was known. Seeds of one Environment know of each other, and such rows keep their IDs`,
    );
  }
}
