import type { Mode } from "../../reconcile/rows.ts";
import type { RowDeclaration } from "./declaration.ts";
import type { LinkDeclaration } from "./links.ts";

/** The inputs of a seed that decide how its rows are written. */
export interface RowTarget extends RowDeclaration, LinkDeclaration {
  table: string;
  mode?: Mode | undefined;
  parent?: { table: string; key: string; by: string } | undefined;
  references?: Record<string, { table: string; key: string }> | undefined;
  viewers?: string[] | undefined;
  teamViewers?: string[] | undefined;
  userID?: string | undefined;
  ignoreActionRules?: boolean | undefined;
}

/** True for a seed whose rows are its own. In mode updateOnly it changes those of others, and gives up none. */
export const isOwning = ({ mode }: Pick<RowTarget, "mode">): boolean => mode !== "updateOnly";

/** Viewers and author of a seed's rows. */
export const viewersOf = ({ viewers, teamViewers, userID }: RowTarget) => ({ viewers, teamViewers, userID });
const sortedViewers = ({ viewers = [], teamViewers = [], userID = "" }: RowTarget): string =>
  JSON.stringify([viewers.toSorted(), teamViewers.toSorted(), userID]);

/** True if who may see the rows, or who made them, is declared otherwise than in the last run. */
export const viewersChanged = (old: RowTarget, inputs: RowTarget): boolean =>
  sortedViewers(old) !== sortedViewers(inputs);
