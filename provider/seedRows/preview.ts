import { entryIn } from "../../platform/contract/wire.ts";
import { quote, some } from "../../platform/messages/text.ts";
import { massDisappearance, tooManyRemovals } from "../reconcile/guards.ts";
import { decodeLedger, type Ledger } from "../reconcile/ledger.ts";
import { RowIndices } from "../reconcile/rowIndices.ts";
import { fewestRemovals, planOffline, type Forecast } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { type Diff, type Report, ResourceError } from "../resources/model/resource.ts";
import { findChangedCells, hidingBoth, secrecyMessage, whatIsUnknown } from "./changedCells.ts";
import type { OfflineRowContext, RowFindings } from "./declared/claims.ts";
import { keysOf } from "./declared/declaration.ts";
import { linksOf } from "./declared/links.ts";
import { summaryOf, withLastSource } from "./declared/summaries.ts";
import type { RowTarget } from "./declared/target.ts";
import { indicesWithin, sameKey } from "./declared/terms.ts";
import { driftMessage, repairsOf, type Drift, type FoundSecrets } from "./drift.ts";
import { as, firstNames, forecast, maxShown, noNames, type Names, type Part } from "./forecast.ts";
import { clearForecast } from "./kept/clearForecast.ts";
import { inLastLabels } from "./kept/ignored.ts";
import { nobody, noneLeaving, removeKeptForOthers, keptMessage, type LeavingRows } from "./kept/leaving.ts";
import type { SeedInputs, SeedState } from "./kept/state.ts";
import { loadTombstones, takesUp } from "./kept/tombstones.ts";
import { sayViewers } from "./kept/viewers.ts";
import { describeKeptForOthers } from "./keptForOthers.ts";
import { describeUnmet } from "./live/projection.ts";
import { byOldKey, inOldTerms, isRelinked, isReshaped } from "./live/reshaped.ts";
import { referringTo } from "./owners.ts";
import { withoutRow } from "./reports.ts";

/** Inputs of a previewed seed. */
interface Inputs extends SeedInputs {
  onDestroy: "delete" | "retain";
  linkRenewals?: Record<string, number> | undefined;
}

interface State extends SeedState, Pick<Inputs, "onDestroy" | "linkRenewals"> {
  unfinished?: boolean;
  drift?: Drift | undefined;
  foundSecrets?: FoundSecrets | undefined;
  unmet?: string[] | undefined;
}

/** Reports what an update will do, with its rows, and refuses what it must not do. Sends nothing. */
export async function previewUpdate(
  context: OfflineRowContext,
  change: Diff,
  old: State,
  inputs: Inputs,
): Promise<Diff & { findings?: RowFindings }> {
  if (change.replaces.length > 0) return replaced(context, change, old, inputs);
  const { report } = context;
  const links = renewedLinks(context, old, inputs);
  // A refresh takes from the engine what it knew of the failure.
  const unmet = old.unmet && inputs.expect ? ["unmet"] : [];
  const changed = [...change.changed, ...links, ...(old.unfinished ? ["unfinished"] : []), ...unmet];
  const parts: Part[] = [];
  let total = 0;
  const repairs = repairsOf(inputs, old.drift);
  const renewed: string[] = [];
  sayViewers(context.report, old, inputs);
  let leaving: RowFindings["leaving"] = { target: inputs, keys: new RowSet(), labels: [], ...nobody() };
  const secrecy = secrecyMessage(old, inputs);
  if (secrecy !== undefined) report.forecast(secrecy);
  if (unmet.length > 0) report.forecast(`as of the last look ${describeUnmet(inputs.table, old.unmet ?? [])}`);
  // A refresh that found no row left compares what it read, which no program declares.
  const isDeclared = inputs.rows?.length !== 0;
  if (changed.length > 0 && isDeclared) {
    const { plan, names, ...found } = await planned(context, old, inputs, { repairs, renewed: links.length > 0 });
    renewed.push(...found.renewed);
    leaving = found.leaving;
    if (plan.exact) {
      parts.push(...names.added.map(as("add")), ...names.changed.map(as("update")));
      parts.push(...names.removed.slice(0, maxShown).map(as("delete")));
      total += plan.insert + plan.update + plan.remove;
    }
  }
  if (repairs) {
    const { changedKeys, missingKeys } = repairs;
    const vanished = massDisappearance(
      "rows",
      repairs.missing,
      old.rowCount,
      context.lostData ? 1 : inputs.maxRemovals,
    );
    if (vanished !== undefined) throw new ResourceError(`table ${inputs.table}: ${vanished}`);
    if (inputs.mode === "updateOnly" && repairs.missing > 0)
      throw new ResourceError(withoutRow(inputs.table, repairs.missing, some(missingKeys.map(quote), maxShown)));
    const known = { owned: old.rowCount, alone: changed.length === 0, directory: context.directory };
    const message = await driftMessage(hidingBoth(old, inputs), repairs, { ...known, secrets: old.foundSecrets });
    if (message !== undefined) report.forecast(message);
    if (repairs.missing > 0 && inputs.onConflict === "overwrite") renewed.push(inputs.table);
    changed.push("drift");
    parts.push(...changedKeys.map(as("update")), ...missingKeys.map(as("add")));
    total += repairs.changed + repairs.missing;
  }
  const now = { ...change, changed: [...new Set(changed)], findings: { leaving, renewed } };
  return inputs.sensitive || parts.length === 0 ? now : { ...now, parts: { rows: { first: parts, total } } };
}

