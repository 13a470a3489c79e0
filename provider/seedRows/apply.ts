import { CallCounter } from "../../platform/client/http/call.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { formatCount, formatCounts } from "../../platform/messages/text.ts";
import { tooManyCleared, tooManyRemovals, PartialFailure, ResourceError } from "../resources/common.ts";
import type { Context } from "../resources/resource.ts";
import { RowLabels } from "./cells.ts";
import type { RowClaim } from "./claims.ts";
import { indicesWithin, sameKey, type Summary } from "./declaration.ts";
import type { Digest } from "./digests.ts";
import { describeUnmetAfter, Projection } from "./expected.ts";
import { viewersOf, isOwning, type Seed, type SeedInputs, type SeedState, type KeptState } from "./inputs.ts";
import {
  emptyLedger,
  ledgerInFailure,
  ledgerOf,
  oursAfter,
  decodeLedger,
  type Ledger,
  type KnownRows,
} from "./ledger.ts";
import { Links } from "./links.ts";
import {
  clearedCounts,
  Comparison,
  describeCleared,
  union,
  type Clearing,
  byOldKey,
  inOldTerms,
  isReshaped,
  readReshapedRows,
  readLiveRows,
  type ObservedRow,
} from "./live.ts";
import { keptMessage, comesBack, refuseReferredTo, sayWhatStays, withoutClaimed } from "./otherSeeds.ts";
import { planRows, type LiveRows, type RowOptions, type RowPlan } from "./plan.ts";
import { outcome, refusePlan, tellFindings, unprovenPlan, unprovenMessage } from "./report.ts";
import { RowSet } from "./rowSet.ts";
import {
  encodeKeys,
  existingIn,
  lastSource,
  mostExisting,
  mostUnseen,
  summaryOf,
  optionsOf,
  outputsOf,
  unseenIn,
} from "./state.ts";
import { beginTurn } from "./table.ts";
import { UnprovenRows, type HandedOverRows } from "./verify.ts";
import { lookUpViewers, withViewerIDs, refuseOtherViewers } from "./viewers.ts";
import { applyPlan } from "./write.ts";

