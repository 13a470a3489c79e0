import { massDisappearance } from "../resources/common.ts";
import { sameContent, another, type Content, type Digest, type RowDigests } from "./digests.ts";
import {
  difference,
  lastApplied,
  strangersAmong,
  type LedgerDifference,
  type Ledger,
  type KnownRows,
  type LastApplied,
  type KeyedRows,
} from "./ledger.ts";
import { RowIndices, RowSet } from "./rowSet.ts";

/**
 * `exact` also removes rows of ours that left the source, `upsert` removes none, `insertOnly` changes none either,
 * `updateOnly` changes rows that are there, whoever made them, and neither inserts nor removes any.
 */
export const modes = ["exact", "upsert", "insertOnly", "updateOnly"] as const;
export type Mode = (typeof modes)[number];

/** Treatment of our rows that somebody edited or removed on the platform. */
export type OnConflict = "overwrite" | "keepLive" | "error";

/** How rows are to be kept. */
export interface RowOptions {
  mode: Mode;
  onConflict: OnConflict;
  /** Take over rows that have a wanted key and are not ours. */
  adopt: boolean;
  /** Largest part of our rows that may be removed at a time. */
  maxRemovals?: number | undefined;
  /** True if rows may be gone from the platform in any number, since it lost its data. */
  lostData?: boolean | undefined;
  /** Wanted rows that others made, as the last run saw them: they are never changed without `adopt`. */
  existing?: Pick<ReadonlySet<number>, "has"> | undefined;
  /** Wanted rows that another owner gives up in the same run: they are taken over without `adopt`. */
  handedOver?: Pick<ReadonlySet<number>, "has"> | undefined;
}

/** A row on the platform that a wanted row meets. `wanted` is an index of the wanted rows. */
export interface Meeting {
  wanted: number;
  id: string;
}

/** Steps for a table, and findings there. Indices are those of the wanted rows, ascending. */
export interface RowPlan {
  /** Rows to insert. */
  insert: RowIndices;
  /** Rows to change, with the ID that each has on the platform. */
  update: Meeting[];
  /** Rows of ours to remove. */
  remove: (RowDigests & { id: string; isMine: boolean })[];
  /** Rows that are as wanted. */
  unchanged: number;
  /** Rows that were not known as ours: they were as wanted, or were adopted. */
  adopted: number;
  /** Rows with a wanted key and other content that are not known as ours: the plan can't be carried out. */
  adoptNeeded: Meeting[];
  /** Rows of ours that were touched by hand while `onConflict` is `error`: the plan can't be carried out. */
  conflicts: { wanted?: number; leaving?: RowPlan["remove"][number] }[];
  /** Wanted rows that the table lacks in mode updateOnly: the plan can't be carried out. */
  lacking: number[];
  /** Rows of ours that differ from the wanted ones and stay so, because of mode or onConflict. */
  kept: number;
  /** Rows of ours that left the source and stay on the platform: they are not ours any more. */
  released: number;
  /** Rows that are not ours. They are never touched. */
  foreign: number;
  /** Keys that the table has more than once. `ids` are those that are left alone. */
  duplicates: { wanted: number | undefined; ids: string[] }[];
  /** Manual changes to our rows since they were last applied. */
  drift: { edited: { wanted: number | undefined; id: string | undefined }[]; missing: number[] };
  /** False when it can't be proven which rows are ours: then none is removed, and those that differ need `adopt`. */
  proven: boolean;
  /** Explains why this number of our rows can't be missing; undefined when it can. */
  vanished: string | undefined;
  /** Finds the content of a row of ours when it was last applied. */
  last: LastApplied;
}

/**
 * Plans three ways: what was last applied (`ledger`), what is there (`live`), what is wanted. To remove all rows of
 * ours, nothing is wanted, and `source` helps to prove which they are.
 */
