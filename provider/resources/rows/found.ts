import type { RowPlan } from "../../reconcile/rows.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import type { Leaving } from "./declared/claims.ts";
import type { Summary } from "./declared/declaration.ts";
import { isOwning } from "./declared/target.ts";
import { indicesWithin } from "./declared/terms.ts";
import { encodeFound, encodeFoundInFailure, listFoundAmong } from "./kept/foundKeys.ts";
import { isUnfinished, listMadeAmong, noteMade } from "./kept/made.ts";
import type { SeedInputs, SeedState } from "./kept/state.ts";
import type { RowContext } from "./live/context.ts";
import { byOldKey, isReshaped } from "./live/reshaped.ts";
import type { Removal } from "./writing/steps.ts";

/** How a run comes to know which rows were found. */
interface Job {
  inputs: SeedInputs;
  old: SeedState | undefined;
  summary: Summary;
  plan: RowPlan;
  /** Rows that other seeds hand over, by their index, and those of them that these had found. */
  handed: { has: (index: number) => boolean };
  handedFound: ReadonlySet<number>;
}

/**
 * Rows that were there as declared when this stack first met them, and that no unfinished run of it can have made: they
 * stay when their declaration goes. `adopt: true` owns them.
 */
export interface FoundTargets {
  /** Found rows among those to remove; all of them where that is unknown. */
  staying: readonly Removal[];
  /** The text for the state, once a plan is carried out. */
  after: (ours: RowSet, isFailure: boolean) => string | undefined;
}

const none: FoundTargets = { staying: [], after: () => undefined };

export async function planFoundRows(context: RowContext, job: Job): Promise<FoundTargets> {
  const { inputs, old, plan, handed, handedFound } = job;
  if (inputs.adopt) return none;
  const { rows } = job.summary;
  const before = await foundBefore(context, job);
  // Without proof of which rows are ours, those that are as declared are taken for them.
  // No run makes a row in this mode: whichever it meets stay.
  const isOfOthers = inputs.mode === "updateOnly";
  const isOurs = async (): Promise<boolean> => !plan.proven || (await isUnfinished(context, inputs, old?.ledger));
  const isMeeting = plan.adopted > 0 && (isOfOthers || !(await isOurs()));
  const met = new Set<number>();
  for (let index = 0; isMeeting && index < rows.length; index++) {
    if (plan.insert.has(index) || handed.has(index) || plan.last(rows.key(index)) !== undefined) continue;
    met.add(index);
  }
  const after = (ours: RowSet, isFailure: boolean): string | undefined => {
    const found = new RowSet();
    for (let index = 0; index < rows.length; index++) {
      const was = before.has(index) && !plan.insert.has(index);
      if ((was || met.has(index) || handedFound.has(index)) && ours.has(rows.key(index))) found.add(rows.key(index));
    }
    return isFailure ? encodeFoundInFailure(found, ours) : encodeFound(found);
  };
  return { staying: before.staying, after };
}

/** Found rows of the last run: the wanted ones by their index, and those to remove. */
async function foundBefore(
  { directory, ...context }: RowContext,
  { inputs, old, summary, plan }: Job,
): Promise<{ has: (index: number) => boolean; staying: readonly Removal[] }> {
  if (old?.found === undefined) return { has: () => false, staying: [] };
  const { rows } = summary;
  const terms = isReshaped(old, inputs) ? (await byOldKey(old, inputs, directory))?.rows : rows;
  const known = RowSet.of(plan.remove);
  for (let index = 0; terms && index < rows.length; index++)
    if (plan.last(rows.key(index)) !== undefined) known.add(terms.key(index));
  const found = terms && listFoundAmong(old.found, known);
  if (!terms || !found) return { has: (index) => plan.last(rows.key(index)) !== undefined, staying: plan.remove };
  const made = await listMadeAmong({ directory, ...context }, inputs, found);
  const isFound = (key: Parameters<RowSet["has"]>[0]): boolean => found.has(key) && !made.has(key);
  return {
    has: (index) => isFound(terms.key(index)),
    staying: plan.remove.filter(({ key }) => isFound(key)),
  };
}

/** Found rows among those to remove with a seed; all of them where that is unknown. */
export async function listFoundRemovals(
  context: RowContext,
  state: SeedState,
  removals: readonly Removal[],
): Promise<readonly Removal[]> {
  if (state.adopt || state.found === undefined) return [];
  const found = listFoundAmong(state.found, removals);
  if (!found) {
    context.report.warning(
      `it can't be proven which rows of table ${state.table} were found there: none is removed. Set adopt: true and run up, and all are owned`,
    );
    return removals;
  }
  const made = await listMadeAmong(context, state, found);
  return removals.filter(({ key }) => found.has(key) && !made.has(key));
}

/** Rows that were found by a seed that hands them over, by their index in the source of the one that declares them now. */
export async function listFoundByGivers(
  directory: string,
  inputs: SeedInputs,
  givers: readonly Omit<Leaving, "urn" | "name">[],
): Promise<ReadonlySet<number>> {
  const all = givers.map(({ target, found }) => ({ target, keys: found }));
  return new Set((await indicesWithin(all, inputs, directory)).keys());
}

/** Passes on, from a seed that leaves the program to the seeds that declare its rows, which of them it had made. */
export async function handOverMade(
  context: RowContext,
  state: SeedState,
  { staying, found }: { staying: readonly Removal[]; found: ReadonlySet<Removal> },
): Promise<void> {
  const keys = RowSet.of(staying.filter((row) => !found.has(row)));
  if (keys.length === 0) return;
  for (const claim of context.rowClaims.on(state.table)) {
    if (!isOwning(claim.target)) continue;
    const { rows } = await context.rowClaims.summary(claim);
    const theirs = new RowSet();
    for (const index of (await indicesWithin([{ target: state, keys }], claim.target, context.directory)).keys())
      theirs.add(rows.key(index));
    await noteMade(context, { resourceUrn: claim.urn, table: state.table }, theirs);
  }
}
