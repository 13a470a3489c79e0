import { canonical, keyText, type Cells } from "../../provider/reconcile/digests.ts";

/** Records by the text of their natural key, in their order. */
export type Records = ReadonlyMap<string, Cells>;

/** True if two values say the same. */
type SameValue = (label: string, one: unknown, other: unknown) => boolean;

/** Compares two values as rows do: null, the empty text and an absent value are the same. */
export const isSameValue: SameValue = (_, one, other) => one === other || canonical(one) === canonical(other);

/** All labels of some records, in the order in which they come up. */
const labelsOf = (...records: readonly (Cells | undefined)[]): string[] => [
  ...new Set(records.flatMap((cells) => (cells ? Object.keys(cells) : []))),
];

/** True if two records say the same in every cell. */
function isSameRecord(one: Cells, other: Cells, isSame: SameValue): boolean {
  if (one === other) return true;
  for (const label of Object.keys(one)) if (!isSame(label, one[label], other[label])) return false;
  for (const label of Object.keys(other))
    if (!Object.hasOwn(one, label) && !isSame(label, undefined, other[label])) return false;
  return true;
}

/** The three sides of a merge: what changed from `base` to `from` is brought into `to`. */
export interface MergeSides {
  base: Records;
  from: Records;
  to: Records;
}

/** One value, or one record, as each side has it; undefined where a side has it not. */
export interface ThreeValues<Value = unknown> {
  base: Value | undefined;
  from: Value | undefined;
  to: Value | undefined;
}

/** Something that both sides changed, and not alike. */
export type MergeConflict =
  | ({ key: string; label: string } & ThreeValues)
  | ({ key: string; label?: undefined } & ThreeValues<Cells>);

/** Cells of a record that change, by label. */
export type CellChanges = Readonly<Record<string, ThreeValues>>;

/** Something that `to` gets. */
export type Takeover =
  /** `after` is the record before it in `from`. */
  | { do: "add"; key: string; cells: Cells; after: string | undefined }
  | { do: "change"; key: string; cells: CellChanges }
  | { do: "remove"; key: string; cells: Cells };

/** Decides a conflict: `ours` keeps what `to` has, `theirs` takes what `from` has. */
export type Decide = (key: string, label: string | undefined) => "ours" | "theirs" | undefined;

export interface MergeTerms {
  isSame?: SameValue;
  decide?: Decide;
  /** Labels of the natural key. With them, two corrections of the key of one record conflict. */
  key?: readonly string[];
}

/** The outcome of a merge. */
export interface RecordMerge {
  taken: Takeover[];
  conflicts: MergeConflict[];
  /** Keys of records in which `to` alone differs from the base: they stay as they are. */
  untouched: string[];
  /** Keys of records in which a decision kept what `to` has. */
  kept: string[];
  /** Records in which both sides made the same change. */
  alike: number;
}

/** Merges by natural key and cell. Pure: the same sides have the same outcome, and none is changed. */
export function mergeRecords(sides: MergeSides, terms: MergeTerms = {}): RecordMerge {
  const merge = new Merge(sides, terms);
  let after: string | undefined;
  for (const [key, cells] of sides.from) {
    merge.record(key, cells, after);
    after = key;
  }
  for (const key of sides.base.keys()) if (!sides.from.has(key)) merge.record(key, undefined, undefined);
  for (const key of sides.to.keys()) {
    if (!sides.from.has(key) && !sides.base.has(key)) merge.outcome.untouched.push(key);
  }
  if (terms.key) merge.corrected(terms.key);
  return merge.outcome;
}

/** Records with one value of a label, beyond which it tells none of them apart. */
const maxAlike = 20;

/** Records of a base that a side has under their key no more: finds the one that a record is, under a corrected key. */
export class LostRecords {
  readonly #records: Records;
  readonly #key: readonly string[];
  readonly #isSame: SameValue;
  readonly #byCell = new Map<string, string[]>();

