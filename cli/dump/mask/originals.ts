import { Fingerprint, FingerprintTable, maxNumbers } from "./fingerprints.ts";
import { MaskError } from "./maskError.ts";

/** Characters of the shortest value that is searched for. */
const shortest = 4;
/** Characters from which on a value is found inside words and in any letter case. */
const insideFrom = 8;
/** Characters of a value that are compared. */
const longest = 64;

/** Stands for the label of IDs, which nothing may hold. */
export const platformIDs = "IDs of the platform";
/** Stands for the label of members, organizations and teams. */
export const peopleLabel = "people";

/** Values that stand in every file for other reasons. */
const common = new Set(["true", "false", "null"]);

/** Source of values that must not be found: a label of a table, or IDs of the platform. */
export interface Origin {
  table: string;
  label: string;
}

/** A word goes on with such a character. */
function isOfWord(character: number): boolean {
  if (character < 128)
    return (
      (character >= 48 && character <= 57) ||
      (character >= 65 && character <= 90) ||
      (character >= 97 && character <= 122) ||
      character === 95
    );
  return !Number.isNaN(character) && /[\p{L}\p{N}]/u.test(String.fromCharCode(character));
}

/**
 * The values that were masked or dropped, as fingerprints; none of them may stand in what is written. Shorter ones than 8
 * characters are found as words, longer ones inside of words and in any letter case; both in any Unicode form.
 */
export class Originals {
  readonly #table = new FingerprintTable();
  /** Beginnings of long values, a bit each. */
  readonly #begins = new Uint32Array(1 << 22);
  readonly #lengths = new Set<number>();
  readonly #origins: Origin[] = [];
  readonly #print = new Fingerprint();

  /** A number for what comes from a label. */
  origin(origin: Origin): number {
    if (this.#origins.length >= maxNumbers)
      throw new MaskError(`more than ${maxNumbers} labels are masked: dump fewer`);
    return this.#origins.push(origin) - 1;
  }

  /** Takes a value that must not be found. */
  add(value: string, origin: number): void {
    const plain = value.normalize("NFC").trim();
    if (plain.length < shortest || common.has(plain) || !/[\p{L}\p{N}]/u.test(plain) || /^0+$/.test(plain)) return;
    const text = plain.length < insideFrom ? plain : plain.toLowerCase().slice(0, longest);
    this.#lengths.add(text.length);
    this.#table.add(this.#print.of(text), origin);
    if (text.length < insideFrom) return;
    const begin = this.#beginOf(text, 0);
    this.#begins[begin >>> 5] = (this.#begins[begin >>> 5] ?? 0) | (1 << (begin & 31));
  }

  /** The source of the first value that is found in a text; those of `excepted` labels do not count. */
  find(text: string, excepted: ReadonlySet<string> = new Set()): Origin | undefined {
    if (text.length < shortest) return undefined;
    const plain = text.normalize("NFC");
    return this.#findWord(plain, excepted) ?? this.#findInside(plain.toLowerCase(), excepted);
  }

  #findWord(text: string, excepted: ReadonlySet<string>): Origin | undefined {
    for (let start = 0; start + shortest <= text.length; start++) {
      // A value may begin with what is no letter, as +49 does.
      if (start > 0 && isOfWord(text.charCodeAt(start - 1)) && isOfWord(text.charCodeAt(start))) continue;
      this.#print.begin();
      const end = Math.min(text.length, start + insideFrom - 1);
      for (let index = start; index < end; index++) {
        this.#print.add(text.charCodeAt(index));
        const length = index + 1 - start;
        if (length < shortest || !this.#lengths.has(length)) continue;
        if (index + 1 < text.length && isOfWord(text.charCodeAt(index)) && isOfWord(text.charCodeAt(index + 1)))
          continue;
        const found = this.#found(excepted);
        if (found) return found;
      }
    }
    return undefined;
  }

  #findInside(text: string, excepted: ReadonlySet<string>): Origin | undefined {
    for (let start = 0; start + insideFrom <= text.length; start++) {
      const begin = this.#beginOf(text, start);
      if (((this.#begins[begin >>> 5] ?? 0) & (1 << (begin & 31))) === 0) continue;
      this.#print.begin();
      const end = Math.min(text.length, start + longest);
      for (let index = start; index < end; index++) {
        this.#print.add(text.charCodeAt(index));
        const length = index + 1 - start;
        if (length < insideFrom || !this.#lengths.has(length)) continue;
        const found = this.#found(excepted);
        if (found) return found;
      }
    }
    return undefined;
  }

  #found(excepted: ReadonlySet<string>): Origin | undefined {
    const number = this.#table.find(this.#print);
    const origin = number === undefined ? undefined : this.#origins[number];
    return origin && !excepted.has(origin.label) ? origin : undefined;
  }

  /** 27 bits of the eight characters from a place on. */
  #beginOf(text: string, start: number): number {
    let bits = 0x811c9dc5;
    for (let index = start; index < start + insideFrom; index++) {
      bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
    }
    return (bits ^ (bits >>> 15)) & 0x7ffffff;
  }
}
