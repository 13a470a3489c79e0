import { CallCounter } from "../../platform/client/calls.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { limitRemovals } from "../reconcile/guards.ts";
import { ledgerInFailure, ledgerOf, type Ledger } from "../reconcile/ledger.ts";
import type { LiveRows } from "../reconcile/liveRows.ts";
import { oursAfter, type KnownRows } from "../reconcile/ownership.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { PartialFailure } from "../resources/model/resource.ts";
import type { RowClaim } from "./declared/claims.ts";
import type { Summary } from "./declared/declaration.ts";
import { lastSource, summaryOf } from "./declared/summaries.ts";
import { viewersOf, type RowTarget } from "./declared/target.ts";
import { indicesWithin, sameKey } from "./declared/terms.ts";
import { existingBefore, listExistingOfGivers, metMessage, planExistingRows } from "./existing.ts";
import { describeCleared, countsIn, LeftLabels, tooMuchCleared } from "./kept/clearing.ts";
import { keptMessage } from "./kept/leaving.ts";
import { scopeOf, union, type Scope } from "./kept/scope.ts";
import { optionsOf, outputsOf, type KeptState, type SeedInputs, type SeedState } from "./kept/state.ts";
import { comesBack, loadTombstones } from "./kept/tombstones.ts";
import { refuseOtherViewers, withViewerIDs } from "./kept/viewers.ts";
import { refuseReferredTo, sayWhatStays, withoutClaimed } from "./keptForOthers.ts";
import { beginTurn, type RowContext } from "./live/context.ts";
import { Links } from "./live/links.ts";
import { liveRows, type ObserveRow } from "./live/liveRows.ts";
import { NumberedKeys, refuseNumbered } from "./live/numberedKeys.ts";
import { describeUnmetAfter, Projection } from "./live/projection.ts";
import { inOldTerms, isReshaped, readReshapedRows } from "./live/reshaped.ts";
import { lookUpViewers } from "./live/viewers.ts";
import { planWithLostLinks } from "./lostLinks.ts";
import { outcome, refusePlan, tellFindings, unprovenPlan } from "./reports.ts";
import { applyPlan } from "./writing/apply.ts";
import { keepCells } from "./writing/restoredCells.ts";
import type { Removal as RowRemoval, HandedOverRows } from "./writing/steps.ts";
import { UnprovenRows } from "./writing/unproven.ts";

/** Seeds of the program that may hold rows of a table beside the one with this URN. */
const othersOn = ({ rowClaims }: RowContext, { table, resourceUrn }: SeedInputs): RowClaim[] =>
  rowClaims.owning(table, resourceUrn);

/** The rows that other seeds of the program give up in this run, with the labels that these wrote; and which existed before them. */
async function handedOver(
  { rowClaims, directory }: RowContext,
  inputs: SeedInputs,
): Promise<{ handed: ReadonlyMap<number, readonly string[]>; ofGivers: ReadonlySet<number> }> {
  const handed = new Map<number, readonly string[]>();
  const givers = rowClaims.leaving(inputs.table, inputs.resourceUrn).filter(({ target }) => sameKey(target, inputs));
  for (const giver of givers) {
    for (const index of (await indicesWithin([giver], inputs, directory)).keys()) handed.set(index, giver.labels);
  }
  return { handed, ofGivers: await listExistingOfGivers(directory, inputs, givers) };
}

/** Brings the table to the content of the source; answers what is ours then. */
export async function apply<Inputs extends SeedInputs>(
  context: RowContext,
  id: string,
  inputs: Inputs,
  ledger: Ledger,
  old?: SeedState,
): Promise<Inputs & KeptState> {
  const rows = context.rowClaims.remembered(inputs.resourceUrn, inputs.digest)?.rows;
  // Before the table is entered: who waits for its turn keeps nobody from removing rows.
  const leave = await beginTurn(rows?.length ?? 0, context.signal);
  try {
    return await entered(context, id, inputs, ledger, old);
  } finally {
    rows?.rest(); // seeds that refer to it find it again
    leave();
  }
}

