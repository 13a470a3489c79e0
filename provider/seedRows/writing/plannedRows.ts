import type { RowData } from "../../../platform/contract/values.ts";
import type { RowIndices } from "../../reconcile/rowIndices.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { digesterOf } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import type { LinkedRow, Links } from "../live/links.ts";
import { read, SourceError } from "../source/read.ts";
import { isHidden, placeOf } from "../source/source.ts";

/** A row of the source in its sent form, with its line. */
export interface PlannedRow extends LinkedRow {
  index: number;
  line: number;
}

/** Those rows of a source that a plan writes; each reading goes through the source once. */
export class PlannedRows {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #rows: RowSet;
  readonly #links: Links;
  readonly #chosen: RowIndices;

  /** @param rows digests of all rows of the source, which must not change meanwhile */
  constructor(context: RowContext, target: RowTarget, rows: RowSet, links: Links, chosen: RowIndices) {
    this.#context = context;
    this.#target = target;
    this.#rows = rows;
    this.#links = links;
    this.#chosen = chosen;
  }

  /** The rows in blocks, `form` by `form`; those that it makes nothing of are passed over. */
  async *read<Form>(form: (row: PlannedRow) => Form | undefined): AsyncGenerator<Form[]> {
    const digesterFor = digesterOf(this.#target);
    let index = -1;
    let left = this.#chosen.size;
    const isChosen = (at: number): boolean => this.#chosen.has(at);
    for await (const block of left === 0 ? [] : read(this.#target, this.#context.directory, undefined, isChosen)) {
      const formed: Form[] = [];
      for (const { line, values } of block) {
        if (!this.#chosen.has(++index)) continue;
        left--;
        // The content holds the key as well.
        if (!this.#rows.hasContent(index, digesterFor(values).content(values))) {
          throw new SourceError(`${this.#place(line)}: the source changed while it was being applied; run up again`);
        }
        const one = form({ ...this.#links.link(values, line), index, line });
        if (one !== undefined) formed.push(one);
      }
      yield formed;
      if (left === 0) return;
    }
  }

  /** Throws when a row refers to one that does not exist. */
  async checkLinks(): Promise<void> {
    const rows = this.read(() => undefined);
    while (!(await rows.next()).done);
    await this.#links.check(
      (line) => this.#place(line),
      (label) => isHidden(this.#target, label),
    );
  }

  #place(line: number): string {
    return placeOf(this.#target, line);
  }
}

/** Rows of blocks, one by one. */
export async function* each<One>(blocks: AsyncIterable<One[]>): AsyncGenerator<One> {
  for await (const block of blocks) yield* block;
}

/** A row that is new has nothing to clear. */
export function newRow(data: RowData, embeddingRowID: string | undefined): RowData {
  const values = Object.values(data).includes(null)
    ? Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
    : data;
  return embeddingRowID === undefined ? values : { ...values, embeddingRowID };
}
