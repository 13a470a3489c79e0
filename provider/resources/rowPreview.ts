import { massDisappearance, tooManyRemovals } from "../reconcile/guards.ts";
import { decodeLedger, type Ledger } from "../reconcile/ledger.ts";
import { fewestRemovals, planOffline, type Forecast } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { ResourceError, type Change, type OfflineContext } from "./resource.ts";
import type { RowTarget } from "./rowApply.ts";
import { sameShape, type RowClaims } from "./rowClaims.ts";
import { rowsByKey, type BothSides } from "./rowCells.ts";
import { driftSaid, repairsOf, type Drift } from "./rowDrift.ts";
import { as, firstNames, forecast, mostShown, type Names, type Part } from "./rowForecast.ts";
import { referringTo } from "./rowOwners.ts";
import { byOldKey, inOldTerms, isReshaped } from "./rowReshaped.ts";
import { departedFrom, viewersChanged, type SeedInputs, type SeedState } from "./rowSession.ts";
import { keysOf } from "./rowSource.ts";
import { sparedSaid, type Spared } from "./rowSpared.ts";
import { summaryOf, withLastSource } from "./rowSummaries.ts";

/** A seed as it is previewed. */
interface Inputs extends SeedInputs {
  onDestroy: "delete" | "retain";
  linkRenewals?: Record<string, number> | undefined;
}

interface State extends SeedState {
  unfinished?: boolean;
  onDestroy: "delete" | "retain";
  drift?: Drift | undefined;
  linkRenewals?: Record<string, number> | undefined;
}

/** Says what an update will do, with the rows it is about, and refuses what it must not do. Offline. */
export async function previewed(context: OfflineContext, change: Change, old: State, inputs: Inputs): Promise<Change> {
  if (change.replaces.length > 0) return replaced(context, change, old, inputs);
  const { report } = context;
  const changed = [...change.changed, ...renewedLinks(context, old, inputs)];
  const parts: Part[] = [];
  let total = 0;
  // A refresh takes from the engine what it knew of the failure.
  if (old.unfinished) changed.push("unfinished");
  const repairs = repairsOf(inputs, old.drift);
  sayViewers(context, old, inputs);
  if (changed.length > 0) {
    const { plan, names } = await planned(context, old, inputs, repairs);
    if (plan.exact) {
      parts.push(...names.added.map(as("add")), ...names.changed.map(as("update")));
      parts.push(...names.removed.slice(0, mostShown).map(as("delete")));
      total += plan.insert + plan.update + plan.remove;
    }
  } else leaveNothing(context, inputs);
  if (repairs) {
    const { changedKeys, missingKeys } = repairs;
    const vanished = massDisappearance("rows", repairs.missing, old.rowCount, inputs.maxRemovals);
    if (vanished !== undefined) throw new ResourceError(`table ${inputs.table}: ${vanished}`);
    const { directory } = context;
    report.info(await driftSaid(inputs, repairs, { owned: old.rowCount, alone: changed.length === 0, directory }));
    if (repairs.missing > 0 && inputs.onConflict === "overwrite") context.rowClaims.renew(inputs.table);
    changed.push("drift");
    parts.push(...changedKeys.map(as("update")), ...missingKeys.map(as("add")));
    total += repairs.changed + repairs.missing;
  }
  const now = { ...change, changed: [...new Set(changed)] };
  return inputs.sensitive || parts.length === 0 ? now : { ...now, parts: { rows: { first: parts, total } } };
}

function leaveNothing({ rowClaims }: OfflineContext, inputs: Inputs): void {
  if (inputs.resourceUrn === undefined) return;
  rowClaims.leave(inputs.resourceUrn, { target: inputs, keys: new RowSet(), handedOver: new RowSet() });
}

/** Another table: its rows come first, then the old ones go. */
function replaced({ report }: OfflineContext, change: Change, old: State, inputs: Inputs): Change {
  if (old.table === inputs.table) return change;
  const count = decodeLedger(old.ledger).count;
  if (old.onDestroy === "retain") {
    report.info(
      `table ${old.table} → ${inputs.table}: the ${count} rows of ${old.table} stay, since onDestroy is "retain"`,
    );
    return change;
  }
  report.info(
    `table ${old.table} → ${inputs.table}: once the rows are there, the ${count} rows of ${old.table} are removed`,
  );
  const refusal = tooManyRemovals("rows", count, count, inputs.maxRemovals);
  if (refusal !== undefined) throw new ResourceError(`table ${old.table} → ${inputs.table}: ${refusal}`);
  return change;
}

