import type { RowTarget } from "./declared/target.ts";

/** Who may see the rows of a seed, and who made them. */
export const viewersOf = ({ viewers, teamViewers, userID }: RowTarget) => ({ viewers, teamViewers, userID });
const sortedViewers = ({ viewers = [], teamViewers = [], userID = "" }: RowTarget): string =>
  JSON.stringify([viewers.toSorted(), teamViewers.toSorted(), userID]);

/** Whether who may see the rows, or who made them, is declared otherwise than in the last run. */
export const viewersChanged = (old: RowTarget, inputs: RowTarget): boolean =>
  sortedViewers(old) !== sortedViewers(inputs);