export function planRows(
  wanted: RowSet,
  ledger: Ledger | KnownRows,
  live: LiveRows,
  { source, mode, onConflict, adopt, ...options }: RowOptions & { source?: RowSet | undefined },
): RowPlan {
  const known =
    "last" in ledger ? ledger : lastApplied(ledger, source ? [wanted, source] : [wanted], live, () => live.own());
  const last = known?.last ?? (() => undefined);
  const plan: RowPlan = {
    insert: new RowIndices(wanted.length),
    update: [],
    remove: [],
    unchanged: live.asWanted.size,
    adopted: strangersAmong(live.asWanted, wanted, known),
    adoptNeeded: [],
    conflicts: [],
    lacking: [],
    kept: 0,
    released: 0,
    foreign: live.foreign,
    duplicates: [],
    drift: { edited: [], missing: [] },
    proven: known !== undefined,
    vanished: undefined,
    last,
  };
  for (const [at, twins] of live.twins) plan.duplicates.push({ wanted: at, ids: twins.map(({ id }) => id) });
  const met = new RowIndices(wanted.length);
  for (let index = 0; index < live.rows.length; index++) {
    const key = live.rows.key(index);
    const at = wanted.find(key);
    // A link that lost its row is no edit, which one might want to keep.
    const isDangling = live.isDangling(index);
    if (at !== undefined) {
      met.add(at);
      const applied = options.existing?.has(at) && !adopt ? undefined : last(key);
      const { content, id } = chosen(plan, at, live, index, wanted.content(at), applied);
      const isSame = wanted.hasContent(at, content);
      if (isSame) plan.unchanged++;
      else if (applied === undefined && !adopt && mode !== "updateOnly" && !options.handedOver?.has(at)) {
        plan.adoptNeeded.push({ wanted: at, id });
        continue;
      }
      if (applied === undefined) plan.adopted++;
      if (isSame) continue;
      const differs = applied !== undefined && !sameContent(applied, content);
      const isEdited = differs && !isDangling;
      if (differs) plan.drift.edited.push({ wanted: at, id });
      if (mode === "insertOnly" || (isEdited && onConflict === "keepLive")) plan.kept++;
      else if (isEdited && onConflict === "error") plan.conflicts.push({ wanted: at });
      else plan.update.push({ wanted: at, id });
      continue;
    }
    // A row of ours that nobody wants any more.
    const applied = last(key);
    const others = live.others(index).length;
    if (applied === undefined) {
      plan.foreign += 1 + others;
      continue;
    }
    const { content, id, isMine } = chosen(plan, undefined, live, index, applied, applied);
    const isEdited = !sameContent(content, applied) && !isDangling;
    const leaving = { id, key, content: applied, isMine };
    if (isEdited) plan.drift.edited.push({ wanted: undefined, id });
    if (mode !== "exact" || (isEdited && (others > 0 || onConflict === "keepLive"))) plan.released++;
    else if (isEdited && onConflict === "error") plan.conflicts.push({ leaving });
    else plan.remove.push(leaving);
  }
  for (let index = 0; index < wanted.length; index++) {
    if (live.asWanted.has(index) || met.has(index)) continue;
    const isMissing = last(wanted.key(index)) !== undefined;
    if (isMissing) plan.drift.missing.push(index);
    if (isMissing && onConflict === "keepLive") plan.kept++;
    else if (mode === "updateOnly") plan.lacking.push(index);
    else if (isMissing && onConflict === "error") plan.conflicts.push({ wanted: index });
    else plan.insert.add(index);
  }
  plan.update.sort((a, b) => a.wanted - b.wanted);
  plan.adoptNeeded.sort((a, b) => a.wanted - b.wanted);
  if (onConflict !== "keepLive") {
    // Also without proof of which rows are ours: what the table lacks in number is missing in any case.
    const missing = Math.max(plan.drift.missing.length, ledger.count - live.length);
    plan.vanished = massDisappearance("rows", missing, ledger.count, options.lostData ? 1 : options.maxRemovals);
  }
  return plan;
}