/** References whose rows were made anew, in this run or in one that was interrupted before this seed could follow. */
function renewedLinks({ report, rowClaims }: OfflineContext, old: State, inputs: Inputs): string[] {
  const { references = {}, parent, linkRenewals } = inputs;
  const links = [
    ...Object.entries(references).map(([label, { table }]) => ({ label, table, property: "references" })),
    ...(parent ? [{ label: parent.by, table: parent.table, property: "parent" }] : []),
  ];
  const missed = (label: string): boolean =>
    linkRenewals?.[label] !== undefined && linkRenewals[label] !== (old.linkRenewals?.[label] ?? 0);
  const renewed = links.filter(({ label, table }) => rowClaims.isRenewed(table) || missed(label));
  if (renewed.length === 0) return [];
  const tables = [...new Set(renewed.map(({ table }) => table))].join(", ");
  report.info(`rows of table ${tables} are made anew: the links to them are renewed`);
  return renewed.map(({ property }) => property);
}

/** Who may see rows acts on insert alone: what that means for the rows that are there. */
function sayViewers({ report, rowClaims }: OfflineContext, old: State, inputs: Inputs): void {
  if (old.rowCount === 0 || !viewersChanged(old, inputs)) return;
  const names = (["viewers", "teamViewers", "userID"] as const).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(inputs[name]),
  );
  const what = `${old.rowCount} rows`;
  switch (inputs.onViewersChange ?? "error") {
    case "recreate":
      report.info(`${what} are made anew with the ${names.join(", ")} that are declared now: they get other IDs`);
      rowClaims.renew(inputs.table);
      return;
    case "newRows":
      report.info(`${what} keep their ${names.join(", ")}: the declared ones are for new rows`);
      return;
    case "error":
      throw new ResourceError(
        `${what} keep their ${names.join(", ")}, which act when a row is inserted. Set onViewersChange to newRows if that is meant, or to recreate to make them anew under other IDs.`,
      );
  }
}

/** What an update does with the rows, said in one line and noted for the seeds after it. */
async function planned(
  context: OfflineContext,
  old: State,
  inputs: Inputs,
  repairs: Drift | undefined,
): Promise<{ plan: Forecast; names: Names }> {
  const { directory, report, rowClaims } = context;
  const ledger = decodeLedger(old.ledger);
  const { whole, names, target } = await difference(context, old, inputs, ledger);
  const { plan, leaving } = await spared(rowClaims, inputs, target, whole);
  const { rows } = await summaryOf(context, inputs);
  const after = takenOver(rowClaims, inputs, rows, plan);
  const departed = departedFrom(old, inputs);
  if (after.exact && !isReshaped(old, inputs) && after.change.added.some((index) => departed.has(rows.key(index)))) {
    rowClaims.renew(inputs.table);
  }
  const cells = await changedCells(context, old, inputs, names.changed);
  report.info(
    forecast(inputs, after, names, ledger.count, { repairs, cells }) + whatIsUnknown(old, inputs, after, cells),
  );
  if (leaving.said.size > 0) report.info(sparedSaid(leaving.said));
  const going = inputs.mode === "exact" ? fewestRemovals(after) : 0;
  const refusal = tooManyRemovals("rows", going, ledger.count, inputs.maxRemovals);
  if (refusal) throw new ResourceError(refusal);
  const removed = { target, keys: leaving.going };
  const referring = leaving.going.length === 0 ? [] : await referringTo(rowClaims, removed, directory);
  if (referring.length > 0) {
    throw new ResourceError(
      `rows that other seeds declare refer to what would leave:\n${referring.join("\n")}\nKeep those rows, or change what refers to them in the same run.`,
    );
  }
  if (inputs.resourceUrn !== undefined) {
    const keys = RowSet.of([...leaving.going, ...leaving.staying]);
    rowClaims.leave(inputs.resourceUrn, { target, keys, handedOver: leaving.staying });
  }
  return { plan: after, names };
}

/** Most rows of a seed whose last source is read to show what changes in it. */
const maxRead = 50_000;

/** The first rows of a file that change, as the last run had them and as they are now; rows of the program show by themselves. */
async function changedCells(
  context: OfflineContext,
  old: State,
  inputs: Inputs,
  keys: readonly string[],
): Promise<BothSides | undefined> {
  const { directory } = context;
  const ofFiles = inputs.source !== undefined && old.source !== undefined;
  if (!ofFiles || inputs.sensitive || keys.length === 0 || old.rowCount > maxRead) return undefined;
  const { key, references, parent } = inputs;
  const before = (_: unknown, seed: RowTarget, folder: string) =>
    rowsByKey({ ...seed, key, references, parent }, folder, keys);
  const found = await withLastSource(context, { ...old, rows: undefined }, before);
  return { was: found ?? new Map(), is: await rowsByKey(inputs, directory, keys) };
}

