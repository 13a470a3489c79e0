const [highFactor, lowFactor] = [0x01000193, 0x5bd1e995];

/** 64 bits of a text, in two words. It is no protection, only a quick comparison. */
export class Fingerprint {
  high = 0;
  low = 0;

  begin(): void {
    this.high = 0x811c9dc5 | 0;
    this.low = 0x9747b28c | 0;
  }

  /** Adds a character, by its code. */
  add(character: number): void {
    this.high = Math.imul(this.high ^ character, highFactor);
    this.low = Math.imul((this.low << 5) ^ (this.low >>> 27) ^ character, lowFactor);
  }

  /** The fingerprint of a text's characters. */
  of(text: string): this {
    this.begin();
    let { high, low } = this; // properties would be written for each character
    for (let index = 0; index < text.length; index++) {
      const character = text.charCodeAt(index);
      high = Math.imul(high ^ character, highFactor);
      low = Math.imul((low << 5) ^ (low >>> 27) ^ character, lowFactor);
    }
    this.high = high;
    this.low = low;
    return this;
  }
}

const mix = (word: number): number => {
  const once = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
};

/** Entries of a new table. */
const smallest = 1 << 10;

/** Fingerprints, each with a number: 10 bytes an entry, at most two thirds of them in use. */
export class FingerprintTable {
  size = 0;
  #high = new Int32Array(smallest);
  #low = new Int32Array(smallest);
  /** The number of each entry, from 1; 0 for an empty one. */
  #numbers = new Uint16Array(smallest);

  /** Keeps a fingerprint; one that is there keeps its number. */
  add({ high, low }: Readonly<Fingerprint>, number: number): void {
    const place = this.#place(high, low);
    if (this.#numbers[place] !== 0) return;
    this.#high[place] = high;
    this.#low[place] = low;
    this.#numbers[place] = number + 1;
    if (++this.size * 3 > this.#numbers.length * 2) this.#grow();
  }

  /** The number of a fingerprint; undefined when it is not there. */
  find({ high, low }: Readonly<Fingerprint>): number | undefined {
    const number = this.#numbers[this.#place(high, low)] ?? 0;
    return number === 0 ? undefined : number - 1;
  }

  #place(high: number, low: number): number {
    const last = this.#numbers.length - 1;
    let place = mix(high ^ Math.imul(low, 0x9e3779b1)) & last;
    while (this.#numbers[place] !== 0 && (this.#high[place] !== high || this.#low[place] !== low))
      place = (place + 1) & last;
    return place;
  }

  #grow(): void {
    const [highs, lows, numbers] = [this.#high, this.#low, this.#numbers];
    const length = numbers.length * 2;
    [this.#high, this.#low, this.#numbers] = [new Int32Array(length), new Int32Array(length), new Uint16Array(length)];
    for (let old = 0; old < numbers.length; old++) {
      if (numbers[old] === 0) continue;
      const [high, low] = [highs[old] ?? 0, lows[old] ?? 0];
      const place = this.#place(high, low);
      this.#high[place] = high;
      this.#low[place] = low;
      this.#numbers[place] = numbers[old] ?? 0;
    }
  }
}

/** Numbers that an entry of the table can have. */
export const maxNumbers = 65_000;
