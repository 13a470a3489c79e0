import { sameContent, type Content, type Digest, type RowDigests } from "./digests.ts";

/** Rows lie in pages, which never move: an array that doubles needs room for three. */
const rowsPerPage = 1_024;

/** Rows of a set whose content is kept whole: the first ones. */
export const maxWhole = 4 * rowsPerPage;

/** Words for each row: two for the key, and four for the content or two for its first half. */
const words = { whole: 6, half: 4 };

/** Content of rows whose keys alone matter. */
const nothing: Content = { high: 0, low: 0, third: 0, fourth: 0 };

/** Digests of some rows, side by side: key before content, high before low. */
interface PackedRows {
  words: Uint32Array;
  wordsPerRow: number;
}

/**
 * Rows by their digests, each key once, in the order in which they were added: 22 to 28 bytes a row. A row's place in
 * that order is its index; `line` is its place in its source.
 *
 * Of all rows but the first 4,096 half of the content is kept, as in a sketch, which so many rows have for a ledger:
 * 10,000,000 rows take 80 MB less. A changed row is taken for the same in one of 2^64 cases, since it is compared with
 * the row of its own key alone, and the salt is secret, so that nobody finds a row with the same half.
 */
export class RowSet implements Iterable<RowDigests> {
  readonly #pages: Uint32Array[] = [];
  /** The lines of each page. */
  readonly #lines: Lines[] = [];
  /** Index + 1 of the row, 0 where there is none; open addressing, at most two thirds full. Empty in a set at rest. */
  #slots = new Uint32Array(128);
  #length = 0;