  constructor(records: Records, key: readonly string[], isSame: SameValue = isSameValue) {
    this.#records = records;
    this.#key = key;
    this.#isSame = isSame;
    for (const [name, cells] of records)
      for (const cell of this.#cellsOf(cells)) this.#byCell.set(cell, [...(this.#byCell.get(cell) ?? []), name]);
  }

  /** The key of the lost record that has most of its other cells as this one has them. */
  find(cells: Cells): string | undefined {
    if (this.#records.size === 0) return undefined;
    let best: { name: string; same: number } | undefined;
    const near = this.#cellsOf(cells).map((cell) => this.#byCell.get(cell) ?? []);
    for (const name of new Set(near.filter((names) => names.length <= maxAlike).flat())) {
      const lost = this.#records.get(name) ?? {};
      const labels = this.#labelsOf(lost);
      const same = labels.filter((label) => this.#isSame(label, lost[label], cells[label])).length;
      if (same * 2 > labels.length && same > (best?.same ?? 0)) best = { name, same };
    }
    return best?.name;
  }

  #labelsOf(cells: Cells): string[] {
    return Object.keys(cells).filter((label) => !this.#key.includes(label) && keyText(cells[label]) !== undefined);
  }

  #cellsOf(cells: Cells): string[] {
    return this.#labelsOf(cells).map((label) => `${label}\0${keyText(cells[label]) ?? ""}`);
  }
}

class Merge {
  readonly outcome: RecordMerge = { taken: [], conflicts: [], untouched: [], kept: [], alike: 0 };
  readonly #sides: MergeSides;
  readonly #isSame: SameValue;
  readonly #decide: Decide;

  constructor(sides: MergeSides, { isSame = isSameValue, decide }: MergeTerms) {
    this.#sides = sides;
    this.#isSame = isSame;
    this.#decide = decide ?? (() => undefined);
  }

  record(key: string, from: Cells | undefined, after: string | undefined): void {
    const [base, to] = [this.#sides.base.get(key), this.#sides.to.get(key)];
    if (this.#same(base, from)) {
      if (!this.#same(base, to)) this.outcome.untouched.push(key);
    } else if (this.#same(from, to)) this.outcome.alike++;
    else if (this.#same(base, to)) this.#take(key, { base, from, to }, after);
    else if (from && to) this.#cells(key, base, from, to);
    else this.#whole(key, { base, from, to }, after);
  }

  /** Records whose key both sides corrected, and not alike: with both rows one thing would be there twice. */
  corrected(key: readonly string[]): void {
    const { base, from, to } = this.#sides;
    const gone = new Map([...base].filter(([name]) => !from.has(name) && !to.has(name)));
    const lost = new LostRecords(gone, key, this.#isSame);
    const correctedIn = (side: Records, other: Records): Map<string, [key: string, cells: Cells]> => {
      const found = new Map<string, [string, Cells]>();
      for (const [name, cells] of gone.size > 0 ? side : []) {
        const former = base.has(name) || other.has(name) ? undefined : lost.find(cells);
        if (former !== undefined && !found.has(former)) found.set(former, [name, cells]);
      }
      return found;
    };
    const [theirs, ours] = [correctedIn(from, to), correctedIn(to, from)];
    const dropped = new Set<string>();
    for (const [name, [source, cells]] of theirs) {
      const [target, own] = ours.get(name) ?? [];
      if (target === undefined || !own) continue;
      const decision = this.#decide(name, undefined);
      if (decision === "theirs") this.outcome.taken.push({ do: "remove", key: target, cells: own });
      else {
        dropped.add(source);
        if (decision === "ours") this.outcome.kept.push(name);
        else this.outcome.conflicts.push({ key: name, base: gone.get(name), from: cells, to: own });
      }
    }
    this.outcome.taken = this.outcome.taken.filter((change) => change.do !== "add" || !dropped.has(change.key));
  }

  #same(one: Cells | undefined, other: Cells | undefined): boolean {
    return one && other ? isSameRecord(one, other, this.#isSame) : one === other;
  }

  /** Takes what `from` has of a record. */
  #take(key: string, { base, from, to }: ThreeValues<Cells>, after: string | undefined): void {
    const { taken } = this.outcome;
    if (!from) {
      if (to) taken.push({ do: "remove", key, cells: to });
    } else if (!to) taken.push({ do: "add", key, cells: from, after });
    else taken.push({ do: "change", key, cells: this.#changes(base, from, to) });
  }

  #changes(base: Cells | undefined, from: Cells, to: Cells): CellChanges {
    const labels = labelsOf(from, to).filter((label) => !this.#isSame(label, from[label], to[label]));
    return Object.fromEntries(
      labels.map((label) => [label, { base: base?.[label], from: from[label], to: to[label] }]),
    );
  }

  #cells(key: string, base: Cells | undefined, from: Cells, to: Cells): void {
    const { taken, conflicts, untouched, kept } = this.outcome;
    const changes: [label: string, values: ThreeValues][] = [];
    let [stays, isKept, isAlike] = [false, false, false];
    for (const label of labelsOf(from, to, base)) {
      const values = { base: base?.[label], from: from[label], to: to[label] };
      const isChanged = !this.#isSame(label, values.base, values.from);
      if (this.#isSame(label, values.from, values.to)) isAlike ||= isChanged;
      else if (!isChanged) stays = true;
      else if (this.#isSame(label, values.base, values.to)) changes.push([label, values]);
      else {
        const decision = this.#decide(key, label);
        if (decision === "theirs") changes.push([label, values]);
        else if (decision === "ours") isKept = true;
        else conflicts.push({ key, label, ...values });
      }
    }
    if (changes.length > 0) taken.push({ do: "change", key, cells: Object.fromEntries(changes) });
    if (isAlike) this.outcome.alike++;
    if (isKept) kept.push(key);
    else if (stays) untouched.push(key);
  }

  #whole(key: string, values: ThreeValues<Cells>, after: string | undefined): void {
    const decision = this.#decide(key, undefined);
    if (decision === "theirs") this.#take(key, values, after);
    else if (decision === "ours") this.outcome.kept.push(key);
    else this.outcome.conflicts.push({ key, ...values });
  }
}
