import type { RowData } from "../../../platform/contract/values.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { type SeedDeclaration, withRowEdits } from "../../../provider/environment/schema.ts";
import { canonical, keyText, naturalKey, printableKey, type Cells } from "../../../provider/seedRows/digests.ts";
import { read, SourceError } from "../../../provider/seedRows/source/read.ts";
import { copyValues, listLinkedLabels, placeOf, type SourceRow } from "../../../provider/seedRows/source/source.ts";
import { DataRefusal } from "../../report/environments.ts";
import type { Declared } from "../../report/source.ts";
import {
  type Decide,
  isSameRecord,
  isSameValue,
  mergeRecords,
  type MergeSides,
  type RecordMerge,
  type Records,
  type SameValue,
} from "../merge.ts";
import type { RenamedColumn } from "../placing.ts";
import type { PromotionSides } from "./model.ts";

/** A seed of one side, and the words for that side. */
export interface SeedOfSide {
  declared: Declared;
  seed: SeedDeclaration;
  side: string;
  /** Other names under which columns are compared. */
  columns?: ReadonlyMap<string, string>;
}

/** Finds a seed of one side; undefined where that has none. `side` is the name of the environment, for people. */
export function findSeed(declared: Declared, name: string, side: string): SeedOfSide | undefined {
  const seed = entryIn(declared.declaration.seeds, name);
  return seed && { declared, seed, side };
}

/** The rows of a seed, block by block. Throws a DataRefusal that names what can't be read. */
async function* blocksOf({ declared, seed, side, columns }: SeedOfSide): AsyncGenerator<SourceRow[]> {
  const reason = seed.source === undefined ? undefined : declared.unread?.(seed.source);
  if (reason !== undefined) throw new DataRefusal(`${side}: ${reason}`);
  const named = (values: RowData): RowData =>
    Object.fromEntries(Object.entries(values).map(([label, value]) => [columns?.get(label) ?? label, value]));
  try {
    for await (const block of read(withRowEdits(seed), declared.folder))
      yield columns ? block.map(({ line, values }) => ({ line, values: named(values) })) : block;
  } catch (error) {
    if (error instanceof SourceError) throw new DataRefusal(`${side}: ${error.message}`);
    throw error;
  }
}

/**
 * The rows of a seed by the text of their natural key. A row that `like` has alike is the same object, so a million rows of
 * which few differ are in memory once. Throws a DataRefusal.
 */
export async function readRows(of: SeedOfSide, like?: Records, isSame?: SameValue): Promise<Map<string, Cells>> {
  const { seed, side } = of;
  const labels = keyOf(of);
  const rows = new Map<string, Cells>();
  const refuse = (line: number, reason: string): never => {
    throw new DataRefusal(`${side}: ${placeOf(seed, line)}: ${reason}`);
  };
  for await (const block of blocksOf(of)) {
    for (const { line, values } of block) {
      const found = naturalKey(labels, values);
      if (found === undefined) return refuse(line, `the row lacks ${labels.join(" and ")}, its natural key; add it`);
      if (rows.has(found)) refuse(line, "a row before this one has the same natural key; change or remove one");
      const known = like?.get(found);
      const isKnown = known !== undefined && isSameRecord(known, values, isSame);
      const { key, cells } = copyValues({ key: found, cells: isKnown ? null : values });
      rows.set(String(key), isKnown ? known : (cells as Cells));
    }
  }
  return rows;
}

/** True if `to` has a row of a seed that is not as at the base: it may not go as a whole. */
export async function hasOwnRows({ to, from, base }: PromotionSides, seed: string, former: string): Promise<boolean> {
  const there = findSeed(to.declared, seed, to.name);
  const was = findSeed(base, former, `${from.name} at the base`);
  const rows = was ? await readRows(was) : new Map<string, Cells>();
  const isSame = comparing(was ? linkedIn(was) : new Set());
  return there !== undefined && [...(await readRows(there, rows, isSame))].some(([key, row]) => rows.get(key) !== row);
}

/** The merge of a seed's rows. */
export interface RowsMerge extends RecordMerge {
  key: readonly string[];
  notes: string[];
  /** Columns that `to` gets under another name. */
  renamed: RenamedColumn[];
}

/** A seed on each side; the base may have none. */
interface ThreeSeeds {
  was: SeedOfSide | undefined;
  is: SeedOfSide;
  there: SeedOfSide;
}

