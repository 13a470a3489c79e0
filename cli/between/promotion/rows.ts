import { randomBytes } from "node:crypto";
import { entryIn } from "../../../platform/contract/wire.ts";
import { type SeedDeclaration, withRowEdits } from "../../../provider/environment/schema.ts";
import {
  keyText,
  sameContent,
  saltOf,
  naturalKey,
  printableKey,
  type Cells,
} from "../../../provider/reconcile/digests.ts";
import { RowIndices, RowSet } from "../../../provider/reconcile/rowSet.ts";
import { digesterOf } from "../../../provider/seedRows/declaration.ts";
import { read, SourceError } from "../../../provider/seedRows/source/read.ts";
import { copyValues, listLinkedLabels, placeOf } from "../../../provider/seedRows/source/source.ts";
import type { Declared } from "../../report/source.ts";
import {
  type Decide,
  isSameValue,
  LostRecords,
  mergeRecords,
  type MergeSides,
  type RecordMerge,
  type Records,
} from "../merge.ts";
import type { RenamedColumn } from "../placing.ts";
import { PromotionError, type PromotionSides } from "./model.ts";

/** A seed of one side, and the words for that side. */
export interface SeedOfSide {
  declared: Declared;
  seed: SeedDeclaration;
  side: string;
  /** Other names under which columns are compared. */
  columns?: ReadonlyMap<string, string>;
}

/** A row of a source by the text of its natural key. */
interface KeyedRow {
  key: string;
  line: number;
  cells: Cells;
}

/** Finds a seed of one side; undefined where that has none. `side` is the name of the environment, for people. */
export function findSeed(declared: Declared, name: string, side: string): SeedOfSide | undefined {
  const seed = entryIn(declared.declaration.seeds, name);
  return seed && { declared, seed, side };
}

/** Reads the rows of a seed in blocks. Throws a PromotionError that names what can't be read. */
export async function* readRows(of: SeedOfSide): AsyncGenerator<KeyedRow[]> {
  const { declared, seed, side, columns } = of;
  const by = keyOf(of);
  const reason = seed.source === undefined ? undefined : declared.unread?.(seed.source);
  if (reason !== undefined) throw new PromotionError(`${side}: ${reason}`);
  const named = (cells: Cells): Cells =>
    columns
      ? Object.fromEntries(Object.entries(cells).map(([label, value]) => [columns.get(label) ?? label, value]))
      : cells;
  try {
    for await (const block of read(withRowEdits(seed), declared.folder)) {
      yield block.map(({ line, values }) => {
        const cells = named(values);
        const key = naturalKey(by, cells);
        if (key !== undefined) return { key, line, cells };
        throw new PromotionError(
          `${side}: ${placeOf(seed, line)}: the row lacks ${by.join(" and ")}, its natural key; add it`,
        );
      });
    }
  } catch (error) {
    if (error instanceof SourceError) throw new PromotionError(`${side}: ${error.message}`);
    throw error;
  }
}

const refuseTwin = ({ seed, side }: SeedOfSide, line: number): PromotionError =>
  new PromotionError(
    `${side}: ${placeOf(seed, line)}: a row before this one has the same natural key; change or remove one`,
  );

/** A row that is kept. */
const copyRow = ({ key, cells }: Pick<KeyedRow, "key" | "cells">): { key: string; cells: Cells } =>
  copyValues({ key, cells }) as { key: string; cells: Cells }; // of the same form

