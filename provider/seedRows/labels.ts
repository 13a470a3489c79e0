import type { RowData } from "../../platform/contract/values.ts";
import { entryIn } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import type { Content, Digest, RowDigester } from "../reconcile/digests.ts";
import { removable, tooManyCleared } from "../reconcile/guards.ts";
import type { RowPlan, Forecast } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { hasValue } from "./cells.ts";
import { digesterFor, type Summary } from "./declaration.ts";
import type { Seed, SeedInputs, SeedState } from "./inputs.ts";

/** The labels by which rows of a seed are compared with those of the platform. */
export interface Scope {
  /** All that the seed answers for. */
  labels: readonly string[];
  /** Those of one row, where it has others. */
  at?: ((key: Digest) => readonly string[] | undefined) | undefined;
  /** A row that is as wanted by one of these lists of labels is so, whatever the others say. */
  forms?: ((key: Digest) => readonly (readonly string[])[]) | undefined;
}

export const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();

/**
 * In mode `exact` a seed answers for the labels that its rows declare now and for those of the last run, which it takes back
 * where they are not declared any more. In any other mode a row's own labels alone count.
 * @param handed labels that other seeds wrote into rows that they hand over, by the index of the row
 */
export function scopeOf(
  { mode, ignoreLabels = [] }: SeedInputs,
  { rows, labels, rowLabels }: Pick<Summary, "rows" | "labels" | "rowLabels">,
  old?: Pick<SeedState, "labels">,
  handed: ReadonlyMap<number, readonly string[]> = new Map(),
): Scope {
  // A label that others write from now on is not taken back.
  const all = union(labels, old?.labels ?? []).filter((label) => !ignoreLabels.includes(label));
  const isSame = (one: readonly string[]): boolean =>
    one.length === all.length && one.every((label) => all.includes(label));
  // A label that left the source is compared with its last applied values.
  const before = old && !isSame(old.labels) ? old.labels : undefined;
  if (mode !== "exact") {
    if (isSame(rowLabels.common) && !before) return { labels: all };
    const at = (key: Digest): readonly string[] | undefined => (rows.has(key) ? undefined : before);
    const forms = (key: Digest): (readonly string[])[] => {
      const index = rows.find(key);
      return index === undefined ? [] : [rowLabels.at(index)];
    };
    return { labels: all, at, forms };
  }
  if (handed.size === 0 && !before) return { labels: all };
  const taken = new Map(
    [...handed].map(([index, more]) => [index, union(all, more).filter((label) => !ignoreLabels.includes(label))]),
  );
  const at = (key: Digest): readonly string[] | undefined => {
    const index = rows.find(key);
    return index === undefined ? before : taken.get(index);
  };
  return { labels: all, at };
}

/** The scope of what the last run applied. */
export const scopeOfState = ({
  labels,
  labelSets,
}: {
  labels: readonly string[];
  labelSets?: string[][] | undefined;
}): Scope => (labelSets ? { labels, forms: () => labelSets } : { labels });

