import { formatCount } from "../../../platform/messages/text.ts";
import type { LedgerDifference } from "../../reconcile/ledger.ts";
import type { Forecast } from "../../reconcile/rows.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { describeNamed, readName } from "../../resources/model/identities.ts";
import type { OfflineRowContext } from "../declared/claims.ts";
import { isOwning, type RowTarget } from "../declared/target.ts";
import { keysWithin } from "../declared/terms.ts";
import { listExistingAmong } from "./existingKeys.ts";
import { existingIn, type SeedInputs, type SeedState } from "./state.ts";

/** Rows that left a source: to be removed, or staying for another seed, or since others made them. */
export interface LeavingRows {
  going: RowSet;
  staying: RowSet;
  /** Those of them that existed before. */
  existing: RowSet;
  reported: Map<string, number>;
}

/** No rows of others. */
export const nobody = () => ({ existing: new RowSet(), handedOver: new RowSet() });
export const noneLeaving = (): LeavingRows => ({
  ...{ going: new RowSet(), staying: new RowSet() },
  ...{ existing: new RowSet(), reported: new Map<string, number>() },
});

/** Takes out of a plan what other seeds of the program declare. */
export async function removeKeptForOthers(
  { rowClaims, directory }: OfflineRowContext,
  { old, inputs, target, rows }: { old: SeedState; inputs: SeedInputs; target: RowTarget; rows: RowSet },
  plan: Forecast,
): Promise<{ plan: Forecast; leaving: LeavingRows }> {
  const leaving = noneLeaving();
  const { going, staying, reported } = leaving;
  if (!plan.exact || plan.remove === 0) return { plan, leaving };
  if (!inputs.adopt) leaving.existing = existingLeaving(old, rows, plan.change);
  const keys = { target, keys: RowSet.of(plan.change.removed) };
  const held: { name: string; keys: RowSet }[] = [];
  for (const { name, target: other } of rowClaims.owning(inputs.table, inputs.resourceUrn)) {
    held.push({ name, keys: await keysWithin(keys, other, directory) });
  }
  for (const row of plan.change.removed) {
    const owner = held.find(({ keys }) => keys.has(row.key));
    if (!owner && leaving.existing.has(row.key)) continue;
    (owner ? staying : going).add(row.key, row.content);
    if (owner) reported.set(owner.name, (reported.get(owner.name) ?? 0) + 1);
  }
  const change = { ...plan.change, removed: [...going] };
  return { plan: { ...plan, change, remove: going.length, keptForOthers: staying.length }, leaving };
}

/**
 * Leaves to a seed what others seemed to remove that were compared before it was known. Of one that is applied already
 * the rows are removed, and added again by the seed.
 */
export async function leaveLate(
  { rowClaims, directory }: Pick<OfflineRowContext, "rowClaims" | "directory">,
  urn: string | undefined,
  target: RowTarget,
): Promise<void> {
  if (urn === undefined || !isOwning(target)) return;
  for (const one of rowClaims.leaving(target.table, urn)) {
    const going = RowSet.of(one.keys, ({ key }) => !one.handedOver.has(key));
    const within = await keysWithin({ target: one.target, keys: going }, target, directory);
    const staying = [...going].filter(({ key }) => within.has(key));
    if (staying.length === 0) continue;
    if (!rowClaims.hasBegun(one.urn))
      rowClaims.leave(one.urn, { ...one, handedOver: RowSet.of([...one.handedOver, ...staying]) });
    rowClaims.late.push({ urn: one.urn, name: describeNamed(readName(urn)), rows: staying.length });
  }
}

/** The existing ones among the rows that left the source; all of them where that is unknown. */
function existingLeaving(
  old: Pick<SeedState, "existing" | "found">,
  rows: RowSet,
  { added, removed }: LedgerDifference & { exact: true },
): RowSet {
  const text = existingIn(old);
  if (text === undefined) return new RowSet();
  const known = RowSet.of(removed);
  for (let index = 0; index < rows.length; index++) if (!added.has(index)) known.add(rows.key(index));
  const all = listExistingAmong(text, known);
  return RowSet.of(removed, ({ key }) => all?.has(key) ?? true);
}

/** `2 rows that others made are kept`. */
export const keptMessage = (count: number): string =>
  `${formatCount(count, "row")} that others made ${count === 1 ? "is" : "are"} kept`;
