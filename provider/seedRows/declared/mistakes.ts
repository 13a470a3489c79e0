import { quote } from "../../../platform/messages/text.ts";
import type { Mistake } from "../source/source.ts";

/** Mistakes that are named; of the others only the number. */
const maxNamed = 20;

/** Mistakes of rows: the same mistake of many rows is one sentence, at the first of them. */
export class RowMistakes {
  readonly #place: (line: number, column?: number) => string;
  readonly #found = new Map<string, { first: Mistake; count: number }>();
  /** Mistakes beyond those that are named. */
  #others = 0;

  /** @param place where a row stands, for people */
  constructor(place: (line: number, column?: number) => string) {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  add(mistake: Mistake): void {
    const about = mistake.about ?? mistake.text;
    const known = this.#found.get(about);
    if (known) known.count++;
    else if (this.#found.size < maxNamed) this.#found.set(about, { first: mistake, count: 1 });
    else this.#others++;
  }

  /** `countries.csv:17 "PT" and 19 more: People is a number: …`, in the order in which they were found. */
  sentences(): string[] {
    const messages = [...this.#found.values()].map(({ first: { line, column, key, text }, count }) => {
      const which = key === undefined ? "" : ` ${quote(key)}`;
      return `${this.#place(line, column)}${which}${count > 1 ? ` and ${count - 1} more` : ""}: ${text}`;
    });
    return this.#others > 0 ? [...messages, `and ${this.#others} more`] : messages;
  }
}
