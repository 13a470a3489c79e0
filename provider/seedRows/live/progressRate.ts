/** Seconds before there is a rate. */
const enough = 2;

/** How far a long piece of work is, for people: `4,000 of 10,000 rows written, 2,000/s, 3 s left`. */
export class ProgressRate {
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #now: () => number;
  readonly #began: number;
  #done = 0;

  /** @param total how many there are, if that is known */
  constructor(what: string, now: () => number, total?: number) {
    this.#what = what;
    this.#total = total;
    this.#now = now;
    this.#began = now();
  }

  /** Adds to the count; answers how far the work is. */
  add(count: number): string {
    this.#done += count;
    const seconds = (this.#now() - this.#began) / 1000;
    const of = this.#total === undefined ? "" : ` of ${numbered(this.#total)}`;
    const what = (this.#total ?? this.#done) === 1 ? this.#what.replace(/^(\w+)s\b/, "$1") : this.#what;
    const text = `${numbered(this.#done)}${of} ${what}`;
    if (seconds < enough) return text;
    const rate = this.#done / seconds;
    const left = this.#total === undefined ? "" : `, ${Math.ceil((this.#total - this.#done) / rate)} s left`;
    return `${text}, ${numbered(Math.round(rate))}/s${left}`;
  }
}

/** As `toLocaleString("en")` does it, which takes 10 ms the first time. */
const numbered = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
