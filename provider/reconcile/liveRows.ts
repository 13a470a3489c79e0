import type { Content, RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { RowSet } from "./rowSet.ts";

/** A row on the platform: its ID and content. */
export interface LiveRow {
  id: string;
  content: Content;
}

/**
 * The rows of a table as they come in, page by page. IDs are kept only where they may be needed: not of rows that say
 * what is wanted, and not of rows that are certainly foreign.
 */
export class LiveRows {
  /** One row for each key. */
  readonly rows = new RowSet();
  /** Rows that are certainly not ours: without a key, or with one that neither source nor ledger has. */
  foreign = 0;
  readonly #wanted: RowSet;
  readonly #ledger: Ledger | undefined;
  readonly #ids = new Map<number, string>();
  readonly #others = new Map<number, LiveRow[]>();
  readonly #dangling = new Set<number>();
  readonly #keepsIDs: boolean;

  /**
   * @param ledger undefined where it has other digests: then every row may be ours
   * @param keepsIDs keeps the IDs of all rows, since those that are as wanted are recreated as well
   */
  constructor(wanted: RowSet, ledger: Ledger | undefined, keepsIDs = false) {
    this.#wanted = wanted;
    this.#ledger = ledger;
    this.#keepsIDs = keepsIDs;
  }

  /**
   * Adds a row, and returns the wanted row that it matches.
   * @param digests undefined when the row has no key
   * @param dangling whether it has a link to a row that is not there
   */
  add(id: string, digests: RowDigests | undefined, dangling = false): number | undefined {
    if (digests === undefined) {
      this.foreign++;
      return undefined;
    }
    const { key, content } = digests;
    const wanted = this.#wanted.find(key);
    if (wanted === undefined && this.#ledger?.kind === "list" && !this.#ledger.rows.has(key)) {
      this.foreign++;
      return undefined;
    }
    const index = this.rows.length;
    const first = this.rows.add(key, content);
    if (first !== undefined) {
      const others = this.#others.get(first);
      if (others) others.push({ id, content });
      else this.#others.set(first, [{ id, content }]);
      return wanted;
    }
    if (this.#keepsIDs || wanted === undefined || !this.#wanted.hasContent(wanted, content)) this.#ids.set(index, id);
    if (dangling) this.#dangling.add(index);
    return wanted;
  }

  /** Whether a row has a link to a row that is not there any more: nobody edited it. */
  isDangling(index: number): boolean {
    return this.#dangling.has(index);
  }

  /** ID of a row; undefined for one that is as wanted. */
  id(index: number): string | undefined {
    return this.#ids.get(index);
  }

  /** Further rows with the same key. */
  others(index: number): readonly LiveRow[] {
    return this.#others.get(index) ?? [];
  }
}
