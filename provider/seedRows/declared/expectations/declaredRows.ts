import type { RowData } from "../../../../platform/contract/values.ts";
import { digestOf } from "../../../reconcile/digests.ts";
import { RowSet } from "../../../reconcile/rowSet.ts";
import { placeOf, type Mistake } from "../../source/source.ts";
import { CellRules, describeAccepted, type ExpectingSeed, type Violation } from "./cellRules.ts";

/** Holds the rows of a source against the expectations of their seed, offline: labels that a row declares are judged. */
export class ExpectedRows {
  readonly #seed: ExpectingSeed;
  readonly #rules: CellRules;
  readonly #unique: readonly (readonly [label: string, seen: RowSet])[];

  constructor(seed: ExpectingSeed) {
    this.#seed = seed;
    this.#rules = new CellRules(seed);
    this.#unique = (seed.expect?.unique ?? []).map((label) => [label, new RowSet()]);
  }

  /** Takes in a row; yields what is wrong with it. */
  *mistakesOf(line: number, values: RowData): Generator<Omit<Mistake, "line">> {
    // Others write an ignored label: what a table has there is judged on the platform.
    const counts = (label: string): boolean =>
      Object.hasOwn(values, label) && !this.#seed.ignoreLabels?.includes(label);
    for (const violation of this.#rules.violations(values, counts)) yield this.#describe(violation);
    for (const [label, seen] of this.#unique) {
      const text = counts(label) ? this.#rules.textOf(label, values[label]) : undefined;
      const before = text === undefined ? undefined : seen.add(digestOf(text), undefined, line);
      if (before === undefined) continue;
      const shown = this.#rules.shown(label, values[label]);
      const there = placeOf(this.#seed, seen.line(before));
      const what = shown === undefined ? "the same value" : shown;
      yield {
        text: `${label} is ${what} as at ${there}, and expect.unique takes each value once`,
        about: `${label} unique`,
      };
    }
  }

  #describe({ rule, label, value }: Violation): Omit<Mistake, "line"> {
    const about = `${label} ${rule}`;
    if (rule === "notNull")
      return { about, text: `${label} has no value, and expect.${rule} takes no row without one` };
    const what = value === undefined ? "a value that is not" : `${value}, none`;
    return { about, text: `${label} is ${what} of expect.${rule}${describeAccepted(this.#seed, label)}` };
  }

  /** Why so many rows can't be as expected; empty where they can: a table may have others beside them. */
  describeTooMany(count: number): string[] {
    const { max = Infinity } = this.#seed.expect?.rowCount ?? {};
    if (count <= max) return [];
    return [`${placeOf(this.#seed, 1)}: ${count} rows begin here, and expect.rowCount takes at most ${max}`];
  }
}
