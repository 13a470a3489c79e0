import type { RowData } from "../../../platform/contract/values.ts";
import { canonical } from "../../reconcile/digests.ts";

/** Most lists of labels that a state keeps. */
const maxForms = 50;

/** Which labels each row of a source has, and how many rows have a value under one. Most sources have one form of row. */
export class RowLabels {
  readonly #forms: (readonly string[])[] = [];
  readonly #ids = new Map<string, number>();
  /** The form of each row; nothing as long as all have the first one. */
  #of: Uint32Array | undefined;
  #length = 0;
  #last = 0;
  /** Rows with a value, by form and place of the label. */
  readonly #counts: number[][] = [];

  /** Takes in the next row. */
  add(values: RowData): void {
    const form = this.#formOf(Object.keys(values));
    if (form !== 0 && !this.#of) this.#of = new Uint32Array(Math.max(1_024, this.#length * 2));
    if (this.#of && this.#of.length === this.#length) {
      const longer = new Uint32Array(this.#length * 2);
      longer.set(this.#of);
      this.#of = longer;
    }
    if (this.#of) this.#of[this.#length] = form;
    this.#length++;
    // Counted by place, because a million rows come by here.
    const [labels = [], counts = []] = [this.#forms[form], this.#counts[form]];
    for (let at = 0; at < labels.length; at++)
      if (hasValue(values[labels[at] ?? ""])) counts[at] = (counts[at] ?? 0) + 1;
  }

  /** The labels of a row, by its index. */
  at(index: number): readonly string[] {
    return this.#forms[this.#of?.[index] ?? 0] ?? [];
  }

  /** The different lists of labels; nothing where all rows have the same, or too many have others. */
  forms(): string[][] | undefined {
    const { length } = this.#forms;
    return length < 2 || length > maxForms ? undefined : this.#forms.map((form) => [...form]);
  }

  /** Labels that every row has. */
  get common(): readonly string[] {
    const [first = [], ...others] = this.#forms;
    return first.filter((label) => others.every((form) => form.includes(label)));
  }

  /** Rows with a value, by label. */
  counts(): Record<string, number> {
    const sums = new Map<string, number>();
    for (const [form, labels] of this.#forms.entries())
      for (const [at, label] of labels.entries())
        sums.set(label, (sums.get(label) ?? 0) + (this.#counts[form]?.[at] ?? 0));
    return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #formOf(labels: readonly string[]): number {
    const last = this.#forms[this.#last];
    if (last?.length === labels.length && labels.every((label, at) => label === last[at])) return this.#last;
    const name = JSON.stringify(labels);
    const known = this.#ids.get(name);
    this.#last = known ?? this.#forms.push(labels) - 1;
    if (known === undefined) {
      this.#ids.set(name, this.#last);
      this.#counts.push(labels.map(() => 0));
    }
    return this.#last;
  }
}

/** True for a cell with content: a platform may give back one kind of nothing for another. */
export const hasValue = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : canonical(value) !== undefined;