/** Brings the table to the content of the source; answers what is ours then. */
export async function apply<Inputs extends SeedInputs>(
  platform: Context,
  id: string,
  declared: Inputs,
  ledger: Ledger,
  last?: SeedState,
): Promise<Inputs & KeptState> {
  const { rowClaims, report, signal } = platform;
  const remembered = rowClaims.remembered(declared.resourceUrn, declared.digest)?.rows;
  // Before the table is entered: who waits for its turn keeps nobody from removing rows.
  const leave = await beginTurn(remembered?.length ?? 0, signal);
  let release = (): void => undefined;
  try {
    release = await rowClaims.lock.enter(declared.table, signal);
    const viewerIDs = await lookUpViewers(platform, declared);
    const inputs = withViewerIDs(declared, viewerIDs);
    const old = last && withViewerIDs(last, last.viewerIDs);
    if (old) refuseOtherViewers(old, inputs, viewerIDs);
    const calls = new CallCounter();
    const context: Context = { ...platform, onCall: calls.onCall };
    const began = context.now();
    const run = await planRun(context, inputs, ledger, old);
    const { summary, links, comparison, plan, live, clear, unproven } = run;
    const isMoved = await comesBack(context, inputs, plan);
    // A table that names no parent may be one that never does: its first row shows that.
    const isUnsure = links.by !== undefined && !live.namesParents;
    const isNew = isUnsure || ledger.count === 0 || (old && !sameKey(old, inputs));
    const { undone, sent, failures, keptForOthers } = await applyPlan(context, inputs, summary, links, plan, {
      ...{ clear, comparison, release, terms: run.terms, seen: live },
      // What seeds declare that were checked since the plan was made.
      spare: (removals) => {
        const late = othersOn(context, inputs).filter(({ urn }) => !run.considered.has(urn));
        return withoutClaimed(context, run.terms, removals, late);
      },
      unproven: isNew ? unproven : undefined,
    });
    sayWhatStays(report, inputs.table, run.keptForOthers, keptForOthers);
    const isRenewed = isMoved || plan.drift.missing.some((index) => !undone.wanted.has(index));
    if (isRenewed) rowClaims.renew(inputs.table);
    const renewals = (old?.renewals ?? 0) + (isRenewed ? 1 : 0);
    const ours = oursAfter(summary.rows, plan, undone);
    const done = summary.rows.length - undone.wanted.size - plan.kept;
    const asDeclared = `${formatCount(done, "row")} of table ${inputs.table} ${done === 1 ? "is" : "are"} as declared`;
    const failure =
      failures.length > 0
        ? `${asDeclared}, but:\n${failures.join("\n")}`
        : await describeUnmetAfter(context, inputs, links, plan);
    const kept = {
      ...(renewals > 0 ? { renewals } : {}),
      ...withoutUndefined({ existing: run.existing.after(ours, failure !== undefined) }),
      ...(inputs.mode === "exact" ? {} : withoutUndefined({ labelSets: summary.rowLabels.forms() })),
      ...(unproven.ids.size > 0 ? { unproven: [...unproven.ids] } : {}),
      // Viewers as they are declared: the state has addresses.
      ...withoutUndefined({ ...viewersOf(declared), viewerIDs }),
    };
    // Rows that are not as declared may still have the labels of earlier runs.
    const isDone = failures.length === 0 && plan.kept + plan.adoptNeeded.length === 0;
    const labels = isDone ? summary.labels : union(comparison.labels);
    if (failure !== undefined) {
      const lost = [...undone.wanted].flatMap((index) => {
        const key = summary.rows.key(index);
        const isSent = sent.has(index) || (plan.insert.has(index) && run.unseen?.has(key));
        return isSent && plan.last(key) === undefined ? [key] : [];
      });
      Object.assign(kept, withoutUndefined({ unseen: encodeKeys(lost, mostUnseen(ours.length)) }));
      const outputs: object = outputsOf(inputs, labels, ledgerInFailure(ours), kept);
      throw new PartialFailure(failure, id, { ...outputs, unfinished: true });
    }
    report.info(outcome({ ...plan, mode: inputs.mode }, calls, context.now() - began) + describeCleared(clear));
    return outputsOf(inputs, labels, ledgerOf(ours), { ...kept, labelled: summary.rowLabels.counts() });
  } finally {
    remembered?.rest(); // seeds that refer to it find it again
    release();
    leave();
  }
}

/** True if the account of this run made rows that nobody wants and that a plan leaves there. */
const hasBeside = ({ foreign, remove }: RowPlan, { mineBeside }: LiveRows): boolean =>
  foreign > 0 && mineBeside?.size !== remove.filter(({ isMine }) => isMine).length;

/** Seeds of the program that may hold rows of a table beside this one. */
const othersOn = ({ rowClaims }: Context, { table, resourceUrn }: SeedInputs): RowClaim[] =>
  rowClaims.owning(table, resourceUrn);

/** A run by what is on the platform. */
interface PlannedRun {
  summary: Summary;
  links: Links;
  comparison: Comparison;
  live: LiveRows;
  plan: RowPlan;
  /** The seed with what the digests of rows that left the source depend on. */
  terms: Seed;
  clear: Clearing;
  /** Rows that the last run sent and did not see. */
  unseen: RowSet | undefined;
  existing: ExistingRows;
  unproven: UnprovenRows;
  /** Seeds for which rows stay, by name, and those that were asked. */
  keptForOthers: HandedOverRows;
  considered: ReadonlySet<string>;
}

