import { nearest } from "../../../machine/spelling.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { some } from "../../../platform/messages/text.ts";
import { formerKeys } from "../../../provider/environment/declaration.ts";
import {
  holdsConfigured,
  leadsTo,
  namedMaps,
  type SeedDeclaration,
  withRowEdits,
} from "../../../provider/environment/schema.ts";
import { describePlace, toPlainValue, type Value } from "../../../provider/layers/document.ts";
import { canonical, type Cells, keyText, naturalKey, printableKey } from "../../../provider/seedRows/digests.ts";
import { read, SourceError } from "../../../provider/seedRows/source/read.ts";
import {
  copyValues,
  isRounded,
  listLinkedLabels,
  placeOf,
  rounded,
  type SourceRow,
} from "../../../provider/seedRows/source/source.ts";
import { stable } from "../../report/changeSet.ts";
import { DataRefusal, type Declared } from "../../report/environments.ts";
import {
  type Decide,
  isSameRecord,
  isSameValue,
  mergeRecords,
  type MergeSides,
  type RecordMerge,
  type Records,
  type SameValue,
  type Takeover,
  type ThreeValues,
} from "../merge.ts";
import type { RenamedColumn } from "../placing.ts";

/** The commit at which a promotion begins, and why it is this one. */
export interface PromotionBase {
  commit: string;
  /** `entry`: promotions.yaml names it; `return`: the other direction was promoted in it; `fork`: both files are there since. */
  by: "entry" | "return" | "fork";
}

/** A thing by its path in the file, or a row of a seed by its natural key. */
interface PromotedSubject {
  /** As people name it, and as `--only` takes it: `countries/DE`. */
  name: string;
  path: readonly string[];
  /** The text of a row's natural key, and the labels of it. */
  row?: { key: string; labels: readonly string[] };
}

/** Something that the environment gets. */
export type PromotedChange = PromotedSubject & (Takeover | ColumnRename);

/** A column of a seed gets another name. */
interface ColumnRename extends RenamedColumn {
  do: "rename";
}

/** Something that both sides changed, and not alike: a cell by its label, or all of it. */
export type PromotionConflict = PromotedSubject & { label?: string | undefined } & ThreeValues;

/** Two environments and their common base, as far as they are compared. */
export interface PromotionSides {
  from: { name: string; declared: Declared };
  to: { name: string; declared: Declared };
  base: Declared;
  /** A file that both extend, at the base and now: what it has since is the beginning of each. */
  shared: Record<"base" | "now", Declared | undefined>;
}

/** The outcome of a comparison: everything that the environment gets, and what stands in the way. */
export interface Promotion {
  from: string;
  to: string;
  base: PromotionBase;
  taken: PromotedChange[];
  conflicts: PromotionConflict[];
  /** Changes of `from` that are left for another time, since `--only` does not name them. */
  left: PromotedChange[];
  leftConflicts: number;
  /** Things and rows in which `to` alone differs from the base. */
  untouched: number;
  /** Things and rows in which `--ours` kept what `to` has. */
  kept: number;
  /** Things and rows that both sides changed alike since the base. */
  alike: number;
  notes: string[];
}

export const isSeed = (subject: PromotedSubject): boolean => subject.path[0] === "seeds" && !subject.row;

export type Seeds = Readonly<Record<string, SeedDeclaration>>;

/** Parts of an Environment file that are promoted; the others are about the environment itself. */
const promoted = ["organizations", "seeds", "apps", "notifications"];

/** Maps whose entries are records of their own; those of `references` are a part of their seed. */
const recordMaps = namedMaps.filter(({ kind }) => kind !== "reference").map(({ steps }) => steps);

/** Labels of a seed that hold rows: these are merged by their own key, wherever they stand. */
const rowLabels = ["source", "rows", "rows+", "rows~", "rows-"];

/** One thing with settings: where it stands in the file, and its settings as they are written. */
interface SettingRecord {
  path: readonly string[];
  cells: Cells;
}

/** Stands for a setting that comes from the configuration: nobody promotes it. */
const configured = { config: "…" };

/** A path as the key of a record. */
export const pathText = (path: readonly string[]): string => JSON.stringify(path);
const pathIn = (text: string): string[] => JSON.parse(text) as string[];

