import { sameContent, type Content, type Digest, type RowDigests } from "./digests.ts";

/** Two of the key and four of the content. */
const wordsPerRow = 6;

/** Of rows of which the keys alone matter. */
const nothing: Content = { high: 0, low: 0, third: 0, fourth: 0 };

/**
 * Rows by their digests, each key once, in the order in which they were added: 36 to 72 bytes a row. A row's place in
 * that order is its index; `line` tells where it stands in its source.
 */
export class RowSet implements Iterable<RowDigests> {
  #words = new Uint32Array(64 * wordsPerRow);
  #lines = new Uint32Array(64);
  /** Index + 1 of the row, 0 where there is none; open addressing, at most half full. */
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
    if (this.#length === this.#lines.length) this.#grow();
    const at = this.#length * wordsPerRow;
    this.#words[at] = key.high;
    this.#words[at + 1] = key.low;
    this.#words[at + 2] = content.high;
    this.#words[at + 3] = content.low;
    this.#words[at + 4] = content.third;
    this.#words[at + 5] = content.fourth;
    this.#lines[this.#length] = line;
    this.#length++;
    if (this.#length * 2 > this.#slots.length) this.#rehash();
    else this.#slots[slot] = this.#length;
    return undefined;
  }

  /** Index of the row with this key. */
  find(key: Digest): number | undefined {
    const found = this.#slots[this.#slotOf(key)] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  has(key: Digest): boolean {
    return this.find(key) !== undefined;
  }

  key(index: number): Digest {
    const at = index * wordsPerRow;
    return { high: this.#words[at] ?? 0, low: this.#words[at + 1] ?? 0 };
  }

  content(index: number): Content {
    const at = index * wordsPerRow + 2;
    return {
      high: this.#words[at] ?? 0,
      low: this.#words[at + 1] ?? 0,
      third: this.#words[at + 2] ?? 0,
      fourth: this.#words[at + 3] ?? 0,
    };
  }

  /** Where the row stands in its source, as it was given when the row was added. */
  line(index: number): number {
    return this.#lines[index] ?? 0;
  }

  /** Whether the row has exactly this content. */
  says(index: number, content: Content): boolean {
    return sameContent(this.content(index), content);
  }

  *[Symbol.iterator](): Generator<RowDigests> {
    for (let index = 0; index < this.#length; index++) yield { key: this.key(index), content: this.content(index) };
  }

  /** The digests packed: six words a row, key before content, high before low. */
  packed(): Uint32Array {
    return this.#words.subarray(0, this.#length * wordsPerRow);
  }

  /** Slot that holds the key, or the free one where it belongs. Digests are uniform, so their bits need no mixing. */
  #slotOf({ high, low }: Digest): number {
    const mask = this.#slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot] ?? 0;
      if (taken === 0) return slot;
      const at = (taken - 1) * wordsPerRow;
      if (this.#words[at] === high && this.#words[at + 1] === low) return slot;
    }
  }

  #grow(): void {
    const [words, lines] = [this.#words, this.#lines];
    this.#words = new Uint32Array(words.length * 2);
    this.#words.set(words);
    this.#lines = new Uint32Array(lines.length * 2);
    this.#lines.set(lines);
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let index = 0; index < this.#length; index++) this.#slots[this.#slotOf(this.key(index))] = index + 1;
  }
}
