import { isObject } from "../../provider/contract/wire.ts";
import type { Replacer } from "./privacy/replacer.ts";
import { isDate } from "./tables.ts";

/** Milliseconds of a day. */
const day = 86_400_000;

/** The first date that stands for another. */
const firstDay = Date.UTC(2000, 0, 1);

/** Rewrites values of rows. */
export interface RowValues {
  /** Takes a value that will be written. All must be known before the first is. */
  see: (value: unknown) => void;
  written: (label: string, value: unknown) => unknown;
}

/** Values stay, without secrets and people. */
export const keepPlainValues = (replacer: Replacer): RowValues => ({
  see: () => undefined,
  written: (label, value) => replacer.value(value, label),
});

/**
 * Values give way to others of their type, in the same order and the same for the same: what is sorted, compared or
 * linked by them goes on to be. `true`, `false`, null, empty texts and IDs of what is written stay.
 */
export class Shapes implements RowValues {
  readonly #texts = new Set<string>();
  readonly #numbers = new Set<number>();
  readonly #dates = new Set<number>();
  #ranked: { texts: Map<string, string>; numbers: Map<number, number>; dates: Map<number, number> } | undefined;
  readonly #replacer: Replacer;
  readonly #isID: (text: string) => boolean;

  constructor(replacer: Replacer, isID: (text: string) => boolean) {
    this.#replacer = replacer;
    this.#isID = isID;
  }

  see(value: unknown): void {
    if (typeof value === "number") this.#numbers.add(value);
    else if (typeof value === "string") {
      if (isDate(value)) this.#dates.add(Date.parse(value));
      else this.#texts.add(value);
    } else if (Array.isArray(value)) for (const item of value) this.see(item);
    else if (isObject(value)) for (const inner of Object.values(value)) this.see(inner);
  }

  written(_label: string, value: unknown): unknown {
    if (typeof value === "number") return this.#ranks().numbers.get(value) ?? 0;
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.written("", item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [this.#replacer.text(key), this.#part(key, inner)]),
    );
  }

  /** A part of a value: of a link its row and its label stay, of a place where it would be. */
  #part(key: string, value: unknown): unknown {
    if (key === "crossAppRowID" || (key === "label" && typeof value === "string")) return this.#replacer.value(value);
    if (key === "coordinates" && Array.isArray(value)) return value.map(() => 0);
    if (key === "type" && value === "Point") return value;
    return this.written("", value);
  }

  #text(text: string): string {
    if (/^(true|false)?$/.test(text) || this.#isID(text)) return this.#replacer.text(text);
    const replaced = this.#replacer.text(text);
    if (replaced !== text && !/\s/.test(text)) return replaced; // the ID of a user, say, that a seed has as well
    const { texts, dates } = this.#ranks();
    if (!isDate(text)) return texts.get(text) ?? "Text";
    const date = new Date(firstDay + (dates.get(Date.parse(text)) ?? 0) * day).toISOString();
    return text.length <= 10 ? date.slice(0, text.length) : date;
  }

  #ranks() {
    return (this.#ranked ??= {
      texts: new Map([...this.#texts].toSorted(byBytes).map((text, rank) => [text, this.#named(rank + 1)])),
      numbers: new Map(this.#numbersInOrder()),
      dates: ranks(this.#dates),
    });
  }

  #named(rank: number): string {
    const name = `Text ${String(rank).padStart(String(this.#texts.size).length, "0")}`;
    return this.#replacer.text(name) === name ? name : `Text ${name}`;
  }

  /** Whole numbers give way to whole ones, zero and what is below it to such. */
  *#numbersInOrder(): Generator<[number, number]> {
    const all = [...this.#numbers].toSorted((a, b) => a - b);
    const zero = all.filter((number) => number < 0).length;
    const isThere = all.includes(0);
    for (const [rank, number] of all.entries()) {
      const place = rank - zero + (number > 0 && !isThere ? 1 : 0);
      yield [number, Number.isInteger(number) ? place : place + (number > 0 ? 0.5 : -0.5)];
    }
  }
}

const ranks = (values: ReadonlySet<number>): Map<number, number> =>
  new Map([...values].toSorted((a, b) => a - b).map((value, rank) => [value, rank]));

/** As the platform sorts texts. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
