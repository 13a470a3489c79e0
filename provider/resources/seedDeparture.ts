import { formatCount } from "../messages/text.ts";
import { decodeLedger } from "../reconcile/ledger.ts";
import { RowIndices } from "../reconcile/rowIndices.ts";
import type { Forecast, RowsAhead } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import type { OfflineRowContext, RowFindings } from "./rows/declared/claims.ts";
import { lastSource } from "./rows/declared/summaries.ts";
import { removeKeptForOthers, keptMessage } from "./rows/kept/leaving.ts";
import type { SeedState } from "./rows/kept/state.ts";
import { refuseReferredTo, describeKeptForOthers } from "./rows/keptForOthers.ts";

interface State extends SeedState {
  onDestroy: "delete" | "retain";
}

/** Finds out what a deletion does with the rows of a seed, and refuses what it refuses. Offline. */
export async function departure(context: OfflineRowContext, state: State): Promise<Partial<RowFindings>> {
  const { report } = context;
  const ledger = decodeLedger(state.ledger);
  const owned = ledger.kind === "list" ? ledger.rows : (await lastSource(context, { ...state, rows: undefined }))?.rows;
  const retains = state.onDestroy === "retain";
  if (!owned || retains) {
    const plan: Forecast = retains ? leaving(new RowSet()) : { exact: false, moreThan: 0, net: -ledger.count };
    report.rows?.({ plan, keptForOthers: new Map() });
    return {};
  }
  const { plan, leaving: rows } = await removeKeptForOthers(
    context,
    { old: state, inputs: { ...state, resourceUrn: undefined, adopt: false }, target: state, rows: new RowSet() },
    leaving(owned),
  );
  report.rows?.({ plan, keptForOthers: rows.reported });
  if (rows.reported.size > 0) report.forecast(describeKeptForOthers(rows.reported));
  const stay = [...rows.existing].filter(({ key }) => !rows.staying.has(key)).length;
  if (stay > 0) report.forecast(keptMessage(stay));
  await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, [...rows.going]);
  const keys = RowSet.of([...rows.going, ...rows.staying]);
  const { existing, staying: handedOver } = rows;
  return { leaving: { target: state, keys, labels: state.labels, existing, handedOver }, renewed: [] };
}

/** What becomes of the rows of a seed that goes, in words; undefined where only the platform shows it. */
export function describeDeparture({ plan, keptForOthers }: RowsAhead): string | undefined {
  if (!plan.exact) return undefined;
  const kept = [...keptForOthers].map(([name, rows]) => describeKept(name, rows));
  return [...(plan.remove > 0 || kept.length === 0 ? [formatCount(plan.remove, "row")] : []), ...kept].join("; ");
}

/** `6000 rows stay: seed "clients" declares them`. */
export const describeKept = (name: string, rows: number): string =>
  `${formatCount(rows, "row")} stay${rows === 1 ? "s" : ""}: ${name} declares ${rows === 1 ? "it" : "them"}`;

/** A plan that removes all rows. */
const leaving = (rows: RowSet): Forecast & { exact: true } => ({
  exact: true,
  ...{ insert: 0, update: 0, remove: rows.length, unchanged: 0 },
  change: { exact: true, added: new RowIndices(0), changed: [], removed: [...rows], before: rows },
});