/** Merges the rows of one seed; undefined where `from` has changed none. `former` is its name at the base. */
export async function mergeRows(
  { from, to, base, shared }: PromotionSides,
  seed: string,
  former: string,
  decideRow: (key: string) => Decide,
): Promise<RowsMerge | { note: string } | undefined> {
  const declared = { is: findSeed(from.declared, seed, from.name), there: findSeed(to.declared, seed, to.name) };
  if (!declared.is || !declared.there) return undefined;
  if (declared.is.seed.sensitive || declared.there.seed.sensitive)
    return { note: `rows of ${seed} are sensitive: they are not compared; bring them over yourself` };
  const first = findSeed(base, former, `${from.name} at the base`);
  const { renamed, was, is, there } = await followColumns({ was: first, is: declared.is, there: declared.there }, seed);
  const key = keyOf(is);
  const linked = new Set([...linkedIn(is), ...linkedIn(there)]);
  const isSame = comparing(linked);
  const rows = was ? await readRows(was) : new Map<string, Cells>();
  const begun = shared.now && findSeed(shared.now, seed, shared.now.file);
  const isBase = begun && keyOf(begun).join() === key.join() && [is, there].some((side) => hasOtherRows(begun, side));
  const earlier = shared.base && findSeed(shared.base, former, `${shared.base.file} at the base`);
  const known = isBase && earlier ? await readRows(earlier) : new Map<string, Cells>();
  const isNew = ([name]: [string, Cells]): boolean => !rows.has(name) && !known.has(name);
  const more = isBase ? [...(await readRows(begun, rows, isSame))].filter(isNew) : [];
  for (const [name, row] of more) rows.set(name, row);
  const source = await readRows(is, rows, isSame);
  // What one environment never had is no removal.
  for (const [name] of more) if (!source.has(name)) rows.delete(name);
  const isChanged = source.size !== rows.size || [...source].some(([name, row]) => rows.get(name) !== row);
  if (!isChanged && renamed.length === 0) return undefined;
  if (source.size === 0 && rows.size > 0) {
    return {
      note: `${from.name} has no rows of ${seed} any more: nothing is removed; remove the seed instead, or the rows in ${to.name} yourself`,
    };
  }
  const secret = new Set(
    [was, is, there].flatMap((side) =>
      side ? (side.seed.secretLabels ?? []).map((label) => nameIn(side, label)) : [],
    ),
  );
  const sides = { base: rows, from: source, to: await readRows(there, rows, isSame) };
  const merge = mergeRecords(
    { base: visible(sides.base, secret), from: visible(sides.from, secret), to: visible(sides.to, secret) },
    { key, decide: (text, label) => decideRow(printableKey(key, text))(text, label), isSame },
  );
  const notes = hasSecretChange(sides, secret)
    ? [`${[...secret].join(", ")} of ${seed} is secret: it is not compared; bring it over yourself`]
    : [];
  return { ...merge, key, notes, renamed };
}

const hasOtherRows = (one: SeedOfSide, other: SeedOfSide): boolean =>
  (["source", "rows", "rows+", "rows~", "rows-"] as const).some(
    (name) => canonical(one.seed[name]) !== canonical(other.seed[name]),
  );

/** Labels whose values are keys of other rows, by the names under which they are compared. */
const linkedIn = (side: SeedOfSide): Set<string> =>
  new Set(listLinkedLabels(side.seed).map((label) => nameIn(side, label)));

/** Compares values as rows do, links as keys. */
const comparing =
  (linked: ReadonlySet<string>): SameValue =>
  (label, one, other) =>
    linked.has(label) ? keyText(one) === keyText(other) : isSameValue(label, one, other);

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

/**
 * Follows columns to which `from` gave another name: all sides are compared under that. Throws a DataRefusal where `to` alone
 * gave one, or one side alone has another key.
 */
async function followColumns(
  { was, is, there }: ThreeSeeds,
  seed: string,
): Promise<ThreeSeeds & Pick<RowsMerge, "renamed">> {
  const columns = was ? await findRenamed(was, is) : new Map<string, string>();
  const labels = await labelsIn(there);
  for (const [former, now] of was ? await findRenamed(was, there) : [])
    if (columns.get(former) !== now)
      throw new DataRefusal(
        `${there.side} calls the column ${former} of ${seed} ${now} now: rename it in ${is.side} as well, then promote`,
      );
  const renamed = [...columns].flatMap(([former, now]) => (labels.includes(former) ? { former, now } : []));
  const both = renamed.find(({ now }) => labels.includes(now));
  if (both)
    throw new DataRefusal(
      `the column ${both.former} of ${seed} is ${both.now} by now, and ${there.side} has both: take one of them out there, then promote`,
    );
  const followed = { was: was && { ...was, columns }, is, there: { ...there, columns } };
  assertOneKey(followed, seed);
  return { ...followed, renamed };
}

/** Throws a DataRefusal where the sides have several keys. */
function assertOneKey({ was, is, there }: ThreeSeeds, seed: string): void {
  const [source = "", target = "", before = source] = [is, there, ...(was ? [was] : [])].map((side) =>
    keyOf(side).join(" and "),
  );
  if (source === target && before !== source)
    throw new DataRefusal(
      `the key of ${seed} is ${source} by now, and was ${before}: write the commit that changed it into promotions.yaml, then promote`,
    );
  if (source === target) return;
  const [name, other, key] = target === before ? [is, there, source] : [there, is, target];
  throw new DataRefusal(
    `the key of ${seed} is ${source} in ${is.side} and ${target} in ${there.side}: change it in ${other.side} as in ${name.side} (key: ${key}), then promote`,
  );
}

/** Labels of a seed's first rows; of a CSV all. */
async function labelsIn(side: SeedOfSide): Promise<string[]> {
  for await (const rows of blocksOf(side))
    if (rows.length > 0) return [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  return [];
}

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
  const known = await readRows(was);
  for (const [key, cells] of await readRows(side)) {
    const base = known.get(key);
    for (const pair of base ? pairs : []) {
      const [was, is] = [base?.[pair.former], cells[pair.now]];
      if (isNothing(was) && isNothing(is)) continue;
      pair.seen++;
      if (isSameValue("", was, is)) pair.same++;
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
