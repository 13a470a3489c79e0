import { CallCounter } from "../../client/calls.ts";
import { orUndefinedIfNotFound } from "../../contract/errors.ts";
import { withoutUndefined } from "../../contract/values.ts";
import { numbered, quoted, some } from "../../messages/text.ts";
import { decodeLedger, encodeLedger, ledgerInFailure, ledgerOf, type Ledger } from "../../reconcile/ledger.ts";
import type { LiveRows } from "../../reconcile/liveRows.ts";
import type { KnownRows } from "../../reconcile/ownership.ts";
import { Lookup } from "../../reconcile/references.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { limitRemovals, oursAfter, planRows, type RowOptions, type RowPlan } from "../../reconcile/rows.ts";
import type { Removal } from "../model/removals.ts";
import { PartialFailure, ResourceError } from "../model/resource.ts";
import type { RowClaim } from "./declared/claims.ts";
import { keysOf, type Summary } from "./declared/declaration.ts";
import { isWithinBounds, lastSource, summaryOf } from "./declared/summaries.ts";
import { viewersChanged, viewersOf, type RowTarget } from "./declared/target.ts";
import { indicesWithin, sameKey } from "./declared/terms.ts";
import { comesBack, departedFrom } from "./departed.ts";
import type { RowContext } from "./live/context.ts";
import { Links } from "./live/links.ts";
import { liveRows, type ObserveRow } from "./live/liveRows.ts";
import { NumberedKeys, refuseNumbered } from "./live/numberedKeys.ts";
import { renewedRows } from "./live/renewal.ts";
import { inOldTerms, isReshaped, reshapedRows } from "./live/reshaped.ts";
import { planWithLostLinks } from "./lostLinks.ts";
import { outcome, tellFindings } from "./reports.ts";
import { refuseReferredTo, sparedMessage, withoutClaimed } from "./spared.ts";
import { refuseUndeclaredRows } from "./undeclared.ts";
import { leavingUnseen } from "./unseen.ts";
import { applyPlan, type Applied } from "./writing/apply.ts";
import type { Removal as RowRemoval, Spared } from "./writing/steps.ts";
import { UnprovenRows } from "./writing/unproven.ts";

/** What a seed's rows are kept by. */
export interface SeedInputs extends RowTarget, Omit<RowOptions, "adopt" | "maxRemovals" | "handedOver"> {
  resourceUrn?: string | undefined;
  key: string[];
  maxRemovals: number;
  adopt?: boolean | undefined;
  sensitive?: boolean | undefined;
  digest?: string | undefined;
  keys?: string[] | undefined;
  onViewersChange?: "newRows" | "recreate" | "error" | undefined;
  removal?: Removal | undefined;
}

/** What a run leaves in the state beside the inputs. */
interface Kept {
  rowCount: number;
  ledger: string;
  labels: string[];
  unfinished?: boolean;
  renewals?: number | undefined;
  departed?: string | undefined;
  unproven?: string[] | undefined;
}

/** What the last run left. */
export type SeedState = SeedInputs & Kept;

export const optionsOf = ({ mode, onConflict, adopt = false, maxRemovals }: SeedInputs): RowOptions => ({
  mode,
  onConflict,
  adopt,
  maxRemovals,
});

/** Seeds of the program that may hold rows of a table beside the one with this URN. */
const othersOn = ({ rowClaims }: RowContext, { table, resourceUrn }: SeedInputs): RowClaim[] =>
  rowClaims.on(table, resourceUrn);

/** The rows that another seed of the program gives up in this run. */
const handedOver = (
  { rowClaims, directory }: RowContext,
  inputs: SeedInputs,
): Promise<ReadonlyMap<number, boolean>> => {
  const givers = rowClaims.leaving(inputs.table, inputs.resourceUrn).filter(({ target }) => sameKey(target, inputs));
  return indicesWithin(givers, inputs, directory);
};