/** Plans a run, and refuses what it must not do. Nothing is changed so far. */
async function planRun(
  context: Context,
  inputs: SeedInputs,
  ledger: Ledger,
  old: SeedState | undefined,
): Promise<PlannedRun> {
  const { directory, report } = context;
  const { table, resourceUrn } = inputs;
  const summary = await summaryOf(context, inputs);
  const { rows } = summary;
  const links = await Links.of(context, inputs);
  const unproven = new UnprovenRows(context, inputs, old);
  await unproven.decide(inputs, { rows, links });

  const { givers, handed } = await givenUp(context, inputs);
  const existingOfGivers = givers.map(({ target, existing }) => ({ target, keys: existing }));
  const ofGivers = new Set((await indicesWithin(existingOfGivers, inputs, directory)).keys());

  const comparison = Comparison.of(inputs, summary, old, handed);
  const projection = Projection.of(inputs, summary);
  const unseen = await unseenIn(context, ledger, old, summary);
  const compared = { rows, links, comparison, ledger, unseen };
  const see = (row: Pick<ObservedRow, "id" | "index" | "values">): void => projection?.observe(row);
  const reshaped = old && ledger.count > 0 && isReshaped(old, inputs) ? old : undefined;
  const recognised = reshaped && (await readReshapedRows(context, inputs, reshaped, compared, see));
  const live = recognised?.live ?? (await readLiveRows(context, inputs, compared, see));
  const known: Ledger | KnownRows = recognised?.ledger ?? ledger;
  const terms: Seed = reshaped && recognised ? inOldTerms(reshaped, inputs) : inputs;

  const before = await existingBefore(context, inputs, old, rows, live);
  const options: RowOptions = {
    ...optionsOf(inputs),
    handedOver: new Set([...handed.keys(), ...unproven.ours, ...live.unlinked]),
    lostData: context.lostData,
    // Who only updates changes rows of others as well.
    ...(inputs.mode === "updateOnly" ? {} : { existing: before }),
  };
  let plan = planRows(rows, known, live, options);
  // What the last run applied shows which rows are ours, where it is still found.
  const applied = plan.proven || !old ? undefined : await lastSource(context, old);
  if (applied) plan = planRows(rows, known, live, { ...options, source: applied.rows });

  const others = othersOn(context, inputs);
  const { left, keptForOthers } = await withoutClaimed(context, terms, plan.remove, others);
  // A seed above this one may have changed the rows that it takes.
  const touched = plan.conflicts.flatMap(({ leaving = [] }) => leaving);
  const edited = (await withoutClaimed(context, terms, touched, others)).left;
  plan.conflicts = plan.conflicts.filter(({ leaving }) => !leaving || edited.includes(leaving));
  const existing = new ExistingRows(inputs, rows, {
    plan,
    live,
    before,
    handed: options.handedOver ?? handed,
    ofGivers,
  });
  const staying = new Set(old && !inputs.adopt ? existingRemovals(old, plan.remove) : []);
  const going = left.filter((row) => !staying.has(row));
  const stay = left.length - going.length;
  plan.released += stay;
  plan.remove = going;
  const clear = comparison.clearedBy(plan);
  const refusals = [
    tooManyRemovals("rows", going.length, ledger.count, inputs.maxRemovals),
    plan.vanished,
    plan.proven && (unseen || !hasBeside(plan, live)) ? undefined : unprovenPlan(inputs),
    ...clearedCounts(clear).map(([label, count]) => tooManyCleared(label, count, ledger.count, inputs.maxRemovals)),
  ].filter((reason) => reason !== undefined);
  await refusePlan(inputs, plan, refusals, directory, old === undefined);
  await refuseReferredTo(context, { target: terms, urn: resourceUrn }, plan.remove);
  await projection?.assert(context, plan, live);
  if (existing.met > 0) report.info(metMessage(table, existing.met, live.showsMakers));
  if (stay > 0) report.info(`table ${table}: ${keptMessage(stay)}`);
  tellFindings(report, table, plan);
  const considered = new Set(others.map(({ urn }) => urn));
  return {
    summary,
    links,
    comparison,
    live,
    plan,
    terms,
    clear,
    unseen,
    existing,
    unproven,
    keptForOthers,
    considered,
  };
}