async function entered<Inputs extends SeedInputs>(
  context: RowContext,
  id: string,
  inputs: Inputs,
  ledger: Ledger,
  old: SeedState | undefined,
): Promise<Inputs & KeptState> {
  const release = await context.rowClaims.lock.enter(inputs.table, undefined, context.signal);
  try {
    const viewerIDs = await lookUpViewers(context, inputs);
    const job = { id, inputs: withViewerIDs(inputs, viewerIDs), ledger, release };
    const last = old && withViewerIDs(old, old.viewerIDs);
    if (last) refuseOtherViewers(last, job.inputs, viewerIDs);
    const stated = { ...withoutUndefined(viewersOf(inputs)), ...withoutUndefined({ viewerIDs }) };
    return await applied(context, { ...job, old: last, stated });
  } finally {
    release();
  }
}

interface Job<Inputs extends SeedInputs> {
  id: string;
  inputs: Inputs;
  ledger: Ledger;
  old: SeedState | undefined;
  release: () => void;
  /** Viewers as they are declared: for the state, which has addresses. */
  stated: object;
}

async function applied<Inputs extends SeedInputs>(
  platform: RowContext,
  { id, inputs, ledger: last, old, release, stated }: Job<Inputs>,
): Promise<Inputs & KeptState> {
  const calls = new CallCounter();
  const context: RowContext = { ...platform, onCall: calls.onCall };
  const began = context.now();
  const planned = await plannedRun(context, { inputs, last, old });
  const { summary, links, plan, terms, live, scope, clear, existing, considered, unproven } = planned;
  const departed = loadTombstones(old, inputs);
  const isMoved = await comesBack(context, inputs, departed, plan, summary.rows);
  const removing = [...plan.remove];
  // A table that names no parent may be one that never does: its first row shows that.
  const isUnsure = links.by !== undefined && !live.namesParents;
  const isNew = isUnsure || last.count === 0 || (old && !sameKey(old, inputs));
  const { undone, failures, keptForOthers } = await applyPlan(context, inputs, summary, links, plan, {
    clear,
    scope,
    terms,
    release,
    spare: lateSparing(context, inputs, terms, considered),
    seen: live,
    unproven: isNew ? unproven : undefined,
  });
  sayWhatStays(context.report, inputs.table, planned.keptForOthers, keptForOthers);
  const isRenewed = isMoved || plan.drift.missing.some((index) => !undone.wanted.has(index));
  if (isRenewed) context.rowClaims.renew(inputs.table);
  const renewals = (old?.renewals ?? 0) + (isRenewed ? 1 : 0);
  const ours = oursAfter(summary.rows, plan, undone);
  const done = { ...plan, mode: inputs.mode };
  const asDeclared = `${summary.rows.length - undone.wanted.size - plan.kept} rows of table ${inputs.table} are as declared`;
  const unmet = failures.length > 0 ? undefined : await describeUnmetAfter(context, inputs, links, done);
  const failure = failures.length > 0 ? `${asDeclared}, but:\n${failures.join("\n")}` : unmet;
  const kept = {
    ...(renewals > 0 ? { renewals } : {}),
    ...withoutUndefined({
      departed: departed.encode(removing, (key) => ours.has(key)),
      existing: existing.after(ours, failure !== undefined),
    }),
    ...(inputs.mode === "exact" ? {} : withoutUndefined({ labelSets: summary.rowLabels.forms() })),
    ...unproven.kept,
    ...stated,
  };
  // Rows that are not as declared may still have the labels of earlier runs.
  const isDone = failures.length === 0 && plan.kept + plan.adoptNeeded.length === 0;
  const labels = isDone ? summary.labels : union(scope.labels);
  if (failure !== undefined) {
    const outputs: object = outputsOf(inputs, { labels }, ledgerInFailure(ours), kept);
    throw new PartialFailure(failure, id, { ...outputs, unfinished: true });
  }
  context.report.info(outcome(done, calls, context.now() - began) + describeCleared(clear));
  return outputsOf(inputs, { labels }, ledgerOf(ours), { ...kept, labelled: summary.rowLabels.counts() });
}

