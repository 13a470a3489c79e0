import type { RowData } from "../../../contract/values.ts";
import type { RowSet } from "../../../reconcile/rowSet.ts";
import { listLinkedLabels, type Mistake } from "../../../sources/source.ts";
import { summarize, type RowDeclaration } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";

const isSpaced = (value: unknown): value is string => typeof value === "string" && value.trim() !== value;

/**
 * Finds fields that keep texts without the space around them. A field does so where every text with space around it came
 * back without: one that kept its space shows that the others were changed by something else.
 */
export class Trims {
  readonly #trimmed = new Map<string, Mistake[]>();
  readonly #keeping = new Set<string>();
  /** Labels that tell rows apart, or have a form already. */
  readonly #others: ReadonlySet<string>;

  constructor(target: RowTarget) {
    this.#others = new Set([...target.key, ...listLinkedLabels(target), ...Object.keys(target.forms ?? {})]);
  }

  get isEmpty(): boolean {
    return this.#trimmed.size === 0;
  }

  /** Notes which texts kept the space around them. */
  observe(sent: RowData, found: RowData): void {
    for (const [label, value] of Object.entries(sent))
      if (isSpaced(value) && found[label] === value) this.#keeping.add(label);
  }

  /** True if a text came back without the space around it, and is otherwise the same. */
  isTrimmed(label: string, sent: RowData, found: RowData): boolean {
    const value = sent[label];
    return isSpaced(value) && value.trim() !== "" && found[label] === value.trim() && !this.#others.has(label);
  }

  add(label: string, mistake: Mistake): void {
    this.#trimmed.set(label, [...(this.#trimmed.get(label) ?? []), mistake]);
  }

  labels(): string[] {
    return [...this.#trimmed.keys()].filter((label) => !this.#keeping.has(label));
  }

  /** The cells of fields that trim some texts alone. */
  mistakes(): Mistake[] {
    return [...this.#trimmed].flatMap(([label, mistakes]) => (this.#keeping.has(label) ? mistakes : []));
  }
}

/** The declaration with what an earlier run has seen of the table's fields. */
export const withTrims = <Inputs extends object>(
  inputs: Inputs,
  old: Pick<RowDeclaration, "trims"> | undefined,
): Inputs => (old?.trims ? { ...inputs, trims: old.trims } : inputs);

/** Digests rows again once fields were seen to trim texts; returns them with the labels of all such fields. */
export async function learnTrims(
  declaration: RowDeclaration,
  rows: RowSet,
  trimmed: ReadonlySet<string>,
  directory: string,
): Promise<{ rows: RowSet; trims: string[] | undefined }> {
  if (trimmed.size === 0) return { rows, trims: declaration.trims };
  const trims = [...new Set([...(declaration.trims ?? []), ...trimmed])].sort();
  return { rows: (await summarize({ ...declaration, trims }, directory)).rows, trims };
}
