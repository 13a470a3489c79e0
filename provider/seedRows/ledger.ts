import type { RowDigests, Content, Digest } from "./digests.ts";
import { maxWhole, RowIndices, RowSet } from "./rowSet.ts";

/** Most rows that a ledger lists, encoded 460 KB; above, it is a sketch of constant size. */
export const maxListedRows = 20_000;

/** Encoded 254 KB. */
const sketchCells = 7_936;

/** Encoded 44 KB and 46 KB: what an error may carry. */
export const inFailure = { rows: 1_408, cells: 1_440 };

/** Our rows at the last run: a list of rows, or a sketch of them with their number. */
export type Ledger =
  | { readonly kind: "list"; count: number; readonly rows: RowSet }
  | { readonly kind: "sketch"; count: number; readonly sketch: Sketch };

/** Difference of wanted rows from a ledger. */
export type LedgerDifference =
  | {
      exact: true;
      /** Indices of wanted rows whose key the ledger lacks. */
      added: RowIndices;
      /** Indices of wanted rows whose key the ledger has with another content. */
      changed: number[];
      /** Rows of the ledger whose key is not wanted any more. */
      removed: RowDigests[];
      /** Rows of the ledger that were changed or removed, as they were. */
      before: RowSet;
    }
  | {
      exact: false;
      /** More rows than this were added, changed or removed. */
      moreThan: number;
      /** Rows added less rows removed. */
      net: number;
    };

/** The ledger of rows that are ours. */
export function ledgerOf(rows: RowSet): Ledger {
  const count = rows.length;
  if (count <= maxListedRows) return { kind: "list", count, rows };
  return { kind: "sketch", count, sketch: Sketch.of(sketchCells, rows) };
}

/**
 * The ledger of our rows after a failure, which an error has to carry. A small sketch can list fewer changes; together
 * with the rows of the platform it proves as much as a large one.
 */
export function ledgerInFailure(rows: RowSet): Ledger {
  const count = rows.length;
  if (count <= inFailure.rows) return { kind: "list", count, rows };
  return { kind: "sketch", count, sketch: Sketch.of(inFailure.cells, rows) };
}

/** Adds a row that the ledger lacks. */
export function addRow(ledger: Ledger, row: RowDigests): void {
  if (ledger.kind === "sketch") ledger.sketch.add(row);
  else if (ledger.rows.add(row.key, row.content) !== undefined) return;
  ledger.count++;
}

/** The ledger before anything was applied. */
export const emptyLedger = (): Ledger => ledgerOf(new RowSet());

/** Text of a ledger for the state: `list:2:<rows>:<base64>` or `sketch:2:<rows>:<base64>`. */
export function encodeLedger(ledger: Ledger): string {
  const pages = ledger.kind === "list" ? [...ledger.rows.packed()] : [ledger.sketch];
  const parts = pages.map(({ words }) => {
    const bytes = Buffer.alloc(words.length * 4);
    words.forEach((word, index) => bytes.writeUInt32LE(word, index * 4));
    return bytes;
  });
  return `${ledger.kind}:2:${ledger.count}:${Buffer.concat(parts).toString("base64")}`;
}

/** The ledger of a text; throws a RangeError when it is none or one of another version. */
export function decodeLedger(text: string): Ledger {
  const [kind, version, number, encoded, ...rest] = text.split(":");
  if (version !== "2" && (kind === "list" || kind === "sketch")) {
    throw new RangeError("the ledger was written by another version of this package: use that one, or a newer one");
  }
  const count = Number(number);
  if (encoded === undefined || rest.length > 0 || !Number.isSafeInteger(count) || count < 0) throw damaged();
  const bytes = Buffer.from(encoded, "base64");
  const words = Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4));
  if (kind === "sketch") {
    if (bytes.length % 96 !== 0 || bytes.length === 0) throw damaged();
    return { kind, count, sketch: new Sketch(words.length / 6, words) };
  }
  // Of rows beyond the first ones a set keeps half of the content.
  const wholeRows = Math.min(count, maxWhole);
  if (kind !== "list" || words.length !== wholeRows * 6 + (count - wholeRows) * 4) throw damaged();
  if (bytes.length !== words.length * 4) throw damaged();
  const rows = new RowSet();
  for (let index = 0, at = 0; index < count; index++) {
    const perRow = index < wholeRows ? 6 : 4;
    const [a = 0, b = 0, high = 0, low = 0, third = 0, fourth = 0] = words.subarray(at, at + perRow);
    rows.add({ high: a, low: b }, { high, low, third, fourth });
    at += perRow;
  }
  if (rows.length !== count) throw damaged();
  return { kind, count, rows };
}

