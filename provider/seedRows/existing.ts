import { formatCount } from "../../platform/messages/text.ts";
import type { LiveRows } from "../reconcile/liveRows.ts";
import type { RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import type { Leaving } from "./declared/claims.ts";
import type { Summary } from "./declared/declaration.ts";
import { indicesWithin } from "./declared/terms.ts";
import { encodeExisting, encodeExistingInFailure, listExistingAmong } from "./kept/existingKeys.ts";
import { existingIn, type SeedInputs, type SeedState } from "./kept/state.ts";
import type { RowContext } from "./live/context.ts";
import { byOldKey, isReshaped } from "./live/reshaped.ts";
import type { Removal } from "./writing/steps.ts";

// A row is ours when the ledger has it, or when it is exactly as declared and the account of this run made it: that settles
// rows of a killed run, of a batch that was stored in part, of a seed that was renamed or split, and of a row that moved. Rows
// of others that are exactly as declared are existing: they are kept, and never changed or deleted without `adopt: true`.

interface Seed {
  inputs: SeedInputs;
  old: SeedState | undefined;
  summary: Summary;
}

type Indices = Pick<ReadonlySet<number>, "has">;

/** Wanted rows that the last run saw as existing, and that others than the account of this run have. */
export async function existingBefore(
  { directory }: RowContext,
  { inputs, old, summary: { rows } }: Seed,
  live: LiveRows,
): Promise<Indices> {
  if (inputs.adopt || !old || existingIn(old) === undefined) return { has: () => false };
  const terms = isReshaped(old, inputs) ? (await byOldKey(old, inputs, directory))?.rows : rows;
  const existing = terms && listExistingAmong(existingIn(old), terms);
  // A seed that only updates owns no row, whoever made it.
  const isOfOthers = (index: number): boolean => inputs.mode === "updateOnly" || !live.areAllMine(index);
  return { has: (index) => isOfOthers(index) && (!existing || !terms || existing.has(terms.key(index))) };
}

/** What a run does about existing rows. */
export interface ExistingRows {
  /** Those that left the source: they stay. */
  staying: readonly Removal[];
  /** How many the run met for the first time. */
  met: number;
  /** The text for the state, once a plan is carried out. */
  after: (ours: RowSet, isFailure: boolean) => string | undefined;
}

/**
 * @param handed rows that other seeds hand over, by their index
 * @param ofGivers those of them that existed before these seeds
 */
export function planExistingRows(
  { inputs, old, summary: { rows } }: Seed,
  {
    plan,
    live,
    before,
    handed,
    ofGivers,
  }: { plan: RowPlan; live: LiveRows; before: Indices; handed: Indices; ofGivers: Indices },
): ExistingRows {
  if (inputs.adopt) return { staying: [], met: 0, after: () => undefined };
  // No run makes a row in this mode: whichever it meets is another's.
  const isOfOthers = inputs.mode === "updateOnly";
  const met = new Set<number>();
  for (let index = 0; plan.adopted > 0 && index < rows.length; index++) {
    if (plan.insert.has(index) || handed.has(index) || plan.last(rows.key(index)) !== undefined) continue;
    if (isOfOthers || !live.isMineAsWanted(index)) met.add(index);
  }
  const isExisting = (index: number): boolean =>
    !plan.insert.has(index) &&
    (before.has(index) || met.has(index) || (ofGivers.has(index) && !live.isMineAsWanted(index)));
  const after = (ours: RowSet, isFailure: boolean): string | undefined => {
    const existing = new RowSet();
    for (let index = 0; index < rows.length; index++)
      if (isExisting(index) && ours.has(rows.key(index))) existing.add(rows.key(index));
    return isFailure ? encodeExistingInFailure(existing, ours) : encodeExisting(existing);
  };
  const staying = old ? listExistingRemovals(old, plan.remove) : [];
  return { staying, met: isOfOthers ? 0 : met.size, after };
}

/** Existing rows among those to remove: of those whose record can't be read, all that the account of this run did not make. */
export function listExistingRemovals(state: SeedState, removals: RowPlan["remove"]): RowPlan["remove"] {
  if (state.adopt || existingIn(state) === undefined) return [];
  const existing = listExistingAmong(existingIn(state), removals);
  // A seed that only updates made none of its rows, whoever did.
  const isOfOthers = (isMine: boolean): boolean => state.mode === "updateOnly" || !isMine;
  return removals.filter(({ key, isMine }) => isOfOthers(isMine) && (existing?.has(key) ?? true));
}

/** Rows that existed before a seed that hands them over, by their index in the source of the one that declares them now. */
export async function listExistingOfGivers(
  directory: string,
  inputs: SeedInputs,
  givers: readonly Omit<Leaving, "urn" | "name">[],
): Promise<ReadonlySet<number>> {
  const all = givers.map(({ target, existing }) => ({ target, keys: existing }));
  return new Set((await indicesWithin(all, inputs, directory)).keys());
}

/** Says which rows a run met that others made. */
export const metMessage = (table: string, met: number, showsMakers: boolean): string =>
  showsMakers
    ? `table ${table}: ${formatCount(met, "row")} ${met === 1 ? "is" : "are"} as declared and existed before: others made ${met === 1 ? "it" : "them"}, so ${met === 1 ? "it is" : "they are"} kept, and never changed or deleted. To own ${met === 1 ? "it" : "them"}, set adopt: true`
    : `table ${table}: this platform does not show who made a row, so ${formatCount(met, "row")} that ${met === 1 ? "is" : "are"} as declared ${met === 1 ? "counts" : "count"} as made by others. To own ${met === 1 ? "it" : "them"}, set adopt: true`;