/** Plans a run by what is on the platform, and refuses what it must not do. Nothing is changed so far. */
async function plannedRun(
  context: RowContext,
  { inputs, last, old }: { inputs: SeedInputs; last: Ledger; old: SeedState | undefined },
) {
  const { directory, report } = context;
  const summary = await summaryOf(context, inputs);
  const links = await Links.of(context, inputs);
  const unproven = await UnprovenRows.decided(context, inputs, old, { rows: summary.rows, links });
  const { handed, ofGivers } = await handedOver(context, inputs);
  const scope = scopeOf(inputs, summary, old, handed);
  const left = new LeftLabels(inputs, summary, scope, old, handed.values());
  const projection = Projection.of(inputs, summary);
  const seen = await observedRows(context, inputs, { last, old, summary, links, scope, left, projection });
  const { live, terms, numbered } = seen;
  const before = await existingBefore(context, { inputs, old, summary }, live);
  const options = {
    ...optionsOf(inputs),
    handedOver: new Set([...handed.keys(), ...unproven.ours.keys()]),
    lostData: context.lostData,
    // Who only updates changes rows of others as well.
    ...(inputs.mode === "updateOnly" ? {} : { existing: before }),
  };
  const planned = (source?: RowSet) =>
    planWithLostLinks(context, inputs, { summary, links, ...seen }, { ...options, source });
  let plan = await planned();
  // What the last run applied shows which rows are ours, where it is still found.
  const applied = plan.proven || !old ? undefined : await lastSource(context, old);
  if (applied) plan = await planned(applied.rows);
  if (!plan.proven) plan.refusals.push(unprovenPlan(inputs));
  const considered = othersOn(context, inputs);
  const early = await withoutClaimed(context, terms, plan.remove, considered);
  const seed = { inputs, old, summary };
  const existing = planExistingRows(seed, { plan, live, before, handed: options.handedOver, ofGivers });
  const staying = new Set(existing.staying.map((row) => row.id));
  if (existing.met > 0) report.info(metMessage(inputs.table, existing.met, live.showsMakers));
  const going = early.left.filter((row) => !staying.has(row.id));
  const stay = early.left.length - going.length;
  if (stay > 0) report.info(`table ${inputs.table}: ${keptMessage(stay)}`);
  plan.released += stay;
  limitRemovals(plan, going, last, inputs);
  const clear = left.clearedBy(plan, summary, scope, handed);
  plan.refusals.push(...tooMuchCleared(countsIn(clear), last.count, inputs));
  await refusePlan(inputs, plan, directory, old === undefined);
  await refuseReferredTo(context, { target: terms, urn: inputs.resourceUrn }, plan.remove);
  await refuseNumbered(inputs, plan, numbered, directory);
  await projection?.assert(context, plan, live);
  tellFindings(report, inputs.table, plan);
  return {
    summary,
    links,
    live,
    terms,
    plan,
    scope,
    clear,
    existing,
    considered,
    unproven,
    keptForOthers: early.keptForOthers,
  };
}

interface SeenRows {
  live: LiveRows;
  ledger: Ledger | KnownRows;
  /** The seed with what the digests of rows that left the source depend on. */
  terms: RowTarget;
  numbered: NumberedKeys;
}

/** The rows of the table and what was last applied to them, in the terms of this run. */
async function observedRows(
  context: RowContext,
  inputs: SeedInputs,
  run: {
    last: Ledger;
    old: SeedState | undefined;
    summary: Summary;
    links: Links;
    scope: Scope;
    left: LeftLabels;
    projection: Projection | undefined;
  },
): Promise<SeenRows> {
  const { last, old, summary, links, scope, left, projection } = run;
  const numbered = new NumberedKeys(inputs.key);
  const see: ObserveRow = ({ id, index, values }) => {
    projection?.observe({ id, index, values });
    if (index === undefined) numbered.observe(values);
    else left.observe(id, values);
  };
  if (old && last.count > 0 && isReshaped(old, inputs)) {
    const found = { ledger: last, summary, links, scope, left, projection };
    const known = await readReshapedRows(context, inputs, old, found);
    if (known) return { ...known, terms: inOldTerms(old, inputs), numbered };
  }
  const live = await liveRows(context, inputs, scope, links, summary.rows, last, see);
  return { live, ledger: last, terms: inputs, numbered };
}

/** Takes out of a removal what seeds declare that were checked since it was planned. */
const lateSparing =
  (context: RowContext, inputs: SeedInputs, terms: RowTarget, considered: readonly RowClaim[]) =>
  async (removals: readonly RowRemoval[]): Promise<{ left: RowRemoval[]; keptForOthers: HandedOverRows }> => {
    const known = new Set(considered.map(({ urn }) => urn));
    const late = othersOn(context, inputs).filter(({ urn }) => !known.has(urn));
    return keepCells(context, inputs.table, await withoutClaimed(context, terms, removals, late));
  };