const damaged = (): RangeError => new RangeError("the ledger in the state is damaged");

/** Compares a ledger's rows with the wanted ones. */
export function difference(wanted: RowSet, ledger: Ledger): LedgerDifference {
  if (ledger.kind === "list") return differenceOfLists(wanted, ledger.rows);
  const { cells } = ledger.sketch;
  const found = ledger.sketch.difference(Sketch.of(cells, wanted));
  const exact = found && sorted(wanted, found.theirs, found.mine);
  // The numbers must agree as well: nothing is believed that does not add up.
  if (exact && ledger.count + exact.added.size - exact.removed.length === wanted.length) return exact;
  // A changed row is two in a sketch. Differences of less than seven tenths of the cells are as good as always listed.
  return { exact: false, moreThan: Math.floor(cells * 0.35), net: wanted.length - ledger.count };
}

function differenceOfLists(wanted: RowSet, last: RowSet): LedgerDifference {
  const added = new RowIndices(wanted.length);
  const changed: number[] = [];
  const removed: RowDigests[] = [];
  const before = new RowSet();
  for (let index = 0; index < wanted.length; index++) {
    const found = last.find(wanted.key(index));
    if (found === undefined) added.add(index);
    else if (!last.hasContent(found, wanted.content(index))) {
      changed.push(index);
      before.add(last.key(found), last.content(found));
    }
  }
  for (const row of last) {
    if (wanted.has(row.key)) continue;
    removed.push(row);
    before.add(row.key, row.content);
  }
  return { exact: true, added, changed, removed, before };
}

/** Pairs the rows that a sketch lists as removed and added; undefined when they contradict each other. */
function sorted(
  wanted: RowSet,
  here: RowDigests[],
  departed: RowDigests[],
): (LedgerDifference & { exact: true }) | undefined {
  const before = RowSet.of(departed);
  const added = new RowIndices(wanted.length);
  const changed: number[] = [];
  for (const { key, content } of here) {
    const index = wanted.find(key);
    if (index === undefined || !wanted.hasContent(index, content)) return undefined;
    if (before.has(key)) changed.push(index);
    else added.add(index);
  }
  const removed = departed.filter(({ key }) => !wanted.has(key));
  if (before.length !== departed.length || removed.length + changed.length !== departed.length) return undefined;
  return { exact: true, added, changed: changed.sort((a, b) => a - b), removed, before };
}

/** Finds the content that a row of ours had when it was last applied; undefined when the row is not ours. */
export type LastApplied = (key: Digest) => Content | undefined;

/** Which rows are ours, and what was last applied to them. */
interface Applied {
  readonly last: LastApplied;
  /** Rows of a set that are not ours: all others of it are. */
  readonly strangers?: { readonly of: RowSet; readonly keys: RowSet };
}

/** The same, found without a ledger, with the number of our rows. */
export interface KnownRows extends Applied {
  readonly count: number;
}

/**
 * Finds our rows; undefined when they can't be proven. A list has them. A sketch reveals them against any set that is
 * close to the last applied one: rows of a source (`near`) when little was changed there, else the live rows, when
 * little was changed on the platform and few rows there are foreign, else those live rows that the source has as well.
 * @param own parts of the live rows, such as those that this account made and that are not as declared: what a killed run
 * wrote, and what others did, is not among these
 */
export function lastApplied(
  ledger: Ledger,
  near: readonly RowSet[],
  live: KeyedRows,
  own: () => readonly KeyedRows[] = () => [],
): Applied | undefined {
  if (ledger.kind === "list") return { last: ledger.rows.contentOf };
  for (const rows of near) {
    const found = against(ledger, rows, rows.contentOf);
    if (found) return { last: found.last, strangers: { of: rows, keys: found.strangers } };
  }
  const all = against(ledger, live, live.contentOf);
  if (all) return { last: all.last };
  for (const rows of own()) {
    const found = against(ledger, rows, rows.contentOf);
    if (found) return { last: found.last };
  }
  for (const rows of near) {
    const found = against(ledger, shared(live, rows), (key) => (rows.has(key) ? live.contentOf(key) : undefined));
    if (found) return { last: found.last };
  }
  return undefined;
}

/** Those of the rows whose keys a set has. */
function* shared(rows: KeyedRows, set: RowSet): Generator<RowDigests> {
  for (const row of rows) if (set.has(row.key)) yield row;
}

/** Rows that are found by their keys. */
export interface KeyedRows extends Iterable<RowDigests> {
  readonly contentOf: LastApplied;
}