/** Digests of rows by a key, links as keys. Equal digests say the same in every cell. */
function digesting(key: readonly string[], linked: Iterable<string>) {
  const references = Object.fromEntries([...linked].map((label) => [label, { table: "", key: "" }]));
  const digesterFor = digesterOf({ table: "", key: [...key], references, salt: saltOf(randomBytes(16)) });
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
    this.#digest = digesting(keyOf(is), linked);
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
    const base = await this.#readBase();
    return { base, from: this.from, to: await this.#readTo(to, base) };
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
    if (index === undefined && before !== undefined) this.after.set(key, copyRow({ key: before, cells: {} }).key);
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

  async #readTo(to: SeedOfSide, base: Records): Promise<Map<string, Cells>> {
    const found = new Map<string, Cells>();
    const met = new RowIndices(this.base.length);
    const own = new RowSet();
    const gone = new Map([...base].filter(([key]) => !this.from.has(key)));
    const lost = new LostRecords(gone, keyOf(this.#is));
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
        if (isChanged || (index === undefined && lost.find(row.cells) !== undefined)) {
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

/** True if `to` has a row of a seed that is not as at the base: it may not go as a whole. */
export async function hasOwnRows({ to, from, base }: PromotionSides, seed: string, former: string): Promise<boolean> {
  const there = findSeed(to.declared, seed, to.name);
  const was = findSeed(base, former, `${from.name} at the base`);
  return (there && (await ChangedRows.of(was, there, was ? listLinkedLabels(was.seed) : [])).from.size > 0) ?? false;
}

/** A column that both sides gave another name, and not the same one. */
export interface ColumnConflict {
  label: string;
  from: string;
  to: string;
}

/** The merge of a seed's rows. */
export interface RowsMerge extends Omit<RecordMerge, "untouched"> {
  key: readonly string[];
  notes: string[];
  /** Rows in which `to` alone differs from the base. */
  untouched: number;
  /** Columns that `to` gets under another name. */
  renamed: RenamedColumn[];
  columnConflicts: ColumnConflict[];
}

/** A seed on each side; the base may have none. */
interface ThreeSeeds {
  was: SeedOfSide | undefined;
  is: SeedOfSide;
  there: SeedOfSide;
}

/** Labels that nobody may read: `all` of a sensitive seed. */
const findHidden = ({ sensitive, secretLabels = [] }: SeedDeclaration): "all" | ReadonlySet<string> =>
  sensitive ? "all" : new Set(secretLabels);

/** Merges the rows of one seed; undefined where `from` has changed none. `former` is its name at the base. */
export async function mergeRows(
  { from, to, base }: PromotionSides,
  seed: string,
  former: string,
  decideRow: (key: string) => Decide,
): Promise<RowsMerge | { note: string } | undefined> {
  const declared = { is: findSeed(from.declared, seed, from.name), there: findSeed(to.declared, seed, to.name) };
  if (!declared.is || !declared.there) return undefined;
  if (findHidden(declared.is.seed) === "all" || findHidden(declared.there.seed) === "all")
    return { note: `rows of ${seed} are sensitive: they are not compared; bring them over yourself` };
  const decideColumn = (label: string) => decideRow(label)(label, undefined);
  const first = findSeed(base, former, `${from.name} at the base`);
  const { renamed, columnConflicts, ...seeds } = await followColumns(
    { was: first, is: declared.is, there: declared.there },
    seed,
    decideColumn,
  );
  const { was, is, there } = seeds;
  const key = keyOf(is);
  const linked = new Set(
    [is, there].flatMap((side) => listLinkedLabels(side.seed).map((label) => nameIn(side, label))),
  );
  const changed = await ChangedRows.of(was, is, linked);
  if (changed.isEmpty && renamed.length + columnConflicts.length === 0) return undefined;
  if (changed.isBare) {
    return {
      note: `${from.name} has no rows of ${seed} any more: nothing is removed; remove the seed instead, or the rows in ${to.name} yourself`,
    };
  }
  const secret = new Set(
    [was, is, there].flatMap((side) => {
      const hidden = side ? findHidden(side.seed) : "all";
      return side && hidden !== "all" ? [...hidden].map((label) => nameIn(side, label)) : [];
    }),
  );
  const sides = await changed.merging(there);
  const merge = mergeRecords(
    { base: visible(sides.base, secret), from: visible(sides.from, secret), to: visible(sides.to, secret) },
    {
      key,
      decide: (text, label) => decideRow(printableKey(key, text))(text, label),
      isSame: (label, one, other) =>
        linked.has(label) ? keyText(one) === keyText(other) : isSameValue(label, one, other),
    },
  );
  const taken = merge.taken.map((one) => (one.do === "add" ? { ...one, after: changed.after.get(one.key) } : one));
  const notes = hasSecretChange(sides, secret)
    ? [`${[...secret].join(", ")} of ${seed} is secret: it is not compared; bring it over yourself`]
    : [];
  const untouched = merge.untouched.length + changed.untouched;
  return { ...merge, taken, key, notes, untouched, renamed, columnConflicts };
}

function visible(rows: Records, secret: ReadonlySet<string>): Records {
  if (secret.size === 0) return rows;
  const shown = (cells: Cells): Cells =>
    Object.fromEntries(Object.entries(cells).filter(([label]) => !secret.has(label)));
  return new Map([...rows].map(([key, cells]) => [key, shown(cells)]));
}

const hasSecretChange = ({ base, from }: MergeSides, secret: ReadonlySet<string>): boolean =>
  [...from].some(([key, cells]) =>
    [...secret].some((label) => !isSameValue(label, base.get(key)?.[label], cells[label])),
  );

/** The name under which a column of one side is compared. */
const nameIn = ({ columns }: SeedOfSide, label: string): string => columns?.get(label) ?? label;

/** The labels of the key by which a side is compared. */
const keyOf = (side: SeedOfSide): readonly string[] => side.seed.key.map((label) => nameIn(side, label));

type Followed = ThreeSeeds & Pick<RowsMerge, "renamed" | "columnConflicts">;

/**
 * Follows columns that got another name: all sides are compared under one name, which is that of the side that changed it.
 * Throws a PromotionError where one side alone has another key.
 */
async function followColumns(
  { was, is, there }: ThreeSeeds,
  seed: string,
  decide: (label: string) => "ours" | "theirs" | undefined,
): Promise<Followed> {
  const names = { was: new Map<string, string>(), is: new Map<string, string>(), there: new Map<string, string>() };
  const renamed: RenamedColumn[] = [];
  const columnConflicts: ColumnConflict[] = [];
  const none = new Map<string, string>();
  const [forth, back] = was ? [await findRenamed(was, is), await findRenamed(was, there)] : [none, none];
  const [own, theirs] = [await labelsIn(is), await labelsIn(there)];
  for (const former of new Set([...forth.keys(), ...back.keys()])) {
    const [one, other] = [forth.get(former), back.get(former)];
    const decision = one === undefined || other === undefined || one === other ? "theirs" : decide(former);
    const now = (decision === "ours" ? other : one) ?? other ?? former;
    const [source, held] = [one ?? former, other ?? former];
    for (const [label, labels, side] of [
      [source, own, is],
      [held, theirs, there],
    ] as const) {
      if (label === now || !labels.includes(label) || !labels.includes(now)) continue;
      throw new PromotionError(
        `the column ${former} of ${seed} is ${now} by now, and ${side.side} has both: take one of them out there, then promote`,
      );
    }
    names.was.set(former, now);
    if (source !== now) names.is.set(source, now);
    if (held === now || !theirs.includes(held)) continue;
    names.there.set(held, now);
    if (decision === undefined) columnConflicts.push({ label: former, from: now, to: held });
    else renamed.push({ former: held, now });
  }
  const named = (side: SeedOfSide, columns: ReadonlyMap<string, string>): SeedOfSide =>
    columns.size > 0 ? { ...side, columns } : side;
  const followed = { is: named(is, names.is), there: named(there, names.there) };
  const base = was && named(was, names.was);
  assertOneKey({ was: base, ...followed }, seed);
  return { was: base, ...followed, renamed, columnConflicts };
}

/** Throws a PromotionError where the sides have several keys. */
function assertOneKey({ was, is, there }: ThreeSeeds, seed: string): void {
  const [source = "", target = "", before = source] = [is, there, ...(was ? [was] : [])].map((side) =>
    keyOf(side).join(" and "),
  );
  if (source === target && before !== source)
    throw new PromotionError(
      `the key of ${seed} is ${source} by now, and was ${before}: write the commit that changed it into promotions.yaml, then promote`,
    );
  if (source === target) return;
  const [name, other, key] = target === before ? [is, there, source] : [there, is, target];
  throw new PromotionError(
    `the key of ${seed} is ${source} in ${is.side} and ${target} in ${there.side}: change it in ${other.side} as in ${name.side} (key: ${key}), then promote`,
  );
}

/** Labels of a seed's first rows; of a CSV all. */
async function labelsIn(side: SeedOfSide): Promise<string[]> {
  for await (const rows of readRows(side)) {
    if (rows.length > 0) return [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
  }
  return [];
}

/** Rows by which a column is known again. */
const comparedRows = 10_000;

const isNothing = (value: unknown): boolean => isSameValue("", value, undefined);

/** Columns of a base that a side has under another name, with the same values in half of the rows or more. */
async function findRenamed(was: SeedOfSide, side: SeedOfSide): Promise<Map<string, string>> {
  const [before, after] = [await labelsIn(was), await labelsIn(side)];
  const added = after.filter((label) => !before.includes(label));
  const pairs = before
    .filter((label) => !after.includes(label))
    .flatMap((former) => added.map((now) => ({ former, now, same: 0, seen: 0 })));
  const renamed = new Map<string, string>();
  if (pairs.length === 0) return renamed;
  const known = new Map<string, Cells>();
  for await (const rows of readRows(was)) {
    for (const { key, cells } of rows.map(copyRow)) known.set(key, cells);
    if (known.size >= comparedRows) break;
  }
  for await (const rows of readRows(side)) {
    for (const { key, cells } of rows) {
      const base = known.get(key);
      for (const pair of base ? pairs : []) {
        const [was, is] = [base?.[pair.former], cells[pair.now]];
        if (isNothing(was) && isNothing(is)) continue;
        pair.seen++;
        if (isSameValue("", was, is)) pair.same++;
      }
    }
  }
  const taken = new Set<string>();
  for (const { former, now } of pairs
    .filter(({ same, seen }) => same > 0 && same * 2 >= seen)
    .sort((a, b) => b.same - a.same)) {
    if (renamed.has(former) || taken.has(now)) continue;
    renamed.set(former, now);
    taken.add(now);
  }
  return renamed;
}