/** Brings the table to the content of the source; answers what is ours then. */
export async function apply<Inputs extends SeedInputs>(
  context: RowContext,
  id: string,
  inputs: Inputs,
  ledger: Ledger,
  old?: SeedState,
): Promise<Inputs & Kept> {
  const release = await context.rowClaims.lock.enter(inputs.table);
  try {
    return await applied(context, { id, inputs, ledger, old, release });
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
): Promise<Inputs & Kept> {
  const calls = new CallCounter();
  const context: RowContext = { ...platform, onCall: calls.onCall };
  const began = context.now();
  const summary = await summaryOf(context, inputs);
  const links = await Links.of(context, inputs);
  const unproven = await UnprovenRows.decided(context, inputs, old, { rows: summary.rows, links });
  const recreates = old !== undefined && viewersChanged(old, inputs) && inputs.onViewersChange === "recreate";
  const seen = await observedRows(context, inputs, { last, old, summary, links, recreates });
  const { live, terms, numbered } = seen;
  const givenUp = new Map([...(await handedOver(context, inputs)), ...unproven.ours]);
  const options = { ...optionsOf(inputs), handedOver: givenUp, onlyShown: context.isApproved };
  const plan = await planWithLostLinks(context, inputs, { summary, links, ...seen }, options);
  const considered = othersOn(context, inputs);
  const early = await withoutClaimed(context, terms, plan.remove, considered);
  limitRemovals(plan, early.left, last, inputs);
  await refuseUndeclaredRows(context, inputs, terms, early.left);
  await refuse(inputs, plan, context.directory);
  await refuseReferredTo(context, { target: terms, urn: inputs.resourceUrn }, plan.remove);
  await refuseNumbered(inputs, plan, numbered, context.directory);
  tellFindings(context.report, inputs.table, plan);
  const recreate = recreates ? ownRows(plan, summary, live) : new Map<number, string>();
  for (const index of plan.unseen.wanted) recreate.delete(index);
  const departed = departedFrom(old, inputs);
  const isMoved = await comesBack(context, inputs, departed, plan, summary.rows);
  const removing = [...plan.remove];
  const { undone, failures, spared } = await leavingUnseen(context, inputs, plan, summary, () =>
    applyPlan(context, inputs, summary, links, plan, {
      recreate,
      terms,
      release,
      spare: lateSparing(context, inputs, terms, considered),
      seen: live,
      unproven: last.count === 0 || (old && !sameKey(old, inputs)) ? unproven : undefined,
    }),
  );
  sayWhatStays(context, inputs.table, early.spared, spared);
  const isRenewed = isMoved || recreate.size > 0 || plan.drift.missing.some((index) => !undone.wanted.has(index));
  if (isRenewed) context.rowClaims.renew(inputs.table);
  const renewals = (old?.renewals ?? 0) + (isRenewed ? 1 : 0);
  const ours = oursAfter(summary.rows, plan, undone);
  const kept = {
    ...(renewals > 0 ? { renewals } : {}),
    ...withoutUndefined({ departed: departed.encode(removing, (key) => ours.has(key)) }),
    ...unproven.kept,
  };
  if (failures.length > 0) {
    const done = summary.rows.length - undone.wanted.size - plan.kept;
    const message = `${done} rows of table ${inputs.table} are as declared, but:\n${failures.join("\n")}`;
    const outputs: object = outputsOf(inputs, summary, ledgerInFailure(ours), kept);
    // Viewers that not all rows have yet are changed by the next run.
    const viewers = recreate.size > 0 && old ? viewersOf(old) : {};
    throw new PartialFailure(message, id, { ...outputs, ...viewers, unfinished: true });
  }
  context.report.info(outcome({ ...plan, recreated: recreate.size }, calls, context.now() - began));
  return outputsOf(inputs, summary, ledgerOf(ours), kept);
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
  run: { last: Ledger; old: SeedState | undefined; summary: Summary; links: Links; recreates: boolean },
): Promise<SeenRows> {
  const { last, old, summary, links, recreates } = run;
  const numbered = new NumberedKeys(inputs.key);
  const see: ObserveRow = ({ index, values }) => {
    if (index === undefined) numbered.observe(values);
  };
  if (old && last.count > 0 && isReshaped(old, inputs)) {
    const found = { ledger: last, summary, links };
    const renewed = await renewedRows(context, inputs, old, { ...found, see, keepsIDs: recreates });
    if (renewed) return { ...renewed, terms: inputs, numbered };
    const known = await reshapedRows(context, inputs, old, found);
    if (known) return { ...known, terms: inOldTerms(old, inputs), numbered };
  }
  const live = await liveRows(context, inputs, summary.labels, links, summary.rows, last, see, recreates);
  return { live, ledger: last, terms: inputs, numbered };
}

/** Takes out of a removal what seeds declare that were checked since it was planned. */
const lateSparing =
  (context: RowContext, inputs: SeedInputs, terms: RowTarget, considered: readonly RowClaim[]) =>
  async (removals: readonly RowRemoval[]): Promise<{ left: RowRemoval[]; spared: Spared }> => {
    await context.others();
    const known = new Set(considered.map(({ urn }) => urn));
    const late = othersOn(context, inputs).filter(({ urn }) => !known.has(urn));
    return withoutClaimed(context, terms, removals, late);
  };

function sayWhatStays(context: RowContext, table: string, ...all: Spared[]): void {
  for (const spared of all) if (spared.size > 0) context.report.info(`table ${table}: ${sparedMessage(spared)}`);
}

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
  const none: Summary = { rows: new RowSet(), labels: state.labels, digest: "" };
  const links = await Links.of(context, state, () => new Lookup());
  const live = await orUndefinedIfNotFound(liveRows(context, state, state.labels, links, none.rows, ledger));
  if (!live) return undefined;
  const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
  const onlyShown = context.isApproved;
  const options = { ...optionsOf(state), mode: "exact" as const, maxRemovals: 1, source, onlyShown };
  return { plan: planRows(none.rows, ledger, live, options), links, none };
}