/** How many of the rows of a set, chosen by index, were not known as ours. */
export function strangersAmong(chosen: RowIndices, rows: RowSet, known: Applied | undefined): number {
  if (!known) return chosen.size;
  const { last, strangers } = known;
  let count = 0;
  if (strangers?.of === rows) {
    for (const { key } of strangers.keys) if (chosen.has(rows.find(key) ?? -1)) count++;
  } else for (const index of chosen) if (last(rows.key(index)) === undefined) count++;
  return count;
}

function against(
  { sketch, count }: Ledger & { kind: "sketch" },
  rows: Iterable<RowDigests>,
  there: LastApplied,
): { last: LastApplied; strangers: RowSet } | undefined {
  const other = Sketch.of(sketch.cells, rows);
  const found = sketch.difference(other);
  if (found === undefined || other.count - found.theirs.length + found.mine.length !== count) return undefined;
  const removed = RowSet.of(found.mine).contentOf;
  const foreign = RowSet.of(found.theirs);
  return {
    strangers: RowSet.of(found.theirs, ({ key }) => removed(key) === undefined),
    last: (key) => removed(key) ?? (foreign.has(key) ? undefined : there(key)),
  };
}

/** The part of a plan that was not carried out. */
export interface Undone {
  /** Wanted rows that were neither inserted nor updated although planned. */
  wanted?: Pick<ReadonlySet<number>, "has" | "size">;
  /** Rows that were not removed although planned. */
  removals?: Iterable<RowDigests>;
  /** Content that rows have: written ones that came back otherwise, and those that were left as they are. */
  found?: ReadonlyMap<number, Content>;
}

/** A plan's knowledge of rows that it did not write. */
interface CarriedOut {
  last: LastApplied;
  adoptNeeded: readonly { wanted: number }[];
}

/** The rows that are ours after a plan was carried out, in part or as a whole. */
export function oursAfter(
  wanted: RowSet,
  plan: CarriedOut,
  { wanted: undone, removals = [], found }: Undone = {},
): RowSet {
  const left = [...removals];
  if (!undone?.size && !found?.size && left.length === 0 && plan.adoptNeeded.length === 0) return wanted;
  const foreign = new Set(plan.adoptNeeded.map((meeting) => meeting.wanted));
  const ours = new RowSet();
  for (let index = 0; index < wanted.length; index++) {
    const key = wanted.key(index);
    const before = undone?.has(index) ? (found?.get(index) ?? plan.last(key)) : undefined;
    if (before !== undefined) ours.add(key, before);
    else if (!undone?.has(index) && !foreign.has(index)) ours.add(key, found?.get(index) ?? wanted.content(index));
  }
  for (const { key, content } of left) ours.add(key, content);
  return ours;
}

const hashes = 4;
/**
 * Count, key and content in two words each, checksum. A cell has half of a content: with all of it, a state of 256 KB
 * could list a quarter fewer changes. Nobody finds rows with a common half, since the salt is secret.
 */
const wordsPerCell = 6;

/** The difference of two sketches. */
interface SketchDifference {
  /** Rows of the first alone. */
  mine: RowDigests[];
  /** Rows of the second alone. */
  theirs: RowDigests[];
}

/**
 * A set of rows in constant space (an invertible Bloom lookup table): it can't be listed, but the difference of two
 * sketches can, while it is small. A row is the pair of its digests, so a changed row counts twice: removed,
 * added. Rows must be distinct.
 *
 * A list of the digests would make it unnecessary, and cost 7 s and 1.1 GB more in each preview at 1,000,000 rows (24
 * bytes a row in the state). A sketch of as many rows takes 0.1 s; 96 KiB of it list 1,550 changed rows.
 */
export class Sketch {
  readonly cells: number;
  /** Cells of `wordsPerCell` words, in as many partitions as there are hashes. */
  readonly words: Uint32Array;

  /** `cells` must be a multiple of 4; a difference of up to three quarters of them can be listed. */
  constructor(cells: number, words = new Uint32Array(cells * wordsPerCell)) {
    if (cells % hashes !== 0 || cells < hashes || words.length !== cells * wordsPerCell) {
      throw new RangeError("the sketch has another size than it says");
    }
    this.cells = cells;
    this.words = words;
  }

  /** A sketch of rows; of a set that has not grown since it is the same one again. */
  static of(cells: number, rows: Iterable<RowDigests>): Sketch {
    if (!(rows instanceof RowSet)) {
      const sketch = new Sketch(cells);
      for (const row of rows) sketch.add(row);
      return sketch;
    }
    const known = sketches.get(rows);
    if (known?.length === rows.length && known.sketch.cells === cells) return known.sketch;
    const sketch = new Sketch(cells);
    for (const { words, wordsPerRow } of rows.packed()) {
      for (let at = 0; at < words.length; at += wordsPerRow) {
        sketch.#toggle(words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0, words[at + 3] ?? 0, 1);
      }
    }
    sketches.set(rows, { length: rows.length, sketch });
    return sketch;
  }

