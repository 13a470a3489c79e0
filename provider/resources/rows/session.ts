import { CallCounter } from "../../client/calls.ts";
import { orUndefinedIfNotFound } from "../../contract/errors.ts";
import { withoutUndefined } from "../../contract/values.ts";
import { formatCount } from "../../messages/text.ts";
import { limitRemovals } from "../../reconcile/guards.ts";
import { decodeLedger, ledgerInFailure, ledgerOf, type Ledger } from "../../reconcile/ledger.ts";
import type { LiveRows } from "../../reconcile/liveRows.ts";
import { oursAfter, type KnownRows } from "../../reconcile/ownership.ts";
import { Lookup } from "../../reconcile/references.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { planRows, type RowPlan } from "../../reconcile/rows.ts";
import { PartialFailure, ResourceError } from "../model/resource.ts";
import type { RowClaim } from "./declared/claims.ts";
import type { Summary } from "./declared/declaration.ts";
import { RowLabels } from "./declared/rowLabels.ts";
import { lastSource, summaryOf } from "./declared/summaries.ts";
import { viewersChanged, viewersOf, type RowTarget } from "./declared/target.ts";
import { indicesWithin, sameKey } from "./declared/terms.ts";
import { listFoundByGivers, listFoundRemovals, planFoundRows, handOverMade } from "./found.ts";
import { describeCleared, countsIn, LeftLabels, tooMuchCleared } from "./kept/clearing.ts";
import { comesBack, loadTombstones } from "./kept/departed.ts";
import { stayMessage } from "./kept/leaving.ts";
import { beginInserts, forgetMade } from "./kept/made.ts";
import { scopeOf, scopeOfState, union, type Scope } from "./kept/scope.ts";
import { optionsOf, outputsOf, type KeptState, type SeedInputs, type SeedState } from "./kept/state.ts";
import type { RowContext } from "./live/context.ts";
import { Links } from "./live/links.ts";
import { liveRows, type ObserveRow } from "./live/liveRows.ts";
import { NumberedKeys, refuseNumbered } from "./live/numberedKeys.ts";
import { readRenewedRows } from "./live/renewal.ts";
import { inOldTerms, isReshaped, readReshapedRows } from "./live/reshaped.ts";
import { planWithLostLinks } from "./lostLinks.ts";
import { outcome, refusePlan, tellFindings, unprovenMessage } from "./reports.ts";
import { refuseReferredTo, sayWhatStays, withoutClaimed } from "./spared.ts";
import { refuseUndeclaredRows } from "./undeclared.ts";
import { applyWithoutUnseen, unseenStay } from "./unseen.ts";
import { applyPlan } from "./writing/apply.ts";
import { keepCells } from "./writing/restoredCells.ts";
import type { Removal as RowRemoval, Spared } from "./writing/steps.ts";
import { learnTrims, withTrims } from "./writing/trims.ts";
import { UnprovenRows } from "./writing/unproven.ts";

/** Seeds of the program that may hold rows of a table beside the one with this URN. */
const othersOn = ({ rowClaims }: RowContext, { table, resourceUrn }: SeedInputs): RowClaim[] =>
  rowClaims.expected(table, resourceUrn);

/** The rows that other seeds of the program give up in this run, with the labels that these wrote; and which they had found. */
async function handedOver(
  { rowClaims, directory }: RowContext,
  inputs: SeedInputs,
): Promise<{ handed: ReadonlyMap<number, readonly string[]>; found: ReadonlySet<number> }> {
  const handed = new Map<number, readonly string[]>();
  const givers = rowClaims.arriving(inputs.table, inputs.resourceUrn).filter(({ target }) => sameKey(target, inputs));
  for (const giver of givers) {
    for (const index of (await indicesWithin([giver], inputs, directory)).keys()) handed.set(index, giver.labels);
  }
  return { handed, found: await listFoundByGivers(directory, inputs, givers) };
}