/** Seeds that give up rows of a table in this run, and which rows of a seed these are, with the labels that they wrote. */
async function givenUp({ rowClaims, directory }: Context, inputs: SeedInputs) {
  const { table, resourceUrn } = inputs;
  const givers = rowClaims.leaving(table, resourceUrn).filter(({ target }) => sameKey(target, inputs));
  const handed = new Map<number, readonly string[]>();
  for (const giver of givers)
    for (const index of (await indicesWithin([giver], inputs, directory)).keys()) handed.set(index, giver.labels);
  return { givers, handed };
}

/**
 * What a new seed meets in its table, in words; undefined where it has none of its rows. Throws where others have rows with
 * its keys and other content. Sends nothing.
 */
export async function lookAhead(context: Context, inputs: SeedInputs): Promise<string | undefined> {
  const summary = await summaryOf(context, inputs);
  // What it links to may be made by the same run.
  const links = await Links.of(context, inputs, true);
  const { handed } = await givenUp(context, inputs);
  const ledger = emptyLedger();
  const comparison = Comparison.of(inputs, summary, undefined, handed);
  const live = await readLiveRows(context, inputs, { rows: summary.rows, links, comparison, ledger });
  const handedOver = new Set([...handed.keys(), ...live.unlinked]);
  const plan = planRows(summary.rows, ledger, live, { ...optionsOf(inputs), handedOver });
  await refusePlan(inputs, { adoptNeeded: plan.adoptNeeded, conflicts: [], lacking: [] }, [], context.directory, true);
  if (plan.adopted === 0) return undefined;
  return `rows: ${formatCounts([
    [plan.insert.size, "to add"],
    [plan.adopted, "already as declared"],
  ])}`;
}

// A row is ours when the ledger has it, or when it is exactly as declared and the account of this run made it: that settles
// rows of a killed run, of a batch that was stored in part, of a seed that was renamed or split, and of a row that moved. Rows
// of others that are exactly as declared are existing: they are kept, and never changed or deleted without `adopt: true`. A
// state lists them, since the next run may be of another account.

/** Existing rows among those that a run would remove; whoever made them, a seed that only updates made none. */
function existingRemovals(state: SeedState, removals: RowPlan["remove"]): RowPlan["remove"] {
  const isExisting = existingIn(state);
  return removals.filter(({ key, isMine }) => (state.mode === "updateOnly" || !isMine) && isExisting(key));
}

type Indices = Pick<ReadonlySet<number>, "has">;

/** What a run does about wanted rows that others made. */
class ExistingRows {
  readonly #isExisting: (index: number) => boolean;
  readonly #rows: RowSet;
  /** How many the run met for the first time. */
  readonly met: number;

  /**
   * @param before those that the last run saw
   * @param handed rows that other seeds hand over, and `ofGivers` those of them that existed before these seeds
   */
  constructor(
    { adopt, mode }: SeedInputs,
    rows: RowSet,
    {
      plan,
      live,
      before,
      handed,
      ofGivers,
    }: Record<"before" | "handed" | "ofGivers", Indices> & {
      plan: RowPlan;
      live: LiveRows;
    },
  ) {
    // No run makes a row in this mode: whichever it meets is another's.
    const isOfOthers = (index: number): boolean => mode === "updateOnly" || !live.isMineAsWanted(index);
    const isMet = (index: number): boolean =>
      plan.adopted > 0 && !handed.has(index) && plan.last(rows.key(index)) === undefined && isOfOthers(index);
    this.#rows = rows;
    this.#isExisting = (index) =>
      !adopt &&
      !plan.insert.has(index) &&
      (before.has(index) || isMet(index) || (ofGivers.has(index) && !live.isMineAsWanted(index)));
    let met = 0;
    if (plan.adopted > 0 && !adopt && mode !== "updateOnly")
      for (let index = 0; index < rows.length; index++) if (!plan.insert.has(index) && isMet(index)) met++;
    this.met = met;
  }

