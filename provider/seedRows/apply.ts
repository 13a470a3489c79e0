import { CallCounter } from "../../platform/client/http/call.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { sameContent, type Content } from "../reconcile/digests.ts";
import { limitRemovals } from "../reconcile/guards.ts";
import {
  emptyLedger,
  ledgerInFailure,
  ledgerOf,
  oursAfter,
  decodeLedger,
  type Ledger,
  type KnownRows,
} from "../reconcile/ledger.ts";
import { planRows, type LiveRows, type Meeting, type RowOptions, type RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { PartialFailure, ResourceError } from "../resources/model/resource.ts";
import { RowLabels } from "./cells.ts";
import type { RowClaim } from "./claims.ts";
import { indicesWithin, sameKey, digesterFor, type Summary } from "./declaration.ts";
import {
  existingBefore,
  listExistingOfGivers,
  metMessage,
  planExistingRows,
  listExistingRemovals,
} from "./existing.ts";
import { describeUnmetAfter, Projection } from "./expected.ts";
import { viewersOf, isOwning, type Seed, type SeedInputs, type SeedState, type KeptState } from "./inputs.ts";
import {
  describeCleared,
  countsIn,
  LeftLabels,
  tooMuchCleared,
  scopeOf,
  union,
  scopeOfState,
  type Scope,
} from "./labels.ts";
import { Links } from "./links.ts";
import { inOldTerms, isReshaped, readReshapedRows, liveRows, type ObserveRow } from "./live.ts";
import { keptMessage, comesBack, refuseReferredTo, sayWhatStays, withoutClaimed } from "./otherSeeds.ts";
import { outcome, refusePlan, tellFindings, unprovenPlan, unprovenMessage } from "./report.ts";
import { seeRows } from "./source/read.ts";
import { lastSource, summaryOf, optionsOf, outputsOf } from "./state.ts";
import { beginTurn, rowsByIDs, type RowContext } from "./table.ts";
import { UnprovenRows, type Removal, type HandedOverRows } from "./verify.ts";
import { lookUpViewers, withViewerIDs, refuseOtherViewers } from "./viewers.ts";
import { applyPlan } from "./write.ts";

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
  const isMoved = await comesBack(context, inputs, plan);
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
    ...withoutUndefined({ existing: existing.after(ours, failure !== undefined) }),
    ...(inputs.mode === "exact" ? {} : withoutUndefined({ labelSets: summary.rowLabels.forms() })),
    ...(unproven.ids.size > 0 ? { unproven: [...unproven.ids] } : {}),
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
  const unproven = new UnprovenRows(context, inputs, old);
  await unproven.decide(inputs, { rows: summary.rows, links });
  const { handed, ofGivers } = await handedOver(context, inputs);
  const scope = scopeOf(inputs, summary, old, handed);
  const left = new LeftLabels(inputs, summary, scope, old, handed.values());
  const projection = Projection.of(inputs, summary);
  const seen = await observedRows(context, inputs, { last, old, summary, links, scope, left, projection });
  const { live, terms } = seen;
  const before = await existingBefore(context, { inputs, old, summary }, live);
  const options = {
    ...optionsOf(inputs),
    handedOver: new Set([...handed.keys(), ...unproven.ours]),
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

/** Throws where others have rows with the keys of a new seed and other content. Sends nothing. */
export async function refuseOthers(context: RowContext, inputs: SeedInputs): Promise<void> {
  const summary = await summaryOf(context, inputs);
  // What it links to may be made by the same run.
  const links = await Links.of(context, inputs, true);
  const { handed } = await handedOver(context, inputs);
  const [scope, ledger] = [scopeOf(inputs, summary, undefined, handed), emptyLedger()];
  const live = await liveRows(context, inputs, scope, links, summary.rows, ledger);
  const options = { ...optionsOf(inputs), handedOver: handed };
  const { adoptNeeded } = await planWithLostLinks(context, inputs, { summary, links, live, ledger }, options);
  await refusePlan(inputs, { refusals: [], adoptNeeded, conflicts: [], lacking: [] }, context.directory, true);
}

interface SeenRows {
  live: LiveRows;
  ledger: Ledger | KnownRows;
  /** The seed with what the digests of rows that left the source depend on. */
  terms: Seed;
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
  const see: ObserveRow = ({ id, index, values }) => {
    projection?.observe({ id, index, values });
    if (index !== undefined) left.observe(id, values);
  };
  if (old && last.count > 0 && isReshaped(old, inputs)) {
    const found = { ledger: last, summary, links, scope, left, projection };
    const known = await readReshapedRows(context, inputs, old, found);
    if (known) return { ...known, terms: inOldTerms(old, inputs) };
  }
  const live = await liveRows(context, inputs, scope, links, summary.rows, last, see);
  return { live, ledger: last, terms: inputs };
}

/** Takes out of a removal what seeds declare that were checked since it was planned. */
const lateSparing =
  (context: RowContext, inputs: SeedInputs, terms: Seed, considered: readonly RowClaim[]) =>
  async (removals: readonly Removal[]): Promise<{ left: Removal[]; keptForOthers: HandedOverRows }> => {
    const known = new Set(considered.map(({ urn }) => urn));
    const late = othersOn(context, inputs).filter(({ urn }) => !known.has(urn));
    return withoutClaimed(context, terms, removals, late);
  };

interface Seen {
  summary: Summary;
  links: Links;
  live: LiveRows;
  ledger: Ledger | KnownRows;
}

/**
 * Plans a run like `planRows`. An unknown row that matches the declaration except for dangling links needs no `adopt`:
 * the rows that it is linked to were recreated, and nobody edited it.
 */
async function planWithLostLinks(
  context: RowContext,
  inputs: Seed,
  { summary, links, live, ledger }: Seen,
  options: RowOptions & { source?: RowSet | undefined },
): Promise<RowPlan> {
  const plan = planRows(summary.rows, ledger, live, options);
  const unlinked = plan.adoptNeeded.flatMap(({ wanted }) => {
    const at = live.rows.find(summary.rows.key(wanted));
    const id = at !== undefined && live.isDangling(at) ? live.id(at) : undefined;
    return id === undefined ? [] : [{ wanted, id }];
  });
  if (unlinked.length === 0) return plan;
  const ours = await asDeclaredBut(context, inputs, { summary, links }, unlinked);
  const { handedOver } = options;
  const has = (index: number): boolean => ours.has(index) || handedOver?.has(index) === true;
  return planRows(summary.rows, ledger, live, { ...options, handedOver: { has } });
}

/** Those of the rows that differ from what is declared by lost links alone, by their index in the source. */
async function asDeclaredBut(
  context: RowContext,
  inputs: Seed,
  { summary, links }: Pick<Seen, "summary" | "links">,
  meetings: readonly Meeting[],
): Promise<Set<number>> {
  const { table } = inputs;
  const contentBut = (lost: readonly string[]) => {
    const labels = summary.labels.filter((label) => !lost.includes(label));
    return digesterFor({ ...inputs, salt: undefined }, labels).content;
  };
  const indices = new Map(meetings.map(({ wanted, id }) => [id, wanted]));
  const found = new Map<number, { lost: string[]; content: Content }>();
  for await (const page of rowsByIDs(context, table, [...indices.keys()])) {
    for (const row of page) {
      const index = indices.get(row._id);
      const lost = links.lostLabels(row);
      if (index !== undefined) found.set(index, { lost, content: contentBut(lost)(links.inSourceTerms(row)) });
    }
  }
  const same = new Set<number>();
  await seeRows(inputs, context.directory, ({ values }, index) => {
    const one = found.get(index);
    if (one && sameContent(one.content, contentBut(one.lost)(values))) same.add(index);
  });
  return same;
}

async function rowsToRemove(context: RowContext, state: SeedState, ledger: Ledger) {
  const none: Summary = { rows: new RowSet(), labels: state.labels, rowLabels: new RowLabels(), digest: "" };
  const links = await Links.of(context, state, true);
  const live = await orUndefinedIfNotFound(liveRows(context, state, scopeOfState(state), links, none.rows, ledger));
  if (!live) return undefined;
  const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
  const options = { ...optionsOf(state), mode: "exact" as const, maxRemovals: 1, source };
  return { plan: planRows(none.rows, ledger, live, options), links, none, live };
}

/** Removes the rows of a seed that left the program, but for those that another one declares. */
export async function removeOwned(context: RowContext, state: SeedState): Promise<void> {
  const release = await context.rowClaims.lock.enter(state.table, undefined, context.signal);
  try {
    const ledger = decodeLedger(state.ledger);
    await new UnprovenRows(context, state, state).decide(state);
    const read = await rowsToRemove(context, state, ledger);
    if (!read) return; // the rows went with their table
    const { plan, links, none, live } = read;
    if (!plan.proven && live.length > 0) throw new ResourceError(unprovenMessage(state));
    // Also what the same resource declares now: what is deleted then is the one that it replaces.
    const considered = context.rowClaims.on(state.table).filter(({ target }) => isOwning(target));
    const { left, keptForOthers } = await withoutClaimed(context, state, plan.remove, considered);
    const existing = new Set(listExistingRemovals(state, plan.remove).map(({ id }) => id));
    plan.remove = plan.remove.filter((row) => left.includes(row) && !existing.has(row.id));
    sayWhatStays(context.report, state.table, keptForOthers);
    const stay = left.length - plan.remove.length;
    if (stay > 0) context.report.info(`table ${state.table}: ${keptMessage(stay)}`);
    // An engine of another make has no place for the size of a deletion.
    if (plan.remove.length > 0) context.report.info(`deletes ${formatCount(plan.remove.length, "row")}`);
    await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, plan.remove);
    const { failures } = await applyPlan(context, state, none, links, plan, { release });
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
  } finally {
    release();
  }
}