/** Takes the content of live rows by the labels that count for each. */
export function contentIn(
  { labels, at, forms }: Scope,
  declaration: Seed,
  wanted: RowSet,
): (key: Digest, values: RowData) => Content {
  const digesters = new Map<readonly string[], RowDigester>();
  const by = (some: readonly string[]): RowDigester => {
    const digester = digesters.get(some) ?? digesterFor(declaration, some);
    digesters.set(some, digester);
    return digester;
  };
  const all = by(labels);
  return (rowKey, values) => {
    const own = at?.(rowKey);
    const index = forms && wanted.find(rowKey);
    for (const form of index === undefined ? [] : (forms?.(rowKey) ?? [])) {
      const content = by(form).content(values);
      if (wanted.hasContent(index ?? -1, content)) return content;
    }
    return (own ? by(own) : all).content(values);
  };
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
    { mode, parent, ignoreLabels = [] }: SeedInputs,
    { rowLabels }: Pick<Summary, "rowLabels">,
    { labels }: Scope,
    old?: SeedState,
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
export const tooMuchCleared = (
  counts: ReadonlyMap<string, number>,
  owned: number,
  { maxRemovals }: SeedInputs,
): string[] => [...counts].flatMap(([label, rows]) => tooManyCleared(label, rows, owned, maxRemovals) ?? []);

/** `; cleared Extra in 3 rows`, empty for nothing. */
export const describeCleared = (clearing: Clearing): string => {
  const parts = [...countsIn(clearing)].map(([label, rows]) => `${label} in ${formatCount(rows, "row")}`);
  return parts.length === 0 ? "" : `; cleared ${parts.join(", ")}`;
};

interface Leaving {
  label: string;
  /** Rows that lose it: at least, and at most. */
  least: number;
  most: number;
  /** True when the state has the number of rows. */
  isCounted: boolean;
}

/** Labels that rows of ours had and do not declare any more, with the rows that changes of a plan concern. */
function leavingLabels(
  old: SeedState,
  { rows, rowLabels }: Pick<Summary, "rows" | "rowLabels">,
  { parent, ignoreLabels = [], maxRemovals }: SeedInputs,
  plan: Forecast,
  isAlone: boolean,
): Leaving[] {
  const common = new Set(rowLabels.common);
  const candidates = old.labels.filter(
    (label) => !common.has(label) && !ignoreLabels.includes(label) && label !== parent?.by && label !== old.parent?.by,
  );
  return candidates.flatMap((label) => {
    const before = old.labelled ? (entryIn(old.labelled, label) ?? 0) : undefined;
    if (before === 0) return [];
    if (!plan.exact) {
      // A row loses no label by leaving, and only so many may leave.
      const stay = (before ?? 0) - removable(old.rowCount, maxRemovals);
      const least = isAlone ? Math.max(0, stay - (entryIn(rowLabels.counts(), label) ?? 0)) : 0;
      return [{ label, least, most: before ?? old.rowCount, isCounted: before !== undefined }];
    }
    const { added, changed } = plan.change;
    const lacking = changed.filter((index) => !rowLabels.at(index).includes(label)).length;
    let declaring = 0;
    for (let index = 0; index < rows.length; index++)
      if (!added.has(index) && rowLabels.at(index).includes(label)) declaring++;
    const removed = plan.change.removed.length + (plan.keptForOthers ?? 0);
    const most = Math.min(before ?? lacking, lacking);
    const least = before === undefined ? 0 : Math.max(0, Math.min(most, before - removed - declaring));
    return most === 0 ? [] : [{ label, least, most, isCounted: before !== undefined }];
  });
}

const how = ({ least, most, isCounted }: Leaving): string => {
  if (!isCounted) return `where rows have it, in up to ${formatCount(most, "row")}`;
  if (least === most) return `in ${formatCount(most, "row")}`;
  return least === 0 ? `in up to ${formatCount(most, "row")}` : `in ${least} to ${formatCount(most, "row")}`;
};

/**
 * Forecast for labels that rows no longer declare, a sentence for each, and a refusal where certainly more rows would
 * lose one than `maxRemovals` allows.
 * @param isAlone true where no other seed may take rows of this one
 */
export function clearForecast(
  old: SeedState,
  inputs: SeedInputs,
  summary: Pick<Summary, "rows" | "rowLabels">,
  plan: Forecast,
  isAlone: boolean,
): { sentences: string[]; refusals: string[]; isLeft: boolean } {
  const leaving = leavingLabels(old, summary, inputs, plan, isAlone);
  if (inputs.mode !== "exact") {
    const sentences = leaving.map(
      (one) =>
        `${one.label} stays as it is ${how(one)}, where it is not declared any more: mode ${inputs.mode} clears nothing`,
    );
    return { sentences, refusals: [], isLeft: leaving.length > 0 };
  }
  const refusals = leaving.flatMap(
    ({ label, least, most }) =>
      (tooManyCleared(label, least, old.rowCount, inputs.maxRemovals) &&
        tooManyCleared(label, plan.exact ? least : most, old.rowCount, inputs.maxRemovals)) ??
      [],
  );
  const sentences = leaving.map((one) => `clears ${one.label} ${how(one)}: it is not declared there any more`);
  return { sentences, refusals, isLeft: false };
}
