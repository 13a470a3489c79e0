import type { Content } from "../../reconcile/digests.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import type { Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { tryRow, type NewTable } from "./firstRow.ts";
import type { NewRow } from "./inserts.ts";
import { readBack, type ReadBackFindings } from "./readBack.ts";
import type { SeenTable, Steps } from "./steps.ts";

/** A run's knowledge of the rows that it wrote: which of them the platform has, and in what form. */
export class Proof {
  /** Differences found so far. */
  readonly sentences: string[] = [];
  /** Content that rows have there which is not what was sent. */
  readonly found = new Map<number, Content>();
  readonly #read: (
    written: Omit<Parameters<typeof readBack>[4], "labels" | "before" | "clear" | "scope">,
  ) => Promise<ReadBackFindings>;
  readonly #try: (row: NewRow, table: NewTable) => Promise<ReadBackFindings>;
  readonly #seen: SeenTable;
  /** Rows that were looked at. */
  readonly #looked: RowIndices;
  /** The row that was inserted alone, until others were looked at. */
  #first: { index: number; id: string } | undefined;
  readonly #missing: (index: number) => unknown;

  /** @param missing gets each row that is not there although the platform answered that it is */
  constructor(
    context: RowContext,
    target: RowTarget,
    summary: Summary,
    links: Links,
    {
      seen = { total: 0, labels: new Set(), mineBeside: new Set() },
      missing,
      ...how
    }: { seen: SeenTable | undefined; missing: (index: number) => unknown } & Pick<Steps, "clear" | "scope">,
  ) {
    this.#seen = seen;
    this.#missing = missing;
    this.#looked = new RowIndices(summary.rows.length);
    this.#read = (written) =>
      readBack(context, target, summary, links, { ...written, ...how, labels: seen.labels, before: seen.mineBeside });
    this.#try = (row, table) => tryRow(context, target, summary, links, row, table);
  }

  /** Inserts one row alone; answers whether the table keeps its labels. Throws when it does not keep the natural key. */
  async tries(row: NewRow, unproven: NewTable["unproven"]): Promise<boolean> {
    const findings = await this.#try(row, { unproven, labels: this.#seen.labels });
    this.#looked.add(row.index);
    if (findings.rowID !== undefined) this.#first = { index: row.index, id: findings.rowID };
    return this.#takes(findings);
  }

  /**
   * Looks at rows that were written since the last look; answers whether the table keeps all of them with their labels.
   * @param more rows that the table has by now more than before
   */
  async looks(written: RowIndices, inserted: number, changed: readonly string[], more: number): Promise<boolean> {
    for (const index of this.#looked) written.delete(index);
    const first = this.#first;
    if (written.size === 0 && !first) return true;
    this.#first = undefined;
    const findings = await this.#read({ written, first, inserted, changed, inAll: this.#seen.total + more });
    for (const index of written) this.#looked.add(index);
    return this.#takes(findings);
  }

  #takes({ sentences, isLabelLost, missing, found }: ReadBackFindings): boolean {
    this.sentences.push(...sentences);
    for (const [index, content] of found) this.found.set(index, content);
    for (const index of missing) this.#missing(index);
    return !isLabelLost && missing.size === 0;
  }
}
