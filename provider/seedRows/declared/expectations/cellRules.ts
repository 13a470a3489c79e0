import type { RowData } from "../../../../platform/contract/values.ts";
import { isObject, entryIn } from "../../../../platform/contract/wire.ts";
import { quote, some } from "../../../../platform/messages/text.ts";
import { keyText } from "../../../reconcile/digests.ts";
import { inForm } from "../../../reconcile/valueForms.ts";
import { isHidden, type Source } from "../../source/source.ts";
import { shown, type SpelledForms } from "../forms.ts";
import { hasValue } from "../rowLabels.ts";
import type { Expectations, Expecting } from "./expectations.ts";

/** A seed whose rows are held against expectations. */
export interface ExpectingSeed extends Source, Expecting, SpelledForms {
  table?: string | undefined;
  /** Labels that others write: a value of the source goes into new rows alone. */
  ignoreLabels?: readonly string[] | undefined;
}

/** A cell that an expectation refuses. */
export interface Violation {
  rule: "notNull" | "acceptedValues";
  label: string;
  /** Value of the cell for people; undefined for none, and for a secret one. */
  value?: string;
}

/** Expectations of single cells. Values are compared as keys are: text and number are the same. */
export class CellRules {
  readonly #notNull: readonly string[];
  readonly #accepted: readonly (readonly [label: string, values: ReadonlySet<string | undefined>])[];
  readonly #seed: ExpectingSeed;
  readonly #forms: SpelledForms["forms"];

  constructor(seed: ExpectingSeed) {
    const { notNull = [], acceptedValues = {} } = seed.expect ?? {};
    this.#seed = seed;
    this.#forms = seed.forms;
    this.#notNull = notNull;
    this.#accepted = Object.entries(acceptedValues).map(([label, values]) => [
      label,
      new Set(values.map((value) => this.textOf(label, value))),
    ]);
  }

  /** The text of a value that comparisons use; undefined for none. */
  textOf(label: string, value: unknown): string | undefined {
    const form = entryIn(this.#forms, label);
    const shown =
      isObject(value) && isObject(value["value"]) && "crossAppRowID" in value ? value["value"]["value"] : value;
    return hasValue(shown) ? keyText(form === undefined ? shown : inForm(form, shown)) : undefined;
  }

  /** A value for people; undefined for a secret one. */
  shown(label: string, value: unknown): string | undefined {
    return isHidden(this.#seed, label) ? undefined : shown(value);
  }

  /** @param counts false for labels that are not judged */
  violations(values: RowData, counts: (label: string) => boolean = () => true): Violation[] {
    const found: Violation[] = [];
    for (const label of this.#notNull)
      if (!hasValue(values[label]) && counts(label)) found.push({ rule: "notNull", label });
    for (const [label, accepted] of this.#accepted) {
      const value = values[label];
      if (!hasValue(value) || !counts(label)) continue;
      const items: unknown[] = Array.isArray(value) ? value : [value];
      const strange = items.find((item) => !accepted.has(this.textOf(label, item)));
      if (strange === undefined) continue;
      const text = this.shown(label, strange);
      found.push({ rule: "acceptedValues", label, ...(text === undefined ? {} : { value: text }) });
    }
    return found;
  }
}

/** The accepted values of a label for people; empty for a secret one. */
export const describeAccepted = (seed: ExpectingSeed, label: string): string =>
  isHidden(seed, label) ? "" : `: ${some((seed.expect?.acceptedValues?.[label] ?? []).map(String).map(quote), 10)}`;

/** Why a number of rows is not as expected; undefined where it is. */
export function describeRowCount(
  { min = 0, max }: NonNullable<Expectations["rowCount"]>,
  count: number,
): string | undefined {
  if (count < min) return `fewer than ${min}`;
  return max !== undefined && count > max ? `more than ${max}` : undefined;
}