  /** The text for the state, once a plan is carried out. */
  after(ours: RowSet, isFailure: boolean): string | undefined {
    const keys: Digest[] = [];
    for (let index = 0; index < this.#rows.length && keys.length <= mostExisting.inState; index++)
      if (this.#isExisting(index) && ours.has(this.#rows.key(index))) keys.push(this.#rows.key(index));
    return encodeKeys(keys, isFailure ? mostExisting.inFailure : mostExisting.inState);
  }
}

/** Says which rows a run met that others made. */
const metMessage = (table: string, met: number, showsMakers: boolean): string =>
  showsMakers
    ? `table ${table}: ${formatCount(met, "row")} ${met === 1 ? "is" : "are"} as declared and existed before: others made ${met === 1 ? "it" : "them"}, so ${met === 1 ? "it is" : "they are"} kept, and never changed or deleted. To own ${met === 1 ? "it" : "them"}, set adopt: true`
    : `table ${table}: this platform does not show who made a row, so ${formatCount(met, "row")} that ${met === 1 ? "is" : "are"} as declared ${met === 1 ? "counts" : "count"} as made by others. To own ${met === 1 ? "it" : "them"}, set adopt: true`;

/** Wanted rows that the last run saw as existing, and that others than the account of this run have. */
async function existingBefore(
  { directory }: Context,
  inputs: SeedInputs,
  old: SeedState | undefined,
  rows: RowSet,
  live: LiveRows,
): Promise<Pick<ReadonlySet<number>, "has">> {
  if (inputs.adopt || !old || (old.existing ?? old.found) === undefined) return { has: () => false };
  const terms = isReshaped(old, inputs) ? (await byOldKey(old, inputs, directory))?.rows : rows;
  const isExisting = existingIn(old);
  // A seed that only updates owns no row, whoever made it.
  const isOfOthers = (index: number): boolean => inputs.mode === "updateOnly" || !live.areAllMine(index);
  return { has: (index) => isOfOthers(index) && (!terms || isExisting(terms.key(index))) };
}

/** Removes the rows of a seed that left the program, but for those that another one declares. */
export async function removeOwned(context: Context, state: SeedState): Promise<void> {
  const { rowClaims, report, signal } = context;
  const { table, resourceUrn } = state;
  const release = await rowClaims.lock.enter(table, signal);
  try {
    const ledger = decodeLedger(state.ledger);
    await new UnprovenRows(context, state, state).decide(state);
    const none: Summary = { rows: new RowSet(), labels: state.labels, rowLabels: new RowLabels(), digest: "" };
    const links = await Links.of(context, state, true);
    const unseen = await unseenIn(context, ledger, state);
    const compared = { rows: none.rows, links, comparison: Comparison.ofState(state, none.rows), ledger, unseen };
    const live = await orUndefinedIfNotFound(readLiveRows(context, state, compared));
    if (!live) return; // the rows went with their table
    const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
    const plan = planRows(none.rows, ledger, live, { ...optionsOf(state), mode: "exact", maxRemovals: 1, source });
    if ((!plan.proven && live.length > 0) || (!unseen && hasBeside(plan, live)))
      throw new ResourceError(unprovenMessage(state));
    // Also what the same resource declares now: what is deleted then is the one that it replaces.
    const considered = rowClaims.on(table).filter(({ target }) => isOwning(target));
    const { left, keptForOthers } = await withoutClaimed(context, state, plan.remove, considered);
    const existing = new Set(existingRemovals(state, plan.remove));
    plan.remove = left.filter((row) => !existing.has(row));
    sayWhatStays(report, table, keptForOthers);
    const stay = left.length - plan.remove.length;
    if (stay > 0) report.info(`table ${table}: ${keptMessage(stay)}`);
    // An engine of another make has no place for the size of a deletion.
    if (plan.remove.length > 0) report.info(`deletes ${formatCount(plan.remove.length, "row")}`);
    await refuseReferredTo(context, { target: state, urn: resourceUrn }, plan.remove);
    const { failures } = await applyPlan(context, state, none, links, plan, { release });
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
  } finally {
    release();
  }
}
