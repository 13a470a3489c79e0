import type { RowData } from "../../../platform/contract/values.ts";
import { canonical } from "../../reconcile/digests.ts";
import { keyOf, type RowDeclaration } from "../declared/declaration.ts";
import { comparing } from "../declared/forms.ts";

/** Rows that a program declares, as they are found on the platform: an engine compares them with the declared ones. */
export class FoundRows {
  readonly #declaration: RowDeclaration;
  readonly #labels: readonly string[];
  readonly #form: ReturnType<typeof comparing>;
  readonly #declared: ReadonlyMap<string, RowData>;
  readonly #found = new Map<string, RowData>();

  /** @param rows as they were declared, or found the last time */
  constructor(declaration: RowDeclaration & { labels: readonly string[] }, rows: readonly RowData[]) {
    this.#declaration = declaration;
    this.#labels = declaration.labels;
    this.#form = comparing(declaration);
    this.#declared = new Map(rows.map((values) => [keyOf(declaration.key, values), values]));
  }

  /** Takes in a row of the platform, in the words of the source. */
  observe(values: RowData): void {
    const key = keyOf(this.#declaration.key, values);
    const declared = this.#declared.get(key);
    const labels = new Set([
      ...Object.keys(declared ?? {}),
      ...this.#labels.filter((label) => canonical(values[label])),
    ]);
    const conditions = [...labels].map((label) => {
      const form = (value: unknown) => this.#form(label, value);
      // The same value keeps the spelling that it is declared in; what others write is theirs.
      const isSame = this.#declaration.ignoreLabels?.includes(label) || form(values[label]) === form(declared?.[label]);
      return [label, isSame ? declared?.[label] : values[label]] as const;
    });
    this.#found.set(key, Object.fromEntries(conditions));
  }

  /** The rows that were found, with their keys. */
  inputs(): { rows: RowData[]; keys: string[] } {
    return { rows: [...this.#found.values()], keys: [...this.#found.keys()] };
  }
}
