import type { CallCounter } from "../../platform/client/index.ts";
import { formatCounts, formatCount, quote, some } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import type { Report } from "../resources/resource.ts";
import {
  keysOf,
  areAlike,
  describeRows,
  rowsByKey,
  withoutSecrets,
  withoutIgnored,
  type BothSides,
  type RowsByKey,
} from "./declaration.ts";
import type { Seed, SeedInputs, Drift } from "./inputs.ts";
import type { Mode, RowPlan, OnConflict } from "./plan.ts";

/** Why rows of a seed that goes are not removed. */
export const unprovenMessage = ({ table, source }: { table: string; source?: string | undefined }): string =>
  `it can't be proven which rows of table ${table} are ours, since too much changed there: none was removed. ` +
  (source === undefined ? "Run up with the rows as they were, or " : `Put back ${source} as it was applied, or `) +
  `set onDestroy to retain and run up, which leaves them all there`;

/** Why a run changes nothing that can't know which rows are ours: it would leave some of them for ever. */
export const unprovenPlan = ({ table, source }: { table: string; source?: string | undefined }): string =>
  `it can't be proven which rows of table ${table} are ours, since too much changed there and in the source at once: nothing was sent. ` +
  `Put back ${source ?? "the rows"} as the last run that ended applied it and run up; then make the change again`;

/** Reports what a run found that its outcome does not show. */
export function tellFindings(report: Report, table: string, plan: RowPlan): void {
  const { duplicates } = plan;
  if (duplicates.length > 0) {
    const others = duplicates.reduce((sum, { ids }) => sum + ids.length, 0);
    const first = duplicates.flatMap(({ ids }) => ids).slice(0, 5);
    report.warning(
      `table ${table} has ${formatCount(duplicates.length, "natural key")} more than once: left alone beside ours: ${formatCount(others, "row")} ` +
        `(rowID ${first.join(", ")}${first.length < others ? ", …" : ""}). Remove them by hand, or name more labels in key.`,
    );
  }
}

/** Describes a run in one line with its calls. */
export function outcome(plan: RowPlan & { mode: Mode }, calls: CallCounter, milliseconds: number): string {
  const counts = [
    [plan.insert.size, "added"],
    [plan.update.length, "changed"],
    [plan.remove.length, "removed"],
    [plan.unchanged, "unchanged"],
    [plan.adopted, plan.mode === "updateOnly" ? "already correct, managed by others" : "of these new to this seed"],
    [plan.kept, "kept as edited by hand"],
    [plan.released, "no longer managed, left in the table"],
    [plan.foreign, "of others left alone"],
  ] as const;
  return `rows: ${formatCounts(counts)}; ${calls.describe()}, ${(milliseconds / 1000).toFixed(1)} s`;
}

/** Why a seed that only changes rows can't be carried out. */
export const withoutRow = (table: string, count: number, named: string): string =>
  `table ${table} has no row for ${formatCount(count, "natural key")} (${named}), and mode "updateOnly" inserts none: correct the keys, leave these rows out, or set mode to upsert or exact, which add them`;

/** Ends when a plan must not be carried out, naming the rows. */
export async function refusePlan(
  inputs: SeedInputs,
  plan: Pick<RowPlan, "adoptNeeded" | "conflicts" | "lacking">,
  reasons: string[],
  directory: string,
  isNew: boolean,
): Promise<void> {
  const keys = async (indices: number[]): Promise<string> =>
    inputs.sensitive
      ? `${indices.length} rows`
      : some((await keysOf(inputs, directory, new Set(indices))).map(quote), 20);
  if (plan.adoptNeeded.length > 0) {
    const named = await keys(plan.adoptNeeded.map(({ wanted }) => wanted));
    const replaced = isNew
      ? " If this seed was tainted, or is replaced by order, run the same command with --refresh: then it is seen which rows are its own."
      : "";
    reasons.push(
      `table ${inputs.table} has rows with these keys and other content that are not ours: ${named}. Set adopt: true to take them over, or remove them from the source. If a seed had them that was renamed in the program, give the new one aliases (formerly in an environment file). If another seed gives them up in this run, run the same command with --refresh, or declare this one after it.${replaced}`,
    );
  }
  if (plan.conflicts.length > 0) {
    const known = plan.conflicts.flatMap(({ wanted }) => wanted ?? []);
    const named = known.length > 0 ? `: ${await keys(known)}` : "";
    reasons.push(
      `${plan.conflicts.length} rows of table ${inputs.table} were edited or removed by hand and onConflict is "error"${named}. Set onConflict to overwrite or keepLive, or put them back.`,
    );
  }
  if (plan.lacking.length > 0) reasons.push(withoutRow(inputs.table, plan.lacking.length, await keys(plan.lacking)));
  if (reasons.length > 0) throw new ResourceError(reasons.join("\n"));
}

/** Secret values of rows by natural key and label, sealed. */
export type FoundSecrets = Record<string, Record<string, string>>;

/** The part of a drift that an update repairs: edits may be kept, and insert-only rows are not changed back. */
export function repairsOf(
  { mode, onConflict }: { mode: Mode; onConflict: OnConflict },
  drift: Drift | undefined,
): Drift | undefined {
  if (!drift) return undefined;
  const { unlinked = 0, unlinkedKeys = [] } = drift;
  const left: Drift =
    onConflict === "keepLive"
      ? { ...drift, changed: unlinked, changedKeys: unlinkedKeys, missing: 0, missingKeys: [] }
      : drift;
  const repaired = mode === "insertOnly" ? { ...left, changed: 0, changedKeys: [] } : left;
  return repaired.changed + repaired.missing > 0 ? repaired : undefined;
}

/**
 * Describes the drift in one line: the changed rows, cell by cell (declared, or as in `last`, => found), and the missing rows.
 * Undefined where the declared rows are those that a refresh has found: it has described them, and what the program
 * declares is compared later.
 */
export async function driftMessage(
  declaration: Seed & { onConflict: OnConflict },
  drift: Drift,
  directory: string,
  secrets?: FoundSecrets,
  last?: RowsByKey,
): Promise<string | undefined> {
  const { changed, missing, changedKeys, missingKeys, unlinked = 0 } = drift;
  const byHand = changed + missing > unlinked;
  const found = Object.entries(drift.found ?? {}).map(([key, values]) => {
    const sealed = { ...withoutSecrets(declaration, values), ...secrets?.[key] };
    return [key, withoutIgnored(declaration, sealed)] as const;
  });
  const is: RowsByKey = new Map(found);
  const was = is.size === 0 ? is : (last ?? (await rowsByKey(declaration, directory, changedKeys)));
  if (missing === 0 && unlinked === 0 && areAlike(declaration, changed, { was, is })) return undefined;
  const named = (keys: readonly string[], count: number, both?: BothSides): string => {
    const rows = describeRows(declaration, keys, count, both);
    return rows === "" ? "" : ` (${rows})`;
  };
  const parts = [
    ...(changed > 0 ? [`${changed} changed${named(changedKeys, changed, { was, is })}`] : []),
    ...(missing > 0 ? [`${missing} gone${named(missingKeys, missing)}`] : []),
  ];
  if (!byHand) return `rows whose links lead nowhere any more: ${changed}${named(changedKeys, changed)}`;
  const next =
    declaration.onConflict === "error" ? 'onConflict is "error", so an update stops at them' : "up repairs it";
  return `rows edited by hand: ${parts.join(", ")}; ${next}`;
}
