import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { decodeLedger } from "../reconcile/ledger.ts";
import type { Forecast, RowsAhead } from "../reconcile/rows.ts";
import { RowIndices, RowSet } from "../reconcile/rowSet.ts";
import type { OfflineRowContext, RowFindings } from "../seedRows/claims.ts";
import { keysOf, indicesWithin } from "../seedRows/declaration.ts";
import type { Seed, SeedState } from "../seedRows/inputs.ts";
import { removeKeptForOthers, keptMessage, refuseReferredTo, describeKeptForOthers } from "../seedRows/otherSeeds.ts";
import { lastSource } from "../seedRows/state.ts";
import { ResourceError } from "./model/resource.ts";

/** Finds out what a deletion does with the rows of a seed, and refuses what it refuses. Offline. */
export async function departure(context: OfflineRowContext, state: SeedState): Promise<Partial<RowFindings>> {
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
  await refuseOtherContent(context, state, rows.staying);
  await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, [...rows.going]);
  const keys = RowSet.of([...rows.going, ...rows.staying]);
  const { existing, staying: handedOver } = rows;
  return { leaving: { target: state, keys, labels: state.labels, existing, handedOver }, renewed: [] };
}

/**
 * Throws when a seed declares rows of the one that goes with other content: to it they are rows that it has not made, so its
 * update refuses them.
 */
async function refuseOtherContent(context: OfflineRowContext, state: SeedState, staying: RowSet): Promise<void> {
  const { rowClaims, directory } = context;
  for (const claim of staying.length > 0 ? rowClaims.checked(state.table) : []) {
    const { target, urn } = claim;
    const { adopt } = target as { adopt?: boolean }; // all inputs of a seed that was checked
    const { ledger } = (rowClaims.last(urn) ?? {}) as { ledger?: string };
    if (urn === state.resourceUrn || adopt || !["exact", "upsert", undefined].includes(target.mode)) continue;
    const known = ledger === undefined ? undefined : decodeLedger(ledger);
    const { labels } = await rowClaims.summary(claim);
    // Other labels, or values that are read otherwise, are compared on the platform alone.
    if (known?.kind === "sketch" || !isReadAlike(state, target, labels)) continue;
    const found = await indicesWithin([{ target: state, keys: staying }], target, directory);
    const owned = (await rowClaims.summary(claim)).rows;
    const differing = [...found].flatMap(([index, isSame]) =>
      isSame || (known?.kind === "list" && known.rows.has(owned.key(index))) ? [] : [index],
    );
    if (differing.length === 0) continue;
    const named = target.sensitive
      ? `${differing.length} rows`
      : some((await keysOf(target, directory, new Set(differing))).map(quote), 20);
    throw new ResourceError(
      `${claim.name} declares rows of this seed with other content: ${named}. Give it this one's name in formerly (aliases in a program), set adopt: true there, or change them in another run.`,
    );
  }
}

function isReadAlike(one: SeedState, other: Seed, labels: readonly string[]): boolean {
  const how = ({ key, types, forms, ignoreLabels, references, parent }: Seed): string =>
    JSON.stringify([key, types ?? {}, forms ?? {}, ignoreLabels ?? [], references ?? {}, parent ?? {}]);
  return how(one) === how(other) && one.labels.toSorted().join("\n") === labels.toSorted().join("\n");
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
