import type { Content, RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import type { LastApplied, KeyedRows } from "./ownership.ts";
import { RowIndices } from "./rowIndices.ts";
import { RowSet } from "./rowSet.ts";

/** A row on the platform: its ID and content, and whether the account of this run made it. */
export interface LiveRow {
  id: string;
  content: Content;
  isMine: boolean;
}

/** IDs that are kept of rows which nobody wants. */
const maxBeside = 10_000;

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
  /** True once a row has shown who made it. */
  showsMakers = false;
  /** True when a row names the one that it stands below. */
  namesParents = false;
  /** Labels of the first rows. */
  readonly labels = new Set<string>();
  /** Rows that the account of this run made, with keys that nobody wants; undefined for more than are kept. */
  mineBeside: Set<string> | undefined = new Set();
  readonly #wanted: RowSet;
  readonly #ledger: Ledger;
  readonly #ids = new Map<number, string>();
  readonly #others = new Map<number, LiveRow[]>();
  readonly #twins = new Map<number, LiveRow[]>();
  readonly #dangling = new Set<number>();
  /** Wanted rows that are there as they are wanted and that the account of this run made. */
  readonly #mine: RowIndices;
  /** Rows of `rows` that the account of this run made. */
  readonly #mineByIndex = new Set<number>();

  constructor(wanted: RowSet, ledger: Ledger) {
    this.asWanted = new RowIndices(wanted.length);
    this.#mine = new RowIndices(wanted.length);
    this.#wanted = wanted;
    this.#ledger = ledger;
  }

  /**
   * Adds a row, and returns the wanted row that it matches.
   * @param digests undefined when the row has no key
   * @param dangling whether it has a link to a row that is not there
   * @param isMine whether the account of this run made it
   */
  add(id: string, digests: RowDigests | undefined, dangling = false, isMine = false): number | undefined {
    this.total++;
    if (digests === undefined) {
      this.foreign++;
      return undefined;
    }
    const { key, content } = digests;
    const wanted = this.#wanted.find(key);
    if (wanted === undefined && isMine && this.mineBeside?.add(id) && this.mineBeside.size > maxBeside)
      this.mineBeside = undefined;
    if (wanted === undefined && this.#ledger.kind === "list" && !this.#ledger.rows.has(key)) {
      this.foreign++;
      return undefined;
    }
    if (wanted !== undefined && this.asWanted.has(wanted)) {
      noteBeside(this.#twins, wanted, { id, content, isMine });
      return wanted;
    }
    const isAsWanted = wanted !== undefined && this.#wanted.hasContent(wanted, content);
    if (isAsWanted && !this.rows.has(key)) {
      this.asWanted.add(wanted);
      if (isMine) this.#mine.add(wanted);
      return wanted;
    }
    const index = this.rows.length;
    const first = this.rows.add(key, content);
    if (first !== undefined) {
      noteBeside(this.#others, first, { id, content, isMine });
      return wanted;
    }
    this.#ids.set(index, id);
    if (isMine) this.#mineByIndex.add(index);
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

  /** True if the account of this run made a row that is exactly as a wanted one. */
  isMineAsWanted(wanted: number): boolean {
    return this.#with(wanted).some(({ isMine, content }) => isMine && this.#wanted.hasContent(wanted, content));
  }

  /** True if the account of this run made all rows that have the key of a wanted one. */
  areAllMine(wanted: number): boolean {
    return this.#with(wanted).every(({ isMine }) => isMine);
  }

  /** All rows with the key of a wanted one. */
  #with(wanted: number): Pick<LiveRow, "content" | "isMine">[] {
    const index = this.rows.find(this.#wanted.key(wanted));
    const asWanted = { content: this.#wanted.content(wanted), isMine: this.#mine.has(wanted) };
    return [
      ...(this.asWanted.has(wanted) ? [asWanted, ...(this.#twins.get(wanted) ?? [])] : []),
      ...(index === undefined ? [] : [this.first(index), ...this.others(index)]),
    ];
  }

  /** The first row with a key that is not as wanted. */
  first(index: number): LiveRow {
    return { id: this.id(index), content: this.rows.content(index), isMine: this.#mineByIndex.has(index) };
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
