import type { RowData } from "../../../platform/contract/values.ts";
import { formatCount } from "../../../platform/messages/text.ts";
import { tooManyCleared } from "../../reconcile/guards.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import type { Summary } from "../declared/declaration.ts";
import { hasValue } from "../declared/rowLabels.ts";
import { union, type Scope } from "./scope.ts";

interface Seed {
  mode: string;
  maxRemovals?: number | undefined;
  parent?: { by: string } | undefined;
  ignoreLabels?: readonly string[] | undefined;
}

/** Labels that leave rows: wanted row → labels to clear there. */
export type Clearing = ReadonlyMap<number, readonly string[]>;

/** Notes which live rows have a value under a label that not every row of the source declares. */
export class LeftLabels {
  /** Those that may have to be cleared in some row. */
  readonly #candidates: readonly string[];
  readonly #rows = new Map<string, readonly string[]>();
  /** The same list for the same labels: most rows have the same ones. */
  readonly #lists = new Map<string, readonly string[]>();

  /** @param handed labels that other seeds wrote into rows that they hand over */
  constructor(
    { mode, parent, ignoreLabels = [] }: Seed,
    { rowLabels }: Pick<Summary, "rowLabels">,
    { labels }: Scope,
    old?: { parent?: { by: string } | undefined },
    handed: Iterable<readonly string[]> = [],
  ) {
    // The column that names the parent row is no field.
    const left = new Set([...rowLabels.common, parent?.by, old?.parent?.by, ...ignoreLabels]);
    this.#candidates = mode === "exact" ? union(labels, ...handed).filter((label) => !left.has(label)) : [];
  }

  observe(id: string, values: RowData): void {
    if (this.#candidates.length === 0) return;
    const found = this.#candidates.filter((label) => hasValue(values[label]));
    if (found.length === 0) return;
    const name = found.join("\n");
    const list = this.#lists.get(name) ?? found;
    this.#lists.set(name, list);
    this.#rows.set(id, list);
  }

  /** Cells that the updates of a plan clear. */
  clearedBy(
    { update }: Pick<RowPlan, "update">,
    { rowLabels }: Pick<Summary, "rowLabels">,
    scope: Scope,
    handed: ReadonlyMap<number, readonly string[]>,
  ): Clearing {
    const clearing = new Map<number, readonly string[]>();
    for (const { wanted, id } of update) {
      const found = this.#rows.get(id);
      if (!found) continue;
      const own = rowLabels.at(wanted);
      const counts = (label: string): boolean =>
        scope.labels.includes(label) || handed.get(wanted)?.includes(label) === true;
      const labels = found.filter((label) => !own.includes(label) && counts(label));
      if (labels.length > 0) clearing.set(wanted, labels);
    }
    return clearing;
  }
}

/** Rows by label. */
export function countsIn(clearing: Clearing): Map<string, number> {
  const counts = new Map<string, number>();
  for (const labels of clearing.values()) for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Describes the labels that a refused row was to lose; empty for none. */
export const describeRefusedClearing = (labels: readonly string[] = []): string =>
  labels.length === 0
    ? ""
    : `. ${labels.join(", ")} was to be cleared, since the row does not declare it any more: where the platform requires it, declare it again`;

/** Why so many rows must not lose a label at a time. */
export const tooMuchCleared = (counts: ReadonlyMap<string, number>, owned: number, { maxRemovals }: Seed): string[] =>
  [...counts].flatMap(([label, rows]) => tooManyCleared(label, rows, owned, maxRemovals) ?? []);

/** `; cleared Extra in 3 rows`, empty for nothing. */
export const describeCleared = (clearing: Clearing): string => {
  const parts = [...countsIn(clearing)].map(([label, rows]) => `${label} in ${formatCount(rows, "row")}`);
  return parts.length === 0 ? "" : `; cleared ${parts.join(", ")}`;
};