/** Everything in an Environment file besides rows, thing by thing; those above come first. */
export function settingsIn(root: Value): Map<string, SettingRecord> {
  const found = new Map<string, SettingRecord>();
  if (root.kind !== "map") return found;
  for (const name of promoted) {
    const entry = root.entries.get(name);
    if (entry) takeMap(entry.value, [name], found);
  }
  return found;
}

const isRecordMap = (path: readonly string[]): boolean => recordMaps.some((steps) => leadsTo(path, steps));

function takeMap(map: Value, path: readonly string[], found: Map<string, SettingRecord>): void {
  if (map.kind !== "map") return;
  for (const [name, { value }] of map.entries) takeRecord(value, [...path, name], found);
}

function takeRecord(value: Value, path: readonly string[], found: Map<string, SettingRecord>): void {
  const cells: Record<string, unknown> = {};
  found.set(pathText(path), { path, cells });
  // A member may be a role alone.
  const entries: [string, Value][] =
    value.kind === "map" && !isReference(value)
      ? [...value.entries].map(([name, entry]) => [name, entry.value])
      : [["role", value]];
  for (const [name, held] of entries) {
    const below = [...path, name];
    if (isRecordMap(below)) takeMap(held, below, found);
    else if (name === "roster" && path.length === 4) takeRecord(held, below, found);
    else if (path[0] === "seeds" && rowLabels.includes(name)) continue;
    else cells[name] = holdsConfigured(held) ? configured : exactValue(held);
  }
}

const isReference = (value: Value): boolean =>
  holdsConfigured(value) && value.kind === "map" && value.entries.has("config");

/** The path that things have now which stood at another one, by `formerly`: the former first. */
export function renamesIn(
  settings: ReadonlyMap<string, SettingRecord>,
): [former: readonly string[], now: readonly string[]][] {
  return [...settings.values()].flatMap(({ path, cells }) =>
    formerKeys(cells["formerly"] as string | string[] | undefined).map((former): [string[], readonly string[]] => [
      [...path.slice(0, -1), former],
      path,
    ]),
  );
}

export const isBelow = (path: readonly string[], above: readonly string[]): boolean =>
  above.length <= path.length && above.every((step, at) => step === path[at]);

/** The maps on the way that nobody names. */
const wayLabels = new Set(["organizations", "teams", "members", "seeds", "files", "apps", "notifications"]);

/** A thing as people name it: `countries`, `acme/crew/eve@example.com`. */
const nameOfPath = (path: readonly string[]): string =>
  path
    .filter((step, at) => !(at % 2 === 0 && wayLabels.has(step)) && !(step === "members" && path[at - 1] === "roster"))
    .join("/");

/** A value, whose numbers are as they are written. Throws a DataRefusal. */
function exactValue(value: Value): unknown {
  assertExact(value);
  return toPlainValue(value);
}

function assertExact(value: Value): void {
  if (value.kind === "list") value.items.forEach(assertExact);
  else if (value.kind === "map") for (const entry of value.entries.values()) assertExact(entry.value);
  else if (typeof value.value === "number" && isRounded(value.written ?? "", value.value))
    throw new DataRefusal(`${describePlace(value.at)}: a number ${rounded}`);
}

/** The merge of everything besides rows. */
interface SettingsMerge extends RecordMerge {
  notes: string[];
  /** The path that a thing has now, by that of the base. */
  pathNow: (path: readonly string[]) => readonly string[];
}

interface Roots {
  base: Value | undefined;
  from: Value;
  to: Value;
}

interface Terms {
  /** A file that both extend, at the base and now: what `from` has of what is new there begins with that. */
  shared: Record<"base" | "now", Value | undefined>;
  names: { from: string; to: string };
  decide: Decide;
}

