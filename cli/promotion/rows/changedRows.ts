import { randomBytes } from "node:crypto";
import type { SeedDeclaration } from "../../../provider/environment/schema.ts";
import { sameContent, saltOf } from "../../../provider/reconcile/digests.ts";
import type { Cells } from "../../../provider/reconcile/merging/records.ts";
import type { MergeSides } from "../../../provider/reconcile/merging/threeWay.ts";
import { RowIndices } from "../../../provider/reconcile/rowIndices.ts";
import { RowSet } from "../../../provider/reconcile/rowSet.ts";
import { digesterOf } from "../../../provider/resources/rows/declared/declaration.ts";
import { copyValues, listLinkedLabels } from "../../../provider/sources/source.ts";
import { readRows, refuseTwin, type KeyedRow, type SeedOfSide } from "./rowTables.ts";

/** A row that is kept. */
function copyRow({ key, cells }: KeyedRow): { key: string; cells: Cells } {
  return copyValues({ key, cells }) as { key: string; cells: Cells }; // of the same form
}

const copyText = (text: string): string => copyRow({ key: text, line: 0, cells: {} }).key;

/** Digests of rows by a key, links as keys. Equal digests say the same in every cell. */
function digesting(key: readonly string[], linked: Iterable<string>) {
  const references = Object.fromEntries([...linked].map((label) => [label, { table: "", key: "" }]));
  const digesterFor = digesterOf({ key, references, salt: saltOf(randomBytes(16)) });
  return (cells: Cells) => {
    const digester = digesterFor(cells);
    const digest = digester.key(cells);
    return digest && { digest, content: digester.content(cells) };
  };
}

/**
 * Rows that differ between a base and a side that came of it, by the same key: the base is kept as digests, and only what
 * differs in clear. So a million rows of which few differ take little memory.
 */
export class ChangedRows {
  /** Rows of the base. */
  readonly base: RowSet = new RowSet();
  /** Rows of `from` that are new or otherwise, in their order. */
  readonly from = new Map<string, Cells>();
  /** The key of the row before each new one. */
  readonly after = new Map<string, string>();
  /** Rows in which `to` alone differs, besides those that `from` changed as well. */
  untouched = 0;
  readonly #was: SeedOfSide | undefined;
  readonly #is: SeedOfSide;
  readonly #digest: ReturnType<typeof digesting>;
  /** Rows of the base that `from` has, and those of them that are otherwise there. */
  #there = new RowIndices(0);
  #other = new RowIndices(0);

  private constructor(was: SeedOfSide | undefined, is: SeedOfSide, linked: Iterable<string>) {
    this.#was = was;
    this.#is = is;
    this.#digest = digesting(is.seed.key, linked);
  }

  /** Compares two sides of one key. Throws a PromotionError. */
  static async of(was: SeedOfSide | undefined, is: SeedOfSide, linked: Iterable<string>): Promise<ChangedRows> {
    const changed = new ChangedRows(was, is, linked);
    if (was) for await (const rows of readRows(was)) for (const row of rows) changed.#takeBase(was, row);
    changed.#there = new RowIndices(changed.base.length);
    changed.#other = new RowIndices(changed.base.length);
    let before: string | undefined;
    for await (const rows of readRows(is)) {
      for (const row of rows) {
        changed.#takeFrom(row, before);
        before = row.key;
      }
    }
    return changed;
  }

  /** True if both sides have the same rows. */
  get isEmpty(): boolean {
    return this.from.size === 0 && this.#there.size === this.base.length;
  }

  /** True if `from` has no row at all. */
  get isBare(): boolean {
    return this.from.size === 0 && this.#there.size === 0;
  }

  /** The rows of all three sides that differ between base and `from`. Throws a PromotionError. */
  async merging(to: SeedOfSide): Promise<MergeSides> {
    return { base: await this.#readBase(), from: this.from, to: await this.#readTo(to) };
  }

  #takeBase(was: SeedOfSide, { line, cells }: KeyedRow): void {
    const found = this.#digest(cells);
    if (found && this.base.add(found.digest, found.content) !== undefined) throw refuseTwin(was, line);
  }