/** Removes the rows of a seed that left the program, but for those that another one declares. */
export async function removeOwned(context: RowContext, state: SeedState): Promise<void> {
  const release = await context.rowClaims.lock.enter(state.table);
  try {
    const ledger = decodeLedger(state.ledger);
    await (await UnprovenRows.of(context, state, state)).removeAll();
    const read = await rowsToRemove(context, state, ledger);
    if (!read) return; // the rows went with their table
    const { plan, links, none } = read;
    if (!plan.proven) {
      context.report.warning(`it can't be proven which rows of table ${state.table} are ours: none is removed`);
    }
    // Also what the same resource declares now: what is deleted then is the one that it replaces.
    const considered = context.rowClaims.on(state.table);
    const { left, spared } = await withoutClaimed(context, state, plan.remove, considered);
    plan.remove = left;
    sayWhatStays(context, state.table, spared);
    // An engine of another make has no place for the size of a deletion.
    if (left.length > 0) context.report.info(`deletes ${numbered(left.length, "row")}`);
    await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, left);
    const work = (): Promise<Applied> => applyPlan(context, state, none, links, plan, { release });
    const { failures } = await leavingUnseen(context, state, plan, none, work);
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
  } finally {
    release();
  }
}

/** Ends when a plan must not be carried out, naming the rows. */
async function refuse(inputs: SeedInputs, plan: RowPlan, directory: string): Promise<void> {
  const keys = async (indices: number[]): Promise<string> =>
    inputs.sensitive
      ? `${indices.length} rows`
      : some((await keysOf(inputs, directory, new Set(indices))).map(quoted), 20);
  const reasons = [...plan.refusals];
  if (plan.adoptNeeded.length > 0) {
    const named = await keys(plan.adoptNeeded.map(({ wanted }) => wanted));
    reasons.push(
      `table ${inputs.table} has rows with these keys and other content that are not ours: ${named}. Set adopt: true to take them over, or remove them from the source. If a seed had them that was renamed in the program, give the new one aliases (formerly in an environment file).`,
    );
  }
  if (plan.conflicts.length > 0) {
    const known = plan.conflicts.flatMap(({ wanted }) => wanted ?? []);
    const named = known.length > 0 ? `: ${await keys(known)}` : "";
    reasons.push(
      `${plan.conflicts.length} rows of table ${inputs.table} were edited or removed by hand and onConflict is "error"${named}. Set onConflict to overwrite or keepLive, or put them back.`,
    );
  }
  if (reasons.length > 0) throw new ResourceError(reasons.join("\n"));
}

function outputsOf<Inputs extends SeedInputs>(
  { rows: inline, keys, ...inputs }: Inputs,
  summary: Summary,
  ledger: Ledger,
  more: Pick<Kept, "renewals" | "departed" | "unproven">,
): Inputs & Kept {
  const outputs = {
    ...inputs,
    rowCount: ledger.count,
    ledger: encodeLedger(ledger),
    labels: summary.labels,
    ...more,
  };
  // Those of a ledger that has other rows would name the wrong ones.
  const named = keys && isWithinBounds(keys) && ledger.count === keys.length ? { ...outputs, keys } : outputs;
  return named as unknown as Inputs & Kept; // without rows, which no output holds, and with keys where they fit
}