  add({ key, content }: RowDigests): void {
    this.#toggle(key.high, key.low, content.high, content.low, 1);
  }

  /** Number of rows: each of them is once in each partition. */
  get count(): number {
    let count = 0;
    for (let at = 0; at < this.words.length / hashes; at += wordsPerCell) count += this.words[at] ?? 0;
    return count;
  }

  /** Lists the rows in which the sets differ; undefined when there are too many to list. */
  difference(other: Sketch): SketchDifference | undefined {
    if (other.cells !== this.cells) throw new RangeError("sketches of different sizes can't be compared");
    const rest = new Sketch(this.cells);
    for (let at = 0; at < this.words.length; at++) {
      const [mine, theirs] = [this.words[at] ?? 0, other.words[at] ?? 0];
      rest.words[at] = at % wordsPerCell === 0 ? mine - theirs : mine ^ theirs;
    }
    return rest.#peel();
  }

  /** Takes out one after the other the rows that stand alone in a cell; what they leave uncovers the next. */
  #peel(): SketchDifference | undefined {
    const found: SketchDifference = { mine: [], theirs: [] };
    const waiting = Array.from({ length: this.cells }, (_, cell) => cell);
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
      const at = cell * wordsPerCell;
      const count = (this.words[at] ?? 0) | 0; // signed
      if (count !== 1 && count !== -1) continue;
      const key = { high: this.words[at + 1] ?? 0, low: this.words[at + 2] ?? 0 };
      const content = { high: this.words[at + 3] ?? 0, low: this.words[at + 4] ?? 0, third: 0, fourth: 0 };
      const mixes = mixesOf(key.high, key.low, content.high, content.low);
      const places = Array.from({ length: hashes }, (_, index) => placeOf(mixes, index, this.cells));
      if (checkOf(mixes) !== this.words[at + 5] || !places.includes(cell)) continue;
      (count === 1 ? found.mine : found.theirs).push({ key, content });
      // More rows than cells can't be: what is peeled is noise.
      if (found.mine.length + found.theirs.length > this.cells) return undefined;
      this.#toggle(key.high, key.low, content.high, content.low, -count);
      waiting.push(...places);
    }
    return this.words.every((word) => word === 0) ? found : undefined;
  }

  #toggle(keyHigh: number, keyLow: number, high: number, low: number, by: number): void {
    const { words } = this;
    const mixes = mixesOf(keyHigh, keyLow, high, low);
    const check = checkOf(mixes);
    for (let index = 0; index < hashes; index++) {
      const at = placeOf(mixes, index, this.cells) * wordsPerCell;
      words[at] = (words[at] ?? 0) + by;
      words[at + 1] = (words[at + 1] ?? 0) ^ keyHigh;
      words[at + 2] = (words[at + 2] ?? 0) ^ keyLow;
      words[at + 3] = (words[at + 3] ?? 0) ^ high;
      words[at + 4] = (words[at + 4] ?? 0) ^ low;
      words[at + 5] = (words[at + 5] ?? 0) ^ check;
    }
  }
}

/** Sketches of whole sets: one run needs that of a large set several times. */
const sketches = new WeakMap<RowSet, { length: number; sketch: Sketch }>();

/** Two independent mixes of a row, from which its cells and its checksum come. */
interface Mixes {
  first: number;
  second: number;
}

const mixesOf = (keyHigh: number, keyLow: number, high: number, low: number): Mixes => ({
  first: mixed(0x9e3779b1, keyHigh, keyLow, high, low),
  second: mixed(0x85ebca77, keyHigh, keyLow, high, low) | 1,
});

/** The cell of a row in one of the partitions. */
function placeOf({ first, second }: Mixes, index: number, cells: number): number {
  const partition = cells / hashes;
  const spread = finished((first + Math.imul(second, index + 1)) | 0) >>> 0;
  return index * partition + (spread % partition);
}

const checkOf = ({ first, second }: Mixes): number => finished(first ^ Math.imul(second, 0x27d4eb2f)) >>> 0;

/** MurmurHash3 over the four words. */
const mixed = (seed: number, keyHigh: number, keyLow: number, high: number, low: number): number =>
  finished(turned(turned(turned(turned(seed, keyHigh), keyLow), high), low));

function turned(state: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const turned = state ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((turned << 13) | (turned >>> 19), 5) + 0xe6546b64) | 0;
}

function finished(state: number): number {
  let mix = state ^ (state >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
