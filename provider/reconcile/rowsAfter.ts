import type { Content, RowDigests } from "./digests.ts";
import { ledgerOf, type Ledger } from "./ledger.ts";
import { RowSet } from "./rowSet.ts";
import type { RowPlan } from "./rows.ts";

/** The part of a plan that was not carried out. */
export interface Undone {
  /** Wanted rows that were neither inserted nor updated although planned. */
  wanted?: Pick<ReadonlySet<number>, "has" | "size">;
  /** Rows that were not removed although planned. */
  removals?: Iterable<RowDigests>;
  /** Rows that were removed to be recreated, and are still missing. */
  lacking?: Pick<ReadonlySet<number>, "has">;
  /** Content that rows have: written ones that came back otherwise, and those that were left as they are. */
  found?: ReadonlyMap<number, Content>;
}

/** The rows that are ours after a plan was carried out, in part or as a whole. */
export function oursAfter(
  wanted: RowSet,
  plan: RowPlan,
  { wanted: undone, removals = [], lacking, found }: Undone = {},
): RowSet {
  const left = [...removals];
  if (!undone?.size && !found?.size && left.length === 0 && plan.adoptNeeded.length === 0) return wanted;
  const foreign = new Set(plan.adoptNeeded.map((meeting) => meeting.wanted));
  const ours = new RowSet();
  for (let index = 0; index < wanted.length; index++) {
    const key = wanted.key(index);
    const before = undone?.has(index) && !lacking?.has(index) ? (found?.get(index) ?? plan.last(key)) : undefined;
    if (before !== undefined) ours.add(key, before);
    else if (!undone?.has(index) && !foreign.has(index)) ours.add(key, found?.get(index) ?? wanted.content(index));
  }
  for (const { key, content } of left) ours.add(key, content);
  return ours;
}

/** The ledger after a plan was carried out, in part or as a whole: exactly the rows that are ours then. */
export const ledgerAfter = (wanted: RowSet, plan: RowPlan, undone?: Undone): Ledger =>
  ledgerOf(oursAfter(wanted, plan, undone));