/**
 * Picks ours of several rows with one key: the one that is as wanted, or as it was last applied; of equal ones that which
 * the account of this run made, else the first.
 */
function chosen(
  plan: RowPlan,
  wanted: number | undefined,
  live: LiveRows,
  index: number,
  ...preferred: (Content | undefined)[]
): LiveRow {
  const first = live.first(index);
  const others: readonly LiveRow[] = live.others(index);
  if (others.length === 0) return first;
  const all = [first, ...others];
  const mineFirst = [...all.filter(({ isMine }) => isMine), ...all.filter(({ isMine }) => !isMine)];
  const found = preferred.flatMap(
    (content) => mineFirst.find((row) => content && sameContent(row.content, content)) ?? [],
  );
  const choice = found[0] ?? first;
  plan.duplicates.push({ wanted, ids: all.flatMap((row) => (row === choice ? [] : row.id)) });
  return choice;
}

/** Said of rows to add where nobody has looked: only the platform shows if they exist. */
export const ifNotThere = "if they do not exist yet";

/** Steps of a coming run, as far as they are known without the platform. */
export type Forecast =
  | {
      exact: true;
      insert: number;
      update: number;
      remove: number;
      unchanged: number;
      change: LedgerDifference & { exact: true };
      /** Rows that left the source and stay for another owner; they are not among those to remove. */
      keptForOthers?: number;
      /**
       * Rows that another owner gives up and that are there already, by the index of the wanted row: whether they say the
       * same. They are not among those to insert.
       */
      handed?: ReadonlyMap<number, boolean>;
    }
  | { exact: false; moreThan: number; net: number };

/** Forecast for a seed's rows, for the planner. */
export interface RowsAhead {
  plan: Forecast;
  /** How many rows stay that the source has no more, by the name of the seed that declares them. */
  keptForOthers: ReadonlyMap<string, number>;
}

/** Plans a run on the assumption that nobody has touched our rows meanwhile; offline. */
export function planOffline(wanted: RowSet, ledger: Ledger, mode: Mode): Forecast {
  const change = difference(wanted, ledger);
  if (!change.exact) return change;
  const { added, changed, removed } = change;
  const unchanged = wanted.length - added.size - changed.length;
  if (mode === "updateOnly") {
    // All are there, or the run refuses: rows that are new in the source are changed.
    const all = [...added, ...changed].sort((a, b) => a - b);
    const seen = { ...change, added: new RowIndices(wanted.length), changed: all };
    return { exact: true, insert: 0, update: all.length, remove: 0, unchanged, change: seen };
  }
  return {
    exact: true,
    insert: added.size,
    update: mode === "insertOnly" ? 0 : changed.length,
    remove: mode === "exact" ? removed.length : 0,
    unchanged,
    change,
  };
}

/** A row on the platform: its ID and content, and whether the account of this run made it. */
interface LiveRow {
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
  /** Wanted rows that are as wanted but for a link that lost its row, and that the account of this run made: they are ours. */
  readonly unlinked = new Set<number>();
  /** Labels of the first rows. */
  readonly labels = new Set<string>();
  /** Rows that the account of this run made, with keys that nobody wants; undefined for more than are kept. */
  mineBeside: Set<string> | undefined = new Set();
  readonly #wanted: RowSet;
  readonly #ledger: Ledger;
  readonly #ids = new Map<number, string>();
  /** Further rows with the keys of rows that are as wanted, by the index of these; and of others, by their own. */
  readonly twins = new Map<number, LiveRow[]>();
  readonly #others = new Map<number, LiveRow[]>();
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
      noteBeside(this.twins, wanted, { id, content, isMine });
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
      ...(this.asWanted.has(wanted) ? [asWanted, ...(this.twins.get(wanted) ?? [])] : []),
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

  readonly contentOf: LastApplied = (key) => {
    const wanted = this.#wanted.find(key);
    if (wanted !== undefined && this.asWanted.has(wanted)) return this.#wanted.content(wanted);
    return this.rows.contentOf(key);
  };