  /** The rows that are asked for; a key that comes again is left out. */
  static of(rows: Iterable<RowDigests>, asked: (row: RowDigests) => boolean = () => true): RowSet {
    const set = new RowSet();
    for (const row of rows) if (asked(row)) set.add(row.key, row.content);
    return set;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a row. Returns undefined, or the index of the row that has the key already; then nothing is added. */
  add(key: Digest, content = nothing, line = 0): number | undefined {
    const slot = this.#slotOf(key);
    const taken = this.#slots[slot] ?? 0;
    if (taken !== 0) return taken - 1;
    if (this.#length % rowsPerPage === 0) {
      this.#pages.push(new Uint32Array(rowsPerPage * wordsOf(this.#length)));
      this.#lines.push(new Lines(line));
    }
    const page = this.#page(this.#length);
    const at = placeOf(this.#length);
    page[at] = key.high;
    page[at + 1] = key.low;
    page[at + 2] = content.high;
    page[at + 3] = content.low;
    if (this.#length < maxWhole) {
      page[at + 4] = content.third;
      page[at + 5] = content.fourth;
    }
    this.#lines.at(-1)?.set(this.#length % rowsPerPage, line);
    this.#length++;
    if (this.#length * 3 > this.#slots.length * 2) this.#rehash(this.#slots.length * 2);
    else this.#slots[slot] = this.#length;
    return undefined;
  }

  /** Index of the row with this key. */
  find(key: Digest): number | undefined {
    const slot = this.#slotOf(key); // which makes the slots where there are none
    const found = this.#slots[slot] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  has(key: Digest): boolean {
    return this.find(key) !== undefined;
  }

  key(index: number): Digest {
    const page = this.#page(index);
    const at = placeOf(index);
    return { high: page[at] ?? 0, low: page[at + 1] ?? 0 };
  }

  content(index: number): Content {
    const page = this.#page(index);
    const at = placeOf(index) + 2;
    const [third, fourth] = index < maxWhole ? [page[at + 2] ?? 0, page[at + 3] ?? 0] : [0, 0];
    return { high: page[at] ?? 0, low: page[at + 1] ?? 0, third, fourth };
  }

  /** Content of the row with this key. */
  readonly contentOf = (key: Digest): Content | undefined => {
    const index = this.find(key);
    return index === undefined ? undefined : this.content(index);
  };

  /** Where the row stands in its source, as it was given when the row was added. */
  line(index: number): number {
    return this.#lines[Math.floor(index / rowsPerPage)]?.get(index % rowsPerPage) ?? 0;
  }

  /** True when the row's content is the same, as far as stored. */
  hasContent(index: number, content: Content): boolean {
    return sameContent(this.content(index), content);
  }

  *[Symbol.iterator](): Generator<RowDigests> {
    for (let index = 0; index < this.#length; index++) yield { key: this.key(index), content: this.content(index) };
  }

  /** The digests, a page at a time. */
  *packed(): Generator<PackedRows> {
    for (let first = 0; first < this.#length; first += rowsPerPage) {
      const wordsPerRow = wordsOf(first);
      const rows = Math.min(rowsPerPage, this.#length - first);
      yield { words: this.#page(first).subarray(0, rows * wordsPerRow), wordsPerRow };
    }
  }

  /** Gives up what finds rows by their keys, four tenths of the memory; the next search makes it again. */
  rest(): void {
    this.#slots = none;
  }

  /** Slot that holds the key, or the free one where it belongs. Digests are uniform, so their bits need no mixing. */
  #slotOf({ high, low }: Digest): number {
    if (this.#slots.length === 0) this.#rehash(2 ** Math.max(7, Math.ceil(Math.log2(this.#length * 1.5 + 1))));
    const mask = this.#slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot] ?? 0;
      if (taken === 0) return slot;
      const page = this.#page(taken - 1);
      const at = placeOf(taken - 1);
      if (page[at] === high && page[at + 1] === low) return slot;
    }
  }

  #page(index: number): Uint32Array {
    return this.#pages[Math.floor(index / rowsPerPage)] ?? none;
  }

  #rehash(size: number): void {
    const slots = new Uint32Array(size);
    const mask = slots.length - 1;
    let index = 0;
    for (const { words, wordsPerRow } of this.packed()) {
      for (let at = 1; at < words.length; at += wordsPerRow) {
        let slot = (words[at] ?? 0) & mask;
        while (slots[slot] !== 0) slot = (slot + 1) & mask; // the keys are distinct
        slots[slot] = ++index;
      }
    }
    this.#slots = slots;
  }
}

/** Lines of a page's rows. Most follow each other, or are all the same: then the first two tell the others. */
class Lines {
  readonly #first: number;
  #step = 0;
  #each: Uint32Array | undefined;

  constructor(first: number) {
    this.#first = first;
  }

  get(at: number): number {
    return this.#each?.[at] ?? this.#first + at * this.#step;
  }

  /** Each place is set once, in ascending order. */
  set(at: number, line: number): void {
    if (at === 1) this.#step = line - this.#first;
    if (!this.#each && line !== this.get(at)) {
      this.#each = Uint32Array.from({ length: rowsPerPage }, (_, index) => this.#first + index * this.#step);
    }
    if (this.#each) this.#each[at] = line;
  }
}

const none = new Uint32Array();

const wordsOf = (index: number): number => (index < maxWhole ? words.whole : words.half);

/** Where a row begins in its page. */
const placeOf = (index: number): number => (index % rowsPerPage) * wordsOf(index);

/** Some of the rows of a set, by index, in ascending order: a bit for each row of the set, where a Set would take forty bytes. */
export class RowIndices implements Iterable<number> {
  #flags: Uint32Array;
  #size = 0;

  /** @param length rows of the whole set */
  constructor(length: number) {
    this.#flags = new Uint32Array(Math.ceil(length / 32));
  }

  /** The same ones, for itself. */
  static of(indices: RowIndices): RowIndices {
    const copy = new RowIndices(0);
    copy.#flags = indices.#flags.slice();
    copy.#size = indices.#size;
    return copy;
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    return (((this.#flags[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  }

  add(index: number): void {
    if (this.has(index)) return;
    this.#flags[index >>> 5] = (this.#flags[index >>> 5] ?? 0) | (1 << (index & 31));
    this.#size++;
  }

  delete(index: number): void {
    if (!this.has(index)) return;
    this.#flags[index >>> 5] = (this.#flags[index >>> 5] ?? 0) & ~(1 << (index & 31));
    this.#size--;
  }

  /** So many of them at most. */
  first(count: number): number[] {
    const found: number[] = [];
    for (const index of this) {
      if (found.length >= count) break;
      found.push(index);
    }
    return found;
  }

  /** True when one of them passes the test. */
  some(is: (index: number) => boolean): boolean {
    for (const index of this) if (is(index)) return true;
    return false;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#flags.length; at++) {
      for (let left = this.#flags[at] ?? 0; left !== 0; left &= left - 1) yield at * 32 + 31 - Math.clz32(left & -left);
    }
  }
}