/** Another table: its rows come first, then the old ones go. */
function replaced({ report }: OfflineRowContext, change: Diff, old: State, inputs: Inputs): Diff {
  if (old.table === inputs.table) return change;
  const { count } = decodeLedger(old.ledger);
  const move = `table ${old.table} → ${inputs.table}`;
  if (old.onDestroy === "retain") {
    report.forecast(`${move}: the ${count} rows of ${old.table} stay, since onDestroy is "retain"`);
    return change;
  }
  report.forecast(
    `${move}: once the rows are there, the ${count} rows of ${old.table} are removed, but for those that another seed declares`,
  );
  const refusal = tooManyRemovals("rows", count, count, inputs.maxRemovals);
  if (refusal !== undefined) throw new ResourceError(`${move}: ${refusal}`);
  return change;
}

/** References whose rows were recreated, in this run or in one that was interrupted before this seed could follow. */
function renewedLinks({ report, rowClaims }: OfflineRowContext, old: State, inputs: Inputs): string[] {
  const { linkRenewals } = inputs;
  const missed = (label: string): boolean =>
    entryIn(linkRenewals, label) !== undefined && linkRenewals?.[label] !== (entryIn(old.linkRenewals, label) ?? 0);
  const renewed = linksOf(inputs).filter(({ label, table }) => rowClaims.isRenewed(table) || missed(label));
  sayRenewed(report, renewed);
  return renewed.map(({ property }) => property);
}

/** Reports links that follow recreated rows. */
export function sayRenewed(report: Report, links: readonly { table: string }[]): void {
  if (links.length === 0) return;
  const tables = [...new Set(links.map(({ table }) => table))].join(", ");
  report.forecast(`rows of table ${tables} are made anew: the links to them are renewed`);
}

/** Reports in one line what an update does with the rows; returns it with what the seeds after it have to know. */
async function planned(
  context: OfflineRowContext,
  old: State,
  inputs: Inputs,
  known: { repairs: Drift | undefined; renewed: boolean },
): Promise<RowFindings & { plan: Forecast; names: Names }> {
  const { directory, report, rowClaims } = context;
  const ledger = decodeLedger(old.ledger);
  const { plan, leaving, names, target, isVague } = await difference(context, old, inputs, ledger);
  report.rows?.({ plan, keptForOthers: leaving.reported });
  const summary = await summaryOf(context, inputs);
  const { rows } = summary;
  const clearing = clearForecast(old, inputs, summary, plan);
  const renewed: string[] = [];
  if (plan.exact && plan.insert > 0) {
    const departed = loadTombstones(old, inputs);
    const returns = !isReshaped(old, inputs) && plan.change.added.some((index) => departed.has(rows.key(index)));
    const leavingRows = rowClaims.going(inputs.table, inputs.resourceUrn);
    if (returns || (await takesUp(context, inputs, leavingRows))) renewed.push(inputs.table);
  }
  const cells = await findChangedCells(context, old, inputs, names.changed);
  const relinked = isRelinked(old, inputs) || clearing.isLeft;
  const unknowns = {
    ...known,
    adopts: inputs.adopt,
    relinked,
    isVague: isVague || inputs.mode === "updateOnly",
    keepsCells: rowClaims.keepsCells,
    cells,
  };
  report.forecast(
    forecast(hidingBoth(old, inputs), plan, names, ledger.count, unknowns) + whatIsUnknown(old, inputs, plan, cells),
  );
  for (const sentence of clearing.sentences) report.forecast(sentence);
  const stay = [...leaving.existing].filter(({ key }) => !leaving.staying.has(key)).length;
  if (stay > 0) report.forecast(keptMessage(stay));
  if (leaving.reported.size > 0) report.forecast(describeKeptForOthers(leaving.reported));
  const going = inputs.mode === "exact" ? fewestRemovals(plan) : 0;
  const refusal = tooManyRemovals("rows", going, ledger.count, inputs.maxRemovals);
  const refusals = [...(refusal ? [refusal] : []), ...clearing.refusals];
  if (refusal && mayComeLater(context, inputs)) report.forecast(laterAdvice);
  if (refusals.length > 0) throw new ResourceError(refusals.join("\n"));
  const removed = { target, keys: leaving.going };
  const referring = leaving.going.length === 0 ? [] : await referringTo(rowClaims.checked(), removed, directory);
  if (referring.length > 0) {
    throw new ResourceError(
      `rows that other seeds declare refer to what would leave:\n${referring.join("\n")}\nKeep those rows, or change what refers to them in the same run.`,
    );
  }
  const keys = RowSet.of([...leaving.going, ...leaving.staying]);
  const { existing, staying: handedOver } = leaving;
  return { plan, names, renewed, leaving: { target, keys, labels: old.labels, existing, handedOver } };
}

