import { entryIn } from "../../../platform/contract/wire.ts";
import { formatCount } from "../../../platform/messages/text.ts";
import { tooManyCleared } from "../../reconcile/guards.ts";
import type { Forecast, Mode } from "../../reconcile/rows.ts";
import type { Summary } from "../declared/declaration.ts";

interface Old {
  labels: readonly string[];
  labelled?: Readonly<Record<string, number>> | undefined;
  parent?: { by: string } | undefined;
  rowCount: number;
}

interface Inputs {
  parent?: { by: string } | undefined;
  ignoreLabels?: readonly string[] | undefined;
}

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
  old: Old,
  { rows, rowLabels }: Pick<Summary, "rows" | "rowLabels">,
  { parent, ignoreLabels = [] }: Inputs,
  plan: Forecast,
): Leaving[] {
  const common = new Set(rowLabels.common);
  const candidates = old.labels.filter(
    (label) => !common.has(label) && !ignoreLabels.includes(label) && label !== parent?.by && label !== old.parent?.by,
  );
  return candidates.flatMap((label) => {
    const before = old.labelled ? (entryIn(old.labelled, label) ?? 0) : undefined;
    if (before === 0) return [];
    if (!plan.exact) return [{ label, least: 0, most: before ?? old.rowCount, isCounted: before !== undefined }];
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
 */
export function clearForecast(
  old: Old,
  inputs: Inputs & { mode: Mode; maxRemovals: number },
  summary: Pick<Summary, "rows" | "rowLabels">,
  plan: Forecast,
): { sentences: string[]; refusals: string[]; isLeft: boolean } {
  const leaving = leavingLabels(old, summary, inputs, plan);
  if (inputs.mode !== "exact") {
    const sentences = leaving.map(
      (one) =>
        `${one.label} stays as it is ${how(one)}, where it is not declared any more: mode ${inputs.mode} clears nothing`,
    );
    return { sentences, refusals: [], isLeft: leaving.length > 0 };
  }
  const refusals = leaving.flatMap(
    ({ label, least }) => tooManyCleared(label, least, old.rowCount, inputs.maxRemovals) ?? [],
  );
  const sentences = leaving.map((one) => `clears ${one.label} ${how(one)}: it is not declared there any more`);
  return { sentences, refusals, isLeft: false };
}
