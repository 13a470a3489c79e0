import type { RowData } from "../../../platform/contract/values.ts";
import { type Content, type Digest, type RowDigester } from "../../reconcile/digests.ts";
import type { Mode } from "../../reconcile/rows.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { digesterFor, type RowDeclaration, type Summary } from "../declared/declaration.ts";

/** The labels by which rows of a seed are compared with those of the platform. */
export interface Scope {
  /** All that the seed answers for. */
  labels: readonly string[];
  /** Those of one row, where it has others. */
  at?: ((key: Digest) => readonly string[] | undefined) | undefined;
  /** A row that is as wanted by one of these lists of labels is so, whatever the others say. */
  forms?: ((key: Digest) => readonly (readonly string[])[]) | undefined;
}

interface Seed {
  mode: Mode;
  ignoreLabels?: readonly string[] | undefined;
  parent?: { by: string } | undefined;
}

export const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();

/**
 * In mode `exact` a seed answers for the labels that its rows declare now and for those of the last run, which it takes back
 * where they are not declared any more. In any other mode a row's own labels alone count.
 * @param handed labels that other seeds wrote into rows that they hand over, by the index of the row
 */
export function scopeOf(
  { mode, ignoreLabels = [] }: Pick<Seed, "mode" | "ignoreLabels">,
  { rows, labels, rowLabels }: Pick<Summary, "rows" | "labels" | "rowLabels">,
  old?: { labels: readonly string[] },
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
  declaration: RowDeclaration,
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