const laterAdvice =
  "rows that move to a seed which waits for this one are removed here and added there, with other IDs: if that is meant, " +
  "set maxRemovals for this run; seeds of one Environment know of each other, and such rows stay";

/** True if a program may register a seed later of which nobody knows; an Environment announces all of its own. */
const mayComeLater = ({ rowClaims }: OfflineRowContext, { resourceUrn }: SeedInputs): boolean =>
  rowClaims.keepsCells && resourceUrn?.includes("microapps:index:Environment$") !== true;

interface Found {
  plan: Forecast;
  leaving: LeavingRows;
  names: Names;
  /** The seed with what the digests of the ledger depend on. */
  target: RowTarget;
  /** True when only the platform shows how many rows change. */
  isVague: boolean;
}

/**
 * Differences from the last run, by its key labels, without rows that move between seeds. Compares with its source where
 * the ledger can't list the changes.
 */
async function difference(context: OfflineRowContext, old: State, inputs: Inputs, ledger: Ledger): Promise<Found> {
  const { directory, report } = context;
  const reshaped = isReshaped(old, inputs);
  const target: RowTarget = reshaped ? inOldTerms(old, inputs) : inputs;
  const now = await summaryOf(context, inputs);
  const { rows: wanted } = now;
  const compared = reshaped ? undefined : await inLastLabels(old, inputs, now, directory);
  const summary = compared?.summary ?? (await byOldKey(old, inputs, directory));
  const isVague = compared?.isVague ?? false;
  if (reshaped && old.key.join() !== inputs.key.join()) {
    report.forecast(
      `the natural key changes from ${old.key.join(", ")} to ${inputs.key.join(", ")}: rows keep their IDs`,
    );
  }
  if (!summary) {
    const plan: Forecast = { exact: false, moreThan: 0, net: wanted.length - ledger.count };
    return { plan, leaving: noneLeaving(), names: noNames(), target, isVague };
  }
  const narrowed = async (whole: Forecast): Promise<{ plan: Forecast; leaving: LeavingRows }> => {
    const { plan, leaving } = await removeKeptForOthers(context, { old, inputs, target, rows: summary.rows }, whole);
    return { plan: await removeTakenOver(context, inputs, plan), leaving };
  };
  const named = (plan: Forecast, known: Ledger, keys: readonly string[]): Promise<Names> =>
    firstNames(inputs, plan, known, keys, directory);
  const whole = planOffline(summary.rows, ledger, inputs.mode);
  if (whole.exact) {
    const { plan, leaving } = await narrowed(whole);
    return { plan, leaving, names: await named(plan, ledger, old.keys ?? []), target, isVague };
  }
  const found = await withLastSource(context, { ...old, rows: undefined }, async ({ rows }, seed, folder) => {
    const last: Ledger = { kind: "list", count: rows.length, rows };
    const { plan, leaving } = await narrowed(planOffline(summary.rows, last, inputs.mode));
    const left = plan.exact ? plan.change.removed.slice(0, maxShown) : [];
    const indices = new Set(left.flatMap(({ key }) => rows.find(key) ?? []));
    const removed = indices.size === 0 || inputs.sensitive ? [] : await keysOf(seed, folder, indices);
    return { plan, leaving, names: { ...(await named(plan, last, [])), removed }, target, isVague };
  });
  return found ?? { plan: whole, leaving: noneLeaving(), names: noNames(), target, isVague };
}

/** Takes out of a plan what is there already, since another seed gives it up and leaves it there. */
export async function removeTakenOver(
  { rowClaims, directory }: OfflineRowContext,
  inputs: SeedInputs,
  plan: Forecast,
): Promise<Forecast> {
  if (!plan.exact || plan.insert === 0) return plan;
  const arriving = rowClaims
    .leaving(inputs.table, inputs.resourceUrn)
    .filter(({ target }) => sameKey(target, inputs))
    .map(({ target, handedOver }) => ({ target, keys: handedOver }));
  if (arriving.length === 0) return plan;
  const all = await indicesWithin(arriving, inputs, directory);
  const added = RowIndices.of(plan.change.added);
  const taken = [...all.keys()].filter((index) => added.has(index));
  for (const index of taken) added.delete(index);
  const differing = taken.some((index) => all.get(index) === false);
  const handed = new Map(taken.map((index) => [index, all.get(index) !== false] as const));
  return { ...plan, insert: added.size, taken: taken.length, differing, handed, change: { ...plan.change, added } };
}
