import { canonical, keyText, type Cells } from "../../provider/seedRows/digests.ts";

/** Records by the text of their natural key, in their order. */
export type Records = ReadonlyMap<string, Cells>;

/** True if two values say the same. */
export type SameValue = (label: string, one: unknown, other: unknown) => boolean;

/** Compares two values as rows do: null, the empty text and an absent value are the same. */
export const isSameValue: SameValue = (_, one, other) => one === other || canonical(one) === canonical(other);

/** True if two records say the same in every cell. */
export function isSameRecord(
  one: Cells | undefined,
  other: Cells | undefined,
  isSame: SameValue = isSameValue,
): boolean {
  if (one === other || !one || !other) return one === other;
  for (const label of Object.keys(one)) if (!isSame(label, one[label], other[label])) return false;
  for (const label of Object.keys(other))
    if (!Object.hasOwn(one, label) && !isSame(label, undefined, other[label])) return false;
  return true;
}

/** One value, or one record, as each side of a merge has it: what changed from `base` to `from` is brought into `to`. */
export interface ThreeValues<Value = unknown> {
  base: Value | undefined;
  from: Value | undefined;
  to: Value | undefined;
}

export type MergeSides = Record<keyof ThreeValues, Records>;

/** Something that both sides changed, and not alike. */
type MergeConflict =
  | ({ key: string; label: string } & ThreeValues)
  | ({ key: string; label?: undefined } & ThreeValues<Cells>);

/** Cells of a record that change, by label. */
type CellChanges = Readonly<Record<string, ThreeValues>>;

/** Something that `to` gets. */
export type Takeover =
  | { do: "add"; key: string; cells: Cells }
  | { do: "change"; key: string; cells: CellChanges }
  | { do: "remove"; key: string; cells: Cells };

/** Decides a conflict: `ours` keeps what `to` has, `theirs` takes what `from` has. */
export type Decide = (key: string, label: string | undefined) => "ours" | "theirs" | undefined;

interface MergeTerms {
  isSame?: SameValue;
  decide?: Decide;
  /** Labels of the natural key. With them, two corrections of the key of one record conflict. */
  key?: readonly string[];
}

/** The outcome of a merge. */
export interface RecordMerge {
  taken: Takeover[];
  conflicts: MergeConflict[];
  /** Records in which `to` alone differs from the base: they stay as they are. */
  untouched: number;
  /** Keys of records in which a decision kept what `to` has. */
  kept: string[];
  /** Records in which both sides made the same change. */
  alike: number;
}

/** Merges by natural key and cell. Pure: the same sides have the same outcome, and none is changed. */
export function mergeRecords(sides: MergeSides, terms: MergeTerms = {}): RecordMerge {
  const { isSame = isSameValue, decide = () => undefined } = terms;
  const merge: RecordMerge = { taken: [], conflicts: [], untouched: 0, kept: [], alike: 0 };
  const names = new Set([...sides.from.keys(), ...sides.base.keys()]);
  for (const key of names) {
    const [base, from, to] = [sides.base.get(key), sides.from.get(key), sides.to.get(key)];
    if (isSameRecord(base, from, isSame)) merge.untouched += isSameRecord(base, to, isSame) ? 0 : 1;
    else if (isSameRecord(from, to, isSame)) merge.alike++;
    else if (from && to) mergeCells(merge, key, { base, from, to }, isSame, decide);
    else {
      const decision = isSameRecord(base, to, isSame) ? "theirs" : decide(key, undefined);
      if (decision === "ours") merge.kept.push(key);
      else if (decision === undefined) merge.conflicts.push({ key, base, from, to });
      else if (from) merge.taken.push({ do: "add", key, cells: from });
      else if (to) merge.taken.push({ do: "remove", key, cells: to });
    }
  }
  for (const key of sides.to.keys()) if (!names.has(key)) merge.untouched++;
  if (terms.key) mergeCorrectedKeys(merge, sides, terms.key, decide);
  return merge;
}

function mergeCells(
  merge: RecordMerge,
  key: string,
  { base, from, to }: { base: Cells | undefined; from: Cells; to: Cells },
  isSame: SameValue,
  decide: Decide,
): void {
  const changes: [label: string, values: ThreeValues][] = [];
  let [stays, isKept, isAlike] = [false, false, false];
  for (const label of new Set([from, to, base ?? {}].flatMap((cells) => Object.keys(cells)))) {
    const values = { base: base?.[label], from: from[label], to: to[label] };
    const isChanged = !isSame(label, values.base, values.from);
    if (isSame(label, values.from, values.to)) isAlike ||= isChanged;
    else if (!isChanged) stays = true;
    else {
      const decision = isSame(label, values.base, values.to) ? "theirs" : decide(key, label);
      if (decision === "theirs") changes.push([label, values]);
      else if (decision === "ours") isKept = true;
      else merge.conflicts.push({ key, label, ...values });
    }
  }
  if (changes.length > 0) merge.taken.push({ do: "change", key, cells: Object.fromEntries(changes) });
  if (isAlike) merge.alike++;
  if (isKept) merge.kept.push(key);
  else if (stays) merge.untouched++;
}

/** Records whose key both sides corrected, and not alike, conflict: with both rows one thing would be there twice. */
function mergeCorrectedKeys(
  merge: RecordMerge,
  { base, from, to }: MergeSides,
  key: readonly string[],
  decide: Decide,
): void {
  const gone = new Map([...base].filter(([name]) => !from.has(name) && !to.has(name)));
  if (gone.size === 0) return;
  const find = findingLost(gone, key);
  const correctedIn = (side: Records, other: Records): Map<string, readonly [key: string, cells: Cells]> => {
    const added = [...side].filter(([name]) => !base.has(name) && !other.has(name));
    const found = added.map(([name, cells]) => [find(cells) ?? "", [name, cells] as const] as const);
    return new Map(found.filter(([former]) => former !== "").toReversed());
  };
  const ours = correctedIn(to, from);
  for (const [name, [source, cells]] of correctedIn(from, to)) {
    const [target, own] = ours.get(name) ?? [];
    if (target === undefined || !own) continue;
    const decision = decide(name, undefined);
    if (decision === "theirs") {
      merge.taken.push({ do: "remove", key: target, cells: own });
      continue;
    }
    merge.taken = merge.taken.filter((change) => change.do !== "add" || change.key !== source);
    if (decision === "ours") merge.kept.push(name);
    else merge.conflicts.push({ key: name, base: gone.get(name), from: cells, to: own });
  }
}

/** Finds the lost record that has most of its cells beside the key as another one has them. */
function findingLost(records: Records, key: readonly string[]): (cells: Cells) => string | undefined {
  const textsOf = (cells: Cells): string[] =>
    Object.entries(cells).flatMap(([label, value]) => {
      const text = key.includes(label) ? undefined : keyText(value);
      return text === undefined ? [] : `${label}\0${text}`;
    });
  const byText = new Map<string, string[]>();
  for (const [name, cells] of records) {
    for (const text of textsOf(cells)) {
      const names = byText.get(text);
      if (names) names.push(name);
      else byText.set(text, [name]);
    }
  }
  return (cells) => {
    const same = new Map<string, number>();
    for (const name of textsOf(cells).flatMap((text) => byText.get(text) ?? []))
      same.set(name, (same.get(name) ?? 0) + 1);
    const [best] = [...same]
      .filter(([name, count]) => count * 2 > textsOf(records.get(name) ?? {}).length)
      .sort(([, one], [, other]) => other - one);
    return best?.[0];
  };
}