/** Merges the settings of things. Throws a DataRefusal where one side alone has renamed a thing. */
function mergeSettings({ base, from, to }: Roots, { names, decide, shared }: Terms): SettingsMerge {
  const [before, source, target] = [base, from, to].map((root) => (root ? settingsIn(root) : new Map()));
  const sides = { base: before ?? new Map(), from: source ?? new Map(), to: target ?? new Map() };
  const pathNow = renaming(sides, names);
  const rebased = new Map(
    [...sides.base.values()].map((record: SettingRecord) => {
      const path = pathNow(record.path);
      return [pathText(path), { ...record, path }] as const;
    }),
  );
  const earlier = shared.base && settingsIn(shared.base);
  for (const [key, record] of shared.now ? settingsIn(shared.now) : [])
    if (!rebased.has(key) && !earlier?.has(key) && sides.from.has(key)) rebased.set(key, record);
  const notes: string[] = [];
  const cellsOf = (records: ReadonlyMap<string, SettingRecord>): Records =>
    new Map([...records].map(([key, { cells }]) => [key, cells]));
  const merge = mergeRecords(
    { base: cellsOf(rebased), from: cellsOf(sides.from), to: cellsOf(sides.to) },
    { decide, isSame: (_, one, other) => stable(one) === stable(other) },
  );
  /** True for a value that is left, with a note. */
  const isLeft = (key: string, label: string, ...values: unknown[]): boolean => {
    const isConfigured = values.includes(configured);
    if (isConfigured)
      notes.push(
        `${label} of ${nameOfPath(pathIn(key))} comes from the configuration on one side: it is left as ${names.to} has it`,
      );
    return isConfigured;
  };
  const taken = merge.taken.flatMap((change): Takeover[] => {
    const { key } = change;
    if (change.do === "change") {
      const cells = Object.entries(change.cells).filter(
        ([label, { base, from, to }]) => !isLeft(key, label, base, from, to),
      );
      return cells.length === 0 ? [] : [{ ...change, cells: Object.fromEntries(cells) }];
    }
    if (change.do === "add") {
      const cells = Object.entries(change.cells).filter(([label, value]) => !isLeft(key, label, value));
      return [{ ...change, cells: Object.fromEntries(cells) }];
    }
    const group = emptiedGroup(pathIn(key), sides.from);
    if (group === undefined) return [change];
    notes.push(
      `${names.from} has none of ${group} any more: nothing of it is removed; remove it in ${names.to} yourself`,
    );
    return [];
  });
  const conflicts = merge.conflicts.filter(
    ({ key, label, base, from, to }) => label === undefined || !isLeft(key, label, base, from, to),
  );
  return { ...merge, taken, conflicts, notes: [...new Set(notes)], pathNow };
}

type SettingSides = Record<"base" | "from" | "to", ReadonlyMap<string, SettingRecord>>;

/** Follows `formerly`: a thing that both sides call otherwise by now is the same as that of the base. */
function renaming({ base, from, to }: SettingSides, names: Terms["names"]): SettingsMerge["pathNow"] {
  const renames: [readonly string[], readonly string[]][] = [];
  const sides = [
    { here: from, there: to, name: names.from, other: names.to },
    { here: to, there: from, name: names.to, other: names.from },
  ];
  for (const { here, there, name, other } of sides) {
    for (const [former, now] of renamesIn(here)) {
      if (!base.has(pathText(former)) || here.has(pathText(former))) continue;
      if (there.has(pathText(former)) && !there.has(pathText(now))) {
        const step = `rename it in ${other} as well (${former.at(-1) ?? ""} → ${now.at(-1) ?? ""}, with formerly)`;
        throw new DataRefusal(`${name} calls ${nameOfPath(former)} ${nameOfPath(now)} now: ${step}, then promote`);
      }
      renames.push([former, now]);
    }
  }
  return (path) =>
    renames.reduce<readonly string[]>(
      (found, [former, now]) => (isBelow(found, former) ? [...now, ...found.slice(former.length)] : found),
      path,
    );
}

/** The map that a removal would leave empty in `from`, while what it is below is still there: that may be a mistake. */
function emptiedGroup(path: readonly string[], from: ReadonlyMap<string, SettingRecord>): string | undefined {
  const group = path.slice(0, -1);
  const above = path.at(-1) === "roster" ? path : group.slice(0, -1);
  if (path.at(-1) === "roster" || (above.length > 0 && !from.has(pathText(above)))) return undefined;
  const isThere = [...from.values()].some((record) => record.path.length > group.length && isBelow(record.path, group));
  return isThere ? undefined : [nameOfPath(above), group.at(-1)].filter(Boolean).join("/");
}

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
async function hasOwnRows({ to, from, base }: PromotionSides, seed: string, former: string): Promise<boolean> {
  const there = findSeed(to.declared, seed, to.name);
  const was = findSeed(base, former, `${from.name} at the base`);
  const rows = was ? await readRows(was) : new Map<string, Cells>();
  const isSame = comparing(was ? linkedIn(was) : new Set());
  return there !== undefined && [...(await readRows(there, rows, isSame))].some(([key, row]) => rows.get(key) !== row);
}

