import type { RowPlan } from "../../reconcile/rows.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { Tombstones } from "../../reconcile/tombstones.ts";
import type { OfflineRowContext } from "../declared/claims.ts";
import type { RowTarget } from "../declared/target.ts";
import { indicesWithin, sameKey, type Keys } from "../declared/terms.ts";

/** Rows that the seed removed in earlier runs, by the present key. */
export function loadTombstones(
  old: (RowTarget & { departed?: string | undefined }) | undefined,
  now: RowTarget,
): Tombstones {
  return Tombstones.decode(old && sameKey(old, now) ? old.departed : undefined);
}

/** True when a seed declares rows that other seeds give up: these are recreated, with other IDs. */
export const takesUp = async (
  { directory }: Pick<OfflineRowContext, "directory">,
  target: RowTarget,
  removed: readonly Keys[],
): Promise<boolean> => (await indicesWithin(removed, target, directory)).size > 0;

/** True when a plan inserts a row that was removed, in this run or in an earlier one: it gets another ID. */
export async function comesBack(
  { rowClaims, directory }: Pick<OfflineRowContext, "rowClaims" | "directory">,
  target: RowTarget,
  departed: Tombstones,
  { insert }: RowPlan,
  rows: RowSet,
): Promise<boolean> {
  if (insert.size === 0) return false;
  if (!departed.isEmpty && insert.some((index) => departed.has(rows.key(index)))) return true;
  const removed = await indicesWithin(rowClaims.removedFrom(target.table), target, directory);
  if (removed.size === 0) return false;
  return insert.some((index) => removed.has(index));
}