/** What a forecast can't say, since the file of the last run is not found; empty when it says everything. */
function whatIsUnknown(old: State, inputs: Inputs, plan: Forecast, cells: BothSides | undefined): string {
  if (inputs.source === undefined || old.source === undefined || inputs.sensitive || isReshaped(old, inputs)) return "";
  if (plan.exact && cells?.was.size !== 0) return "";
  const known = plan.exact ? "counts and keys" : "counts";
  return `; only ${known} are known: the ${old.source} that was applied is neither here nor in the last Git commit`;
}

interface Found {
  whole: Forecast;
  names: Names;
  /** The seed with what the digests of the ledger depend on. */
  target: RowTarget;
}

/** What differs from the last run, by what told rows apart then; from its source where the ledger does not say. */
async function difference(context: OfflineContext, old: State, inputs: Inputs, ledger: Ledger): Promise<Found> {
  const { directory, report } = context;
  const reshaped = isReshaped(old, inputs);
  const target: RowTarget = reshaped ? inOldTerms(old, inputs) : inputs;
  const summary = reshaped ? await byOldKey(old, inputs, directory) : await summaryOf(context, inputs);
  if (reshaped && old.key.join() !== inputs.key.join()) {
    report.info(`the natural key changes from ${old.key.join(", ")} to ${inputs.key.join(", ")}: rows keep their IDs`);
  }
  const none: Names = { added: [], changed: [], removed: [] };
  if (!summary) {
    const { rows } = await summaryOf(context, inputs);
    return { whole: { exact: false, moreThan: 0, net: rows.length - ledger.count }, names: none, target };
  }
  const whole = planOffline(summary.rows, ledger, inputs.mode);
  const named = (plan: Forecast, known: Ledger, keys: readonly string[]): Promise<Names> =>
    firstNames(inputs, plan, known, keys, directory);
  if (whole.exact) return { whole, names: await named(whole, ledger, old.keys ?? []), target };
  const found = await withLastSource(context, { ...old, rows: undefined }, async ({ rows }, seed, folder) => {
    const last: Ledger = { kind: "list", count: rows.length, rows };
    const plan = planOffline(summary.rows, last, inputs.mode);
    const left = plan.exact ? plan.change.removed.slice(0, mostShown) : [];
    const indices = new Set(left.flatMap(({ key }) => rows.find(key) ?? []));
    const removed = indices.size === 0 || inputs.sensitive ? [] : await keysOf(seed, folder, indices);
    return { whole: plan, names: { ...(await named(plan, last, [])), removed }, target };
  });
  return found ?? { whole, names: none, target };
}

interface LeavingRows {
  going: RowSet;
  staying: RowSet;
  said: Spared;
}

/** Takes out of a plan what other seeds of the program declare. */
async function spared(
  claims: RowClaims,
  inputs: Inputs,
  target: RowTarget,
  plan: Forecast,
): Promise<{ plan: Forecast; leaving: LeavingRows }> {
  const leaving = { going: new RowSet(), staying: new RowSet(), said: new Map<string, number>() };
  if (!plan.exact || plan.remove === 0) return { plan, leaving };
  const others = claims.on(inputs.table, inputs.resourceUrn).filter((claim) => sameShape(target, claim.target));
  const held = await Promise.all(others.map(async (claim) => ({ name: claim.name, ...(await claims.summary(claim)) })));
  for (const row of plan.change.removed) {
    const owner = held.find(({ rows }) => rows.has(row.key));
    (owner ? leaving.staying : leaving.going).add(row.key, row.content);
    if (owner) leaving.said.set(owner.name, (leaving.said.get(owner.name) ?? 0) + 1);
  }
  return { plan: { ...plan, remove: leaving.going.length, spared: leaving.staying.length }, leaving };
}

/** Takes out of a plan what is there already, since another seed gives it up and leaves it there. */
export function takenOver(claims: RowClaims, inputs: SeedInputs, rows: RowSet, plan: Forecast): Forecast {
  if (!plan.exact || plan.insert === 0) return plan;
  const givers = claims.givers(inputs, inputs.resourceUrn);
  if (givers.length === 0) return plan;
  const taken = plan.change.added.filter((index) => givers.some(({ handedOver }) => handedOver.has(rows.key(index))));
  return { ...plan, insert: plan.insert - taken.length, taken: taken.length };
}