  /** The rows that the account of this run made: all of them, and those that are not as wanted. */
  own(): KeyedRows[] {
    const there = RowSet.of(this.rows, ({ key }) => this.#mineByIndex.has(this.rows.find(key) ?? -1));
    const all = RowSet.of(there);
    for (const index of this.#mine) all.add(this.#wanted.key(index), this.#wanted.content(index));
    return [all, there];
  }

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

/** A row on the platform, seen with the declaration of the last run and with that of this one. */
export interface SeenRow {
  /** Whether the account of this run made it. */
  isMine?: boolean;
  id: string;
  /** Undefined when it has no key of the last run. */
  before: RowDigests | undefined;
  /** True for a link to a missing row: nobody edited it. */
  dangling: boolean;
  now: { key: Digest | undefined; content: Content };
}

/** Live rows and what was last applied, both in the terms of this run. */
export interface Recognised {
  live: LiveRows;
  ledger: Ledger & { kind: "list" };
}

/**
 * Recognises our rows after a change of key labels or references. The old declaration shows which rows are ours, the new
 * one which wanted row each of them is. A row without a wanted new key is still the wanted row with its old key.
 * Undefined when it can't be proven which rows are ours.
 * @param wanted the wanted rows by the new key
 * @param byOldKey the same rows in the same order by the old key; undefined when they lack it
 * @param near sets that may be close to what was last applied, by the old key
 */
export function recogniseRows(
  seen: readonly SeenRow[],
  wanted: RowSet,
  byOldKey: RowSet | undefined,
  ledger: Ledger,
  near: readonly RowSet[],
): Recognised | undefined {
  const before = new RowSet();
  for (const row of seen) if (row.before) before.add(row.before.key, row.before.content);
  const proof = lastApplied(ledger, near, before);
  if (!proof) return undefined;
  const ours = oneForEachKey(seen, before, proof.last);

  const met = new Uint8Array(wanted.length);
  const places = new Map<SeenRow, number>();
  const matchRow = (row: SeenRow, at: number | undefined): void => {
    if (at === undefined || met[at] === 1 || places.has(row)) return;
    met[at] = 1;
    places.set(row, at);
  };
  for (const row of ours.keys()) matchRow(row, row.now.key && wanted.find(row.now.key));
  if (byOldKey) for (const row of ours.keys()) matchRow(row, row.before && byOldKey.find(row.before.key));

  const applied = new RowSet();
  const named: [SeenRow, Digest][] = [];
  for (const [row, unedited] of ours) {
    const at = places.get(row);
    const key = at === undefined ? row.before?.key : wanted.key(at);
    if (!key) continue; // ours are known by their old key
    named.push([row, key]);
    applied.add(key, unedited ? row.now.content : another(row.now.content));
  }
  const known = { kind: "list", count: ledger.count, rows: applied } as const;
  const live = new LiveRows(wanted, known);
  for (const [row, key] of named) live.add(row.id, { key, content: row.now.content }, false, row.isMine);
  for (const row of seen) {
    if (ours.has(row)) continue;
    const { key, content } = row.now;
    live.add(row.id, key && { key, content }, row.dangling, row.isMine);
  }
  return { live, ledger: known };
}

/** Chooses our rows. Among several with one old key the unedited one is ours; the value is true for an unedited row. */
function oneForEachKey(seen: readonly SeenRow[], before: RowSet, last: LastApplied): Map<SeenRow, boolean> {
  const chosen = new Map<number, SeenRow>();
  const ours = new Map<SeenRow, boolean>();
  for (const row of seen) {
    const applied = row.before && last(row.before.key);
    const at = row.before && before.find(row.before.key);
    if (!row.before || !applied || at === undefined) continue;
    const unedited = row.dangling || sameContent(row.before.content, applied);
    const other = chosen.get(at);
    if (other && (!unedited || ours.get(other))) continue;
    if (other) ours.delete(other);
    chosen.set(at, row);
    ours.set(row, unedited);
  }
  return ours;
}
