import type { Content, RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import type { LastApplied, KeyedRows } from "./ownership.ts";
import { RowIndices } from "./rowIndices.ts";
import { RowSet } from "./rowSet.ts";

/** A row on the platform: its ID and content. */
export interface LiveRow {
  id: string;
  content: Content;
}

/**
 * The rows of a table as they come in, page by page. A row that is as wanted takes one bit, so a large table that differs
 * little is small here. IDs are kept only where they may be needed: not of rows that say what is wanted, and not of rows
 * that are certainly foreign.
 */
export class LiveRows implements KeyedRows {
  /** One row for each key, without those that are as wanted. */
  readonly rows = new RowSet();
  /** Wanted rows that are there as they are wanted, by their index. */
  readonly asWanted: RowIndices;
  /** Rows that are certainly not ours: without a key, or with one that neither source nor ledger has. */
  foreign = 0;
  /** All rows of the table, ours and others. */
  total = 0;
  /** Labels of the first rows. */
  readonly labels = new Set<string>();
  readonly #wanted: RowSet;
  readonly #ledger: Ledger;
  readonly #ids = new Map<number, string>();
  readonly #others = new Map<number, LiveRow[]>();
  readonly #twins = new Map<number, LiveRow[]>();
  readonly #dangling = new Set<number>();

  constructor(wanted: RowSet, ledger: Ledger) {
    this.asWanted = new RowIndices(wanted.length);
    this.#wanted = wanted;
    this.#ledger = ledger;
  }

  /**
   * Adds a row, and returns the wanted row that it matches.
   * @param digests undefined when the row has no key
   * @param dangling whether it has a link to a row that is not there
   */
  add(id: string, digests: RowDigests | undefined, dangling = false): number | undefined {
    this.total++;
    if (digests === undefined) {
      this.foreign++;
      return undefined;
    }
    const { key, content } = digests;
    const wanted = this.#wanted.find(key);
    if (wanted === undefined && this.#ledger.kind === "list" && !this.#ledger.rows.has(key)) {
      this.foreign++;
      return undefined;
    }
    if (wanted !== undefined && this.asWanted.has(wanted)) {
      noteBeside(this.#twins, wanted, { id, content });
      return wanted;
    }
    const isAsWanted = wanted !== undefined && this.#wanted.hasContent(wanted, content);
    if (isAsWanted && !this.rows.has(key)) {
      this.asWanted.add(wanted);
      return wanted;
    }
    const index = this.rows.length;
    const first = this.rows.add(key, content);
    if (first !== undefined) {
      noteBeside(this.#others, first, { id, content });
      return wanted;
    }
    this.#ids.set(index, id);
    if (dangling) this.#dangling.add(index);
    return wanted;
  }

  /** Number of keys. */
  get length(): number {
    return this.rows.length + this.asWanted.size;
  }

  /** True for a row with a link to a deleted row: nobody edited it. */
  isDangling(index: number): boolean {
    return this.#dangling.has(index);
  }

  /** ID of a row that is not as wanted. */
  id(index: number): string {
    return this.#ids.get(index) ?? "";
  }

  /** Further rows with the same key. */
  others(index: number): readonly LiveRow[] {
    return this.#others.get(index) ?? [];
  }

  /** Further rows with the keys of rows that are as wanted, by the index of these. */
  get twins(): ReadonlyMap<number, readonly LiveRow[]> {
    return this.#twins;
  }

  readonly contentOf: LastApplied = (key) => {
    const wanted = this.#wanted.find(key);
    if (wanted !== undefined && this.asWanted.has(wanted)) return this.#wanted.content(wanted);
    return this.rows.contentOf(key);
  };

  *[Symbol.iterator](): Generator<RowDigests> {
    yield* this.rows;
    for (const index of this.asWanted) yield { key: this.#wanted.key(index), content: this.#wanted.content(index) };
  }
}

function noteBeside(all: Map<number, LiveRow[]>, index: number, row: LiveRow): void {
  const others = all.get(index);
  if (others) others.push(row);
  else all.set(index, [row]);
}
