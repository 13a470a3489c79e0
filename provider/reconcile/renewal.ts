import { another, sameContent, type Digest, type Content, type RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { findAppliedBeside, type KnownRows, type LastApplied } from "./ownership.ts";
import type { RowSet } from "./rowSet.ts";

/** How a wanted row was last applied; 0 when it was not. */
const [same, otherwise] = [1, 2];

/**
 * Known rows while digests change to a new salt. Incoming rows are recognised by digests of the last run; callers ask by
 * digests of this run.
 */
export class Renewal implements KnownRows {
  readonly count: number;
  readonly #wanted: RowSet;
  /** For each wanted row: whether it was last applied, and with the wanted content. */
  readonly #was: Uint8Array;
  /** Last applied content of rows that differ from the wanted ones, by the digests of the last run. */
  readonly #changed = new Map<number, Content>();
  readonly #removed: LastApplied;
  /** Rows of ours that differ from the wanted ones, by key, with their content in this run's digests. */
  readonly #others = new Map<string, Content>();

  private constructor(wanted: RowSet, count: number, removed: LastApplied) {
    this.count = count;
    this.#wanted = wanted;
    this.#was = new Uint8Array(wanted.length);
    this.#removed = removed;
  }

  /**
   * Undefined where the ledger can't list this number of changes.
   * @param wanted the wanted rows
   * @param before the same rows in the same order, by the digests of the last run; nothing of them is kept
   */
  static of(wanted: RowSet, before: RowSet, ledger: Ledger): Renewal | undefined {
    const applied = findAppliedBeside(ledger, before);
    if (!applied) return undefined;
    const renewal = new Renewal(wanted, ledger.count, applied.removed);
    for (let index = 0; index < before.length; index++) {
      const content = applied.last(before.key(index));
      if (content === undefined) continue;
      const isSame = before.hasContent(index, content);
      renewal.#was[index] = isSame ? same : otherwise;
      if (!isSame) renewal.#changed.set(index, content);
    }
    return renewal;
  }

  /** Takes in a row of the platform by the digests of the last run and of this one. */
  observe(was: RowDigests, is: RowDigests): void {
    const index = this.#wanted.find(is.key);
    const applied = index === undefined ? this.#removed(was.key) : this.#changed.get(index);
    if (applied === undefined) return;
    const name = nameOf(is.key);
    // Among several rows with one key, the one with the last applied content is ours.
    if (sameContent(was.content, applied)) this.#others.set(name, is.content);
    else if (!this.#others.has(name)) this.#others.set(name, another(is.content));
  }

  readonly last: LastApplied = (key) => {
    const other = this.#others.get(nameOf(key));
    if (other) return other;
    const index = this.#wanted.find(key);
    const was = index === undefined ? undefined : this.#was[index];
    if (index === undefined || !was) return undefined;
    const content = this.#wanted.content(index);
    return was === same ? content : another(content);
  };
}

const nameOf = ({ high, low }: Digest): string => `${high}:${low}`;
