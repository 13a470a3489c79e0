import { orUndefinedIfNotFound } from "../../platform/contract/errors.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { decodeLedger, type Ledger } from "../reconcile/ledger.ts";
import { Lookup } from "../reconcile/references.ts";
import { planRows } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { ResourceError } from "../resources/model/resource.ts";
import type { Summary } from "./declared/declaration.ts";
import { RowLabels } from "./declared/rowLabels.ts";
import { lastSource } from "./declared/summaries.ts";
import { isOwning } from "./declared/target.ts";
import { listExistingRemovals } from "./existing.ts";
import { keptMessage } from "./kept/leaving.ts";
import { scopeOfState } from "./kept/scope.ts";
import { optionsOf, type SeedState } from "./kept/state.ts";
import { refuseReferredTo, sayWhatStays, withoutClaimed } from "./keptForOthers.ts";
import type { RowContext } from "./live/context.ts";
import { Links } from "./live/links.ts";
import { liveRows } from "./live/liveRows.ts";
import { unprovenMessage } from "./reports.ts";
import { applyPlan } from "./writing/apply.ts";
import { UnprovenRows } from "./writing/unproven.ts";

async function rowsToRemove(context: RowContext, state: SeedState, ledger: Ledger) {
  const none: Summary = { rows: new RowSet(), labels: state.labels, rowLabels: new RowLabels(), digest: "" };
  const links = await Links.of(context, state, () => new Lookup());
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
    await UnprovenRows.of(context, state, state).removeAll();
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