  #takeFrom(row: KeyedRow, before: string | undefined): void {
    const found = this.#digest(row.cells);
    const index = found && this.base.find(found.digest);
    if (this.from.has(row.key) || (index !== undefined && this.#there.has(index))) throw refuseTwin(this.#is, row.line);
    if (index !== undefined) {
      this.#there.add(index);
      if (found && this.base.hasContent(index, found.content)) return;
      this.#other.add(index);
    }
    const { key, cells } = copyRow(row);
    this.from.set(key, cells);
    if (index === undefined && before !== undefined) this.after.set(key, copyText(before));
  }

  /** Rows of the base that `from` has not, or otherwise. */
  async #readBase(): Promise<Map<string, Cells>> {
    const found = new Map<string, Cells>();
    const wanted = this.base.length - this.#there.size + this.#other.size;
    if (!this.#was || wanted === 0) return found;
    let index = -1;
    for await (const rows of readRows(this.#was)) {
      for (const row of rows) {
        index++;
        if (this.#there.has(index) && !this.#other.has(index)) continue;
        const { key, cells } = copyRow(row);
        found.set(key, cells);
      }
      if (found.size === wanted) break;
    }
    return found;
  }

  async #readTo(to: SeedOfSide): Promise<Map<string, Cells>> {
    const found = new Map<string, Cells>();
    const met = new RowIndices(this.base.length);
    const own = new RowSet();
    this.untouched = 0;
    for await (const rows of readRows(to)) {
      for (const row of rows) {
        const { digest, content } = this.#digest(row.cells) ?? {};
        if (!digest || !content) continue;
        const index = this.base.find(digest);
        const isTwin = index === undefined ? own.add(digest) !== undefined : met.has(index);
        if (isTwin) throw refuseTwin(to, row.line);
        if (index !== undefined) met.add(index);
        const isChanged = this.from.has(row.key) || (index !== undefined && !this.#there.has(index));
        if (isChanged) {
          const { key, cells } = copyRow(row);
          found.set(key, cells);
        } else if (index === undefined || !sameContent(this.base.content(index), content)) this.untouched++;
      }
    }
    for (let index = 0; index < this.base.length; index++)
      if (!met.has(index) && this.#there.has(index) && !this.#other.has(index)) this.untouched++;
    return found;
  }
}

interface Compared {
  was: SeedDeclaration | undefined;
  linked: string;
  changed: ChangedRows;
}

/** The last comparison of each seed: before a promotion is written it is planned twice, with another `to` alone. */
const compared = new WeakMap<SeedDeclaration, Compared>();

/** Compares two sides of one key, unless that was done already. Throws a PromotionError. */
export async function compareSides(
  was: SeedOfSide | undefined,
  is: SeedOfSide,
  labels: Iterable<string>,
): Promise<ChangedRows> {
  const names = [...labels].sort();
  const linked = JSON.stringify(names);
  const known = compared.get(is.seed);
  if (known && known.was === was?.seed && known.linked === linked) return known.changed;
  const changed = await ChangedRows.of(was, is, names);
  compared.set(is.seed, { was: was?.seed, linked, changed });
  return changed;
}

/** True if `to` has a row that is not as at the base. */
export async function hasOtherRows(was: SeedOfSide | undefined, to: SeedOfSide): Promise<boolean> {
  const { key } = (was ?? to).seed;
  const digest = digesting(key, was ? listLinkedLabels(was.seed) : []);
  const base = new RowSet();
  for await (const rows of was ? readRows(was) : []) {
    for (const { cells } of rows) {
      const found = digest(cells);
      if (found) base.add(found.digest, found.content);
    }
  }
  for await (const rows of readRows(to)) {
    const isOther = rows.some(({ cells }) => {
      const found = digest(cells);
      const index = found && base.find(found.digest);
      return !found || index === undefined || !base.hasContent(index, found.content);
    });
    if (isOther) return true;
  }
  return false;
}