/** Brings the table to the content of the source; answers what is ours then. */
export async function apply<Inputs extends SeedInputs>(
  context: RowContext,
  id: string,
  inputs: Inputs,
  ledger: Ledger,
  old?: SeedState,
): Promise<Inputs & KeptState> {
  const release = await context.rowClaims.lock.enter(inputs.table, undefined, context.signal);
  try {
    return await applied(context, { id, inputs: withTrims(inputs, old), ledger, old, release });
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
}

async function applied<Inputs extends SeedInputs>(
  platform: RowContext,
  { id, inputs, ledger: last, old, release }: Job<Inputs>,
): Promise<Inputs & KeptState> {
  const calls = new CallCounter();
  const context: RowContext = { ...platform, onCall: calls.onCall };
  const began = context.now();
  const planned = await plannedRun(context, { inputs, last, old });
  const { summary, links, plan, terms, live, scope, clear, recreates, found, considered, unproven } = planned;
  const recreate = recreates ? ownRows(plan, summary, live) : new Map<number, string>();
  for (const index of plan.unseen.wanted) recreate.delete(index);
  const departed = loadTombstones(old, inputs);
  const isMoved = await comesBack(context, inputs, departed, plan, summary.rows);
  const removing = [...plan.remove];
  if (plan.insert.size > 0) await beginInserts(context, inputs, old?.ledger);
  const { undone, failures, spared, trimmed } = await applyWithoutUnseen(context, inputs, plan, summary, () =>
    applyPlan(context, inputs, summary, links, plan, {
      recreate,
      clear,
      scope,
      terms,
      release,
      spare: lateSparing(context, inputs, terms, considered),
      seen: live,
      unproven: recreate.size === 0 && (last.count === 0 || (old && !sameKey(old, inputs))) ? unproven : undefined,
    }),
  );
  sayWhatStays(context.report, inputs.table, planned.spared, spared);
  const isRenewed = isMoved || recreate.size > 0 || plan.drift.missing.some((index) => !undone.wanted.has(index));
  if (isRenewed) context.rowClaims.renew(inputs.table);
  const renewals = (old?.renewals ?? 0) + (isRenewed ? 1 : 0);
  const { rows, trims } = await learnTrims(inputs, summary.rows, trimmed, context.directory);
  const ours = oursAfter(rows, plan, undone);
  const kept = {
    ...(renewals > 0 ? { renewals } : {}),
    ...withoutUndefined({
      departed: departed.encode(removing, (key) => ours.has(key)),
      found: found.after(ours, failures.length > 0),
      trims,
    }),
    ...(inputs.mode === "exact" ? {} : withoutUndefined({ labelSets: summary.rowLabels.forms() })),
    ...unproven.kept,
  };
  // Rows that are not as declared may still have the labels of earlier runs.
  const isDone = failures.length === 0 && plan.kept + plan.adoptNeeded.length === 0;
  const labels = isDone ? summary.labels : union(scope.labels);
  if (failures.length > 0) {
    const done = summary.rows.length - undone.wanted.size - plan.kept;
    const message = `${done} rows of table ${inputs.table} are as declared, but:\n${failures.join("\n")}`;
    const outputs: object = outputsOf(inputs, { labels }, ledgerInFailure(ours), kept);
    // Viewers that not all rows have yet are changed by the next run.
    const viewers = recreate.size > 0 && old ? viewersOf(old) : {};
    throw new PartialFailure(message, id, { ...outputs, ...viewers, unfinished: true });
  }
  const done = outcome({ ...plan, recreated: recreate.size }, calls, context.now() - began);
  context.report.info(done + describeCleared(clear));
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
  const recreates = old !== undefined && viewersChanged(old, inputs) && inputs.onViewersChange === "recreate";
  const { handed, found: handedFound } = await handedOver(context, inputs);
  const scope = scopeOf(inputs, summary, old, handed);
  const left = new LeftLabels(inputs, summary, scope, old, handed.values());
  const seen = await observedRows(context, inputs, { last, old, summary, links, recreates, scope, left });
  const { live, terms, numbered } = seen;
  const options = {
    ...optionsOf(inputs),
    handedOver: new Set([...handed.keys(), ...unproven.ours.keys()]),
    onlyShown: context.isApproved,
    lostData: context.lostData,
  };
  const plan = await planWithLostLinks(context, inputs, { summary, links, ...seen }, options);
  const considered = othersOn(context, inputs);
  const early = await withoutClaimed(context, terms, plan.remove, considered);
  const found = await planFoundRows(context, { inputs, old, summary, plan, handed: options.handedOver, handedFound });
  const staying = new Set(found.staying.map((row) => row.id));
  const going = early.left.filter((row) => !staying.has(row.id));
  const stay = early.left.length - going.length;
  if (stay > 0) report.info(`table ${inputs.table}: ${stayMessage(stay)}`);
  plan.released += stay;
  limitRemovals(plan, going, last, inputs);
  const clear = left.clearedBy(plan, summary, scope, handed);
  plan.refusals.push(...tooMuchCleared(countsIn(clear), last.count, inputs));
  await refuseUndeclaredRows(context, inputs, terms, going);
  await refusePlan(inputs, plan, directory, old === undefined);
  await refuseReferredTo(context, { target: terms, urn: inputs.resourceUrn }, plan.remove);
  await refuseNumbered(inputs, plan, numbered, directory);
  tellFindings(report, inputs.table, plan);
  return {
    summary,
    links,
    live,
    terms,
    plan,
    scope,
    clear,
    recreates,
    found,
    considered,
    unproven,
    spared: early.spared,
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
    recreates: boolean;
    scope: Scope;
    left: LeftLabels;
  },
): Promise<SeenRows> {
  const { last, old, summary, links, recreates, scope, left } = run;
  const numbered = new NumberedKeys(inputs.key);
  const see: ObserveRow = ({ id, index, values }) => {
    if (index === undefined) numbered.observe(values);
    else left.observe(id, values);
  };
  if (old && last.count > 0 && isReshaped(old, inputs)) {
    const found = { ledger: last, summary, links, scope, left };
    const renewed = await readRenewedRows(context, inputs, old, { ...found, see, keepsIDs: recreates });
    if (renewed) return { ...renewed, terms: inputs, numbered };
    const known = await readReshapedRows(context, inputs, old, found);
    if (known) return { ...known, terms: inOldTerms(old, inputs), numbered };
  }
  const live = await liveRows(context, inputs, scope, links, summary.rows, last, see, recreates);
  return { live, ledger: last, terms: inputs, numbered };
}

/** Takes out of a removal what seeds declare that were checked since it was planned. */
const lateSparing =
  (context: RowContext, inputs: SeedInputs, terms: RowTarget, considered: readonly RowClaim[]) =>
  async (removals: readonly RowRemoval[]): Promise<{ left: RowRemoval[]; spared: Spared }> => {
    await context.others();
    const known = new Set(considered.map(({ urn }) => urn));
    const late = othersOn(context, inputs).filter(({ urn }) => !known.has(urn));
    return keepCells(context, inputs.table, await withoutClaimed(context, terms, removals, late));
  };

/** Our rows that are there, each with its ID. */
function ownRows(plan: RowPlan, { rows }: Summary, live: LiveRows): Map<number, string> {
  const own = new Map<number, string>();
  for (let index = 0; index < live.rows.length; index++) {
    const key = live.rows.key(index);
    const at = rows.find(key);
    if (at !== undefined && plan.last(key) !== undefined) own.set(at, live.id(index));
  }
  return own;
}

async function rowsToRemove(context: RowContext, state: SeedState, ledger: Ledger) {
  const none: Summary = { rows: new RowSet(), labels: state.labels, rowLabels: new RowLabels(), digest: "" };
  const links = await Links.of(context, state, () => new Lookup());
  const live = await orUndefinedIfNotFound(liveRows(context, state, scopeOfState(state), links, none.rows, ledger));
  if (!live) return undefined;
  const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
  const onlyShown = context.isApproved;
  const options = { ...optionsOf(state), mode: "exact" as const, maxRemovals: 1, source, onlyShown };
  return { plan: planRows(none.rows, ledger, live, options), links, none, live };
}

/** Removes the rows of a seed that left the program, but for those that another one declares. */
export async function removeOwned(context: RowContext, state: SeedState): Promise<void> {
  const release = await context.rowClaims.lock.enter(state.table, undefined, context.signal);
  try {
    const ledger = decodeLedger(state.ledger);
    await (await UnprovenRows.of(context, state, state)).removeAll();
    const read = await rowsToRemove(context, state, ledger);
    if (!read) return; // the rows went with their table
    const { plan, links, none, live } = read;
    if (!plan.proven && live.length > 0) throw new ResourceError(unprovenMessage(state));
    // Also what the same resource declares now: what is deleted then is the one that it replaces.
    const considered = context.rowClaims.on(state.table);
    const { left, spared } = await withoutClaimed(context, state, plan.remove, considered);
    const found = new Set(await listFoundRemovals(context, state, plan.remove));
    const staying = plan.remove.filter((row) => !left.includes(row));
    plan.remove = left.filter((row) => !found.has(row));
    sayWhatStays(context.report, state.table, spared);
    const stay = left.length - plan.remove.length;
    if (stay > 0) context.report.info(`table ${state.table}: ${stayMessage(stay)}`);
    // An engine of another make has no place for the size of a deletion.
    if (plan.remove.length > 0) context.report.info(`deletes ${formatCount(plan.remove.length, "row")}`);
    await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, plan.remove);
    const { failures } = await applyPlan(context, state, none, links, plan, { release });
    // Nothing of a deletion is kept, so no later report could show them.
    if (plan.unseen.removals.length > 0) context.report.warning(unseenStay(state, plan));
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
    await handOverMade(context, state, { staying, found });
    if (!context.rowClaims.find(state.resourceUrn)) await forgetMade(context, state.resourceUrn);
  } finally {
    release();
  }
}
