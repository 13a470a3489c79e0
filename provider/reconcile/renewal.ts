import { another, sameContent, type Digest, type Content, type RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { lastApplied, type KnownRows, type LastApplied } from "./ownership.ts";
import { RowSet } from "./rowSet.ts";

/**
 * What was last applied, while the rows get other digests: those of the last run, under another salt, tell it of the
 * rows as they come in, and it is told by those of this run.
 */
export class Renewal implements KnownRows {
  readonly count: number;
  readonly #wanted: RowSet;
  readonly #before: RowSet;
  readonly #last: LastApplied;
  /** Rows of ours that said something else than they are to say now, by key, with their content in this run's digests. */
  readonly #others = new Map<string, Content>();

  private constructor(wanted: RowSet, before: RowSet, count: number, last: LastApplied) {
    this.count = count;
    this.#wanted = wanted;
    this.#before = before;
    this.#last = last;
  }

  /**
   * Undefined where the ledger does not tell so many changes.
   * @param wanted the wanted rows
   * @param before the same rows in the same order, by the digests of the last run
   */
  static of(wanted: RowSet, before: RowSet, ledger: Ledger): Renewal | undefined {
    const last = lastApplied(ledger, [before], new RowSet());
    return last && new Renewal(wanted, before, ledger.count, last);
  }

  /** Takes in a row of the platform by the digests of the last run and of this one. */
  observe(was: RowDigests, is: RowDigests): void {
    const applied = this.#last(was.key);
    if (applied === undefined) return;
    const index = this.#wanted.find(is.key);
    if (index !== undefined && this.#before.hasContent(index, applied)) return;
    const name = nameOf(is.key);
    // Of several rows with one key the one that says what was last applied is ours.
    if (sameContent(was.content, applied)) this.#others.set(name, is.content);
    else if (!this.#others.has(name)) this.#others.set(name, another(is.content));
  }

  readonly last: LastApplied = (key) => {
    const other = this.#others.get(nameOf(key));
    if (other) return other;
    const index = this.#wanted.find(key);
    const applied = index === undefined ? undefined : this.#last(this.#before.key(index));
    if (index === undefined || applied === undefined) return undefined;
    const content = this.#wanted.content(index);
    return this.#before.hasContent(index, applied) ? content : another(content);
  };
}

const nameOf = ({ high, low }: Digest): string => `${high}:${low}`;