/** The merge of a seed's rows. */
interface RowsMerge extends RecordMerge {
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
async function mergeRows(
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

/** Terms of a promotion: how conflicts are decided, and which changes are chosen. */
export interface PromotionTerms {
  only: readonly string[];
  ours: readonly string[];
  theirs: readonly string[];
}

/** What a promotion is made of, before it is chosen from. */
type Found = Pick<Promotion, "taken" | "conflicts" | "notes" | "untouched" | "kept" | "alike">;

/** Compares two environments with their base, and plans what the later one gets. Writes nothing. Throws a DataRefusal. */
export async function planPromotion(
  sides: PromotionSides,
  base: PromotionBase,
  terms: PromotionTerms,
): Promise<Promotion> {
  const { from, to } = sides;
  const found: Found = { taken: [], conflicts: [], notes: [], untouched: 0, kept: 0, alike: 0 };
  const decision = (name: string, label?: string): ReturnType<Decide> => {
    const isIn = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => isNamed(label === undefined ? name : `${name}/${label}`, pattern));
    return isIn(terms.ours) ? "ours" : isIn(terms.theirs) ? "theirs" : undefined;
  };
  const roots = { base: sides.base.document?.root, from: rootOf(from), to: rootOf(to) };
  const settings = mergeSettings(roots, {
    shared: { base: sides.shared.base?.document?.root, now: sides.shared.now?.document?.root },
    names: { from: from.name, to: to.name },
    decide: (key, label) => decision(nameOfPath(pathIn(key)), label),
  });
  await takeSettings(found, sides, settings, decision);
  await takeRows(found, sides, settings, decision);
  const paths = Object.values(roots).flatMap((root) => (root ? [...settingsIn(root).values()] : []));
  const known = new Set(paths.flatMap(({ path }) => [nameOfPath(path), path.join("/")]));
  const { only, ours, theirs } = terms;
  assertKnown([...only, ...ours, ...theirs], known, [...found.taken, ...found.conflicts]);
  const touches = ({ name, path }: PromotionConflict): boolean =>
    only.length === 0 || only.some((each) => isNamed(name, each) || isNamed(path.join("/"), each));
  const conflicts = found.conflicts.filter(touches);
  return {
    ...found,
    ...{ from: from.name, to: to.name, base, notes: [...new Set(found.notes)] },
    ...select(found.taken, only, from.declared.declaration.seeds),
    ...{ conflicts, leftConflicts: found.conflicts.length - conflicts.length },
  };
}

function rootOf({ name, declared }: PromotionSides["from"]): Value {
  const root = declared.document?.root;
  if (!root) throw new DataRefusal(`${declared.file} of ${name} breaks a rule: "microapps environment check" names it`);
  return root;
}

type Decision = (name: string, label?: string) => ReturnType<Decide>;

function count(found: Found, { untouched, kept, alike }: RecordMerge): void {
  found.untouched += untouched;
  found.kept += kept.length;
  found.alike += alike;
}

async function takeSettings(
  found: Found,
  sides: PromotionSides,
  settings: SettingsMerge,
  decision: Decision,
): Promise<void> {
  count(found, settings);
  found.notes.push(...settings.notes);
  const removed = settings.taken.flatMap(({ do: verb, key }) => (verb === "remove" ? [pathIn(key)] : []));
  for (const change of settings.taken) {
    const path = pathIn(change.key);
    const subject = { name: nameOfPath(path), path };
    const isOwn = change.do === "remove" && (await hasOwn(sides, path, removed, settings));
    const decided = isOwn ? decision(subject.name) : "theirs";
    // It goes with what it is below.
    const isBelowRemoved = removed.some((above) => above.length < path.length && isBelow(path, above));
    if (decided === "ours") found.kept++;
    else if (decided === undefined)
      found.conflicts.push({ ...subject, base: change.cells, from: undefined, to: "has rows or people of its own" });
    else if (isOwn || change.do !== "remove" || !isBelowRemoved) found.taken.push({ ...subject, ...change });
  }
  for (const conflict of settings.conflicts) {
    const path = pathIn(conflict.key);
    found.conflicts.push({ name: nameOfPath(path), path, ...conflict });
  }
}

/** True if `to` has something below a thing that would go, and that is not at the base. */
async function hasOwn(
  sides: PromotionSides,
  path: readonly string[],
  removed: readonly (readonly string[])[],
  settings: SettingsMerge,
): Promise<boolean> {
  const isRemoved = (other: readonly string[]): boolean =>
    removed.some((each) => each.length === other.length && isBelow(other, each));
  for (const record of settingsIn(rootOf(sides.to)).values())
    if (isBelow(record.path, path) && !isRemoved(record.path)) return true;
  const [kind, seed = ""] = path;
  return kind === "seeds" && hasOwnRows(sides, seed, formerSeed(sides, seed, settings));
}

const formerSeed = ({ base }: PromotionSides, seed: string, { pathNow }: SettingsMerge): string =>
  Object.keys(base.declaration.seeds).find((name) => pathNow(["seeds", name])[1] === seed) ?? seed;

async function takeRows(
  found: Found,
  sides: PromotionSides,
  settings: SettingsMerge,
  decision: Decision,
): Promise<void> {
  for (const seed of sides.from.declared.declaration.seedOrder) {
    const merge = await mergeRows(
      sides,
      seed,
      formerSeed(sides, seed, settings),
      (key) => (_, label) => decision(`${seed}/${key}`, label),
    );
    if (!merge) continue;
    if ("note" in merge) {
      found.notes.push(merge.note);
      continue;
    }
    count(found, merge);
    found.notes.push(...merge.notes);
    const { key: labels } = merge;
    const whole = { name: seed, path: ["seeds", seed] };
    const rowOf = ({ key }: { key: string }): PromotedSubject => ({
      ...{ name: `${seed}/${printableKey(labels, key)}`, path: whole.path, row: { key, labels } },
    });
    for (const renamed of merge.renamed) found.taken.push({ ...whole, do: "rename", ...renamed });
    for (const change of merge.taken) found.taken.push({ ...rowOf(change), ...change });
    for (const conflict of merge.conflicts) found.conflicts.push({ ...rowOf(conflict), ...conflict });
  }
}

/** True if a name on the command line means something: itself, or a thing that it is below. */
const isNamed = (name: string, pattern: string): boolean => name === pattern || name.startsWith(`${pattern}/`);

/** A thing or row by its name, or by its full path in the file, which differs for things of one name. */
const isMeant = ({ name, path, row }: PromotedSubject, pattern: string): boolean =>
  isNamed(name, pattern) || isNamed([...path, ...(row ? [name.slice(name.indexOf("/") + 1)] : [])].join("/"), pattern);

/** Throws a DataRefusal for a name on the command line that no environment has. */
function assertKnown(
  patterns: readonly string[],
  known: ReadonlySet<string>,
  subjects: readonly PromotedSubject[],
): void {
  for (const pattern of patterns) {
    const isThere = [...known].some((name) => isNamed(name, pattern) || isNamed(pattern, name));
    if (isThere || subjects.some((subject) => isMeant(subject, pattern))) continue;
    // The thing of a row may be misspelt.
    const [thing = pattern] = pattern.split("/", 1);
    const near = nearest(pattern, [...known]) ?? nearest(thing, [...known]);
    const short = [...known].filter((name) => !/^(organizations|seeds|apps)\//.test(name));
    const advice = near === undefined ? `there is ${some(short, 20)}` : `did you mean ${near}?`;
    throw new DataRefusal(`neither environment has ${pattern}: ${advice}`);
  }
}

/**
 * Chooses changes by name; all where none is given. Throws a DataRefusal that names what a chosen one links to and which
 * is left out: without it there would be a link to nothing.
 */
function select(
  changes: readonly PromotedChange[],
  patterns: readonly string[],
  seeds: Seeds,
): Pick<Promotion, "taken" | "left"> {
  if (patterns.length === 0) return { taken: [...changes], left: [] };
  const taken = new Set(changes.filter((change) => patterns.some((pattern) => isMeant(change, pattern))));
  const linksOf = linking(changes, seeds);
  const missing = new Map<string, string>();
  for (const change of taken)
    for (const needed of linksOf(change)) if (!taken.has(needed)) missing.set(needed.name, change.name);
  if (missing.size > 0) {
    const reasons = [...missing].map(([name, by]) => `${by} links to ${name}`);
    const names = [...patterns, ...missing.keys()].map((name) =>
      /[^\w/@.+-]/.test(name) ? JSON.stringify(name) : name,
    );
    throw new DataRefusal(
      `${some(reasons, 5)}, which --only leaves out: name ${missing.size === 1 ? "it" : "them"} as well (--only ${some(names, 20)})`,
    );
  }
  return { taken: [...taken], left: changes.filter((change) => !taken.has(change)) };
}

/** Finds what a change links to among all changes. */
function linking(changes: readonly PromotedChange[], seeds: Seeds): (change: PromotedChange) => PromotedChange[] {
  const rowName = (seed: string, key: string): string => JSON.stringify([seed, key]);
  const rows = new Map(
    changes.flatMap((change) => (change.row ? [[rowName(change.path[1] ?? "", change.row.key), change] as const] : [])),
  );
  const added = (isMeant: (path: readonly string[]) => boolean): PromotedChange[] =>
    changes.filter((change) => change.do === "add" && !change.row && isMeant(change.path));
  const addedSeeds = (names: readonly string[]): PromotedChange[] =>
    added(([kind, name = ""]) => kind === "seeds" && names.includes(name));

  /** The seeds that a seed names, and the teams that see its rows. */
  const ofSeed = (name: string): PromotedChange[] => {
    const teams = (seeds[name]?.teamViewers ?? []).flatMap((viewer) => {
      const [organization = "", team = ""] = typeof viewer === "string" ? [] : viewer.team.split("/");
      return typeof viewer === "string" ? [] : [["organizations", organization, "teams", team]];
    });
    return [
      ...addedSeeds(mentionsIn(seeds, name).map(({ seed }) => seed)),
      ...added((path) => path[0] === "organizations" && teams.some((team) => isBelow(team, path))),
    ];
  };

  const ofRow = (name: string, change: PromotedChange): PromotedChange[] => {
    const cells = cellsOf(change);
    // A run writes no such cell of a row that is there.
    const ignored = change.do === "change" ? (seeds[name]?.ignoreLabels ?? []) : [];
    return mentionsIn(seeds, name)
      .filter(({ label }) => !ignored.includes(label))
      .flatMap(({ label, seed }) => {
        const keys = [cells[label]].flat().flatMap((value) => keyText(value) ?? []);
        return [...keys.flatMap((key) => rows.get(rowName(seed, key)) ?? []), ...addedSeeds([seed])];
      });
  };

  /** The app that an invitation opens. */
  const ofMember = (change: PromotedChange): PromotedChange[] => {
    const target = cellsOf(change)["targetInitialApp"];
    const app = typeof target === "object" && target !== null && "app" in target ? target.app : undefined;
    return app === undefined ? [] : added((path) => path[0] === "apps" && path[1] === app);
  };

  return (change) => {
    if (change.do === "remove" || change.do === "rename") return [];
    const above = added((path) => path.length < change.path.length && isBelow(change.path, path));
    const [kind, seed = ""] = change.path;
    if (kind !== "seeds") return [...above, ...ofMember(change)];
    // A row of a seed that is new comes with it, and a cell with the name of its column.
    const own = change.row ? addedSeeds([seed]) : [];
    const columns = changes.filter(
      (other) => other.do === "rename" && change.row && other.path[1] === seed && other.now in cellsOf(change),
    );
    return [...above, ...own, ...columns, ...(isSeed(change) ? ofSeed(seed) : ofRow(seed, change))];
  };
}

/** The labels of a seed whose values are keys of another one's rows, or are expected to stand there. */
function mentionsIn(seeds: Seeds, name: string): { label: string; seed: string }[] {
  const { references = {}, parent, expect } = seeds[name] ?? {};
  const expected = Object.entries(expect?.relationships ?? {});
  const links = [...Object.entries(references), ...expected, ...(parent ? [[parent.by, parent] as const] : [])];
  return links.flatMap(([label, rows]) => {
    if ("seed" in rows) return [{ label, seed: rows.seed }];
    const isOf = ({ table, key }: Seeds[string]): boolean => table === rows.table && key.join() === rows.key;
    return Object.entries(seeds).flatMap(([seed, other]) => (isOf(other) ? [{ label, seed }] : []));
  });
}

/** The cells of a change as `from` has them. */
function cellsOf(change: PromotedChange): Cells {
  if (change.do === "rename") return {};
  if (change.do !== "change") return change.cells;
  return Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from]));
}
