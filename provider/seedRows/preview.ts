import { entryIn } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { massDisappearance, removable, tooManyCleared, tooManyRemovals, ResourceError } from "../resources/common.ts";
import type { Diff, ChangeKind, OfflineContext } from "../resources/resource.ts";
import type { RowFindings, SeenEdits } from "./claims.ts";
import {
  type Summary,
  keysOf,
  indicesWithin,
  keysWithin,
  sameKey,
  fingerprintOf,
  summarize,
  describeRows,
  rowsByKey,
  type BothSides,
  type Keys,
} from "./declaration.ts";
import { describeUnmet } from "./expected.ts";
import { linksOf, type Drift, type Seed, type SeedInputs, type SeedState } from "./inputs.ts";
import { decodeLedger, difference, emptyLedger, type Ledger } from "./ledger.ts";
import { inLastLabels, byOldKey, inOldTerms, isRelinked, isReshaped } from "./live.ts";
import { LeavingRows, ownedIn, refuseReferredTo, takesUp } from "./otherSeeds.ts";
import { ifNotThere, planOffline, type Forecast } from "./plan.ts";
import { driftMessage, refusePlan, repairsOf, withoutRow } from "./report.ts";
import { RowIndices, RowSet } from "./rowSet.ts";
import { existingIn, summaryOf, withLastSource, keysIn } from "./state.ts";
import { sayViewers } from "./viewers.ts";

/** Keys of each kind that a message names, and that a diff shows. */
const maxNamed = 5;
export const maxShown = 20;

/** Most rows of a seed whose last source is read to show what changes in it. */
const maxRead = 50_000;

/** Reports what an update will do, with its rows, and refuses what it must not do. Sends nothing. */
export async function previewUpdate(
  context: OfflineContext,
  change: Diff,
  old: SeedState,
  inputs: SeedInputs,
): Promise<Diff & { findings?: RowFindings }> {
  if (change.replaces.length > 0) {
    if (old.table !== inputs.table) sayMove(context, old, inputs);
    return change;
  }
  const { report, directory, lostData } = context;
  const links = renewedLinks(context, inputs, old);
  // A refresh takes from the engine what it knew of the failure.
  const unmet = old.unmet && inputs.expect ? ["unmet"] : [];
  const changed = [...change.changed, ...links, ...(old.unfinished ? ["unfinished"] : []), ...unmet];
  sayViewers(report, old, inputs);
  saySecrecy(context, old, inputs);
  if (unmet.length > 0) report.forecast(`as of the last look ${describeUnmet(inputs.table, old.unmet ?? [])}`);

  // A refresh that found no row left compares what it read, which no program declares.
  const isDeclared = inputs.rows?.length !== 0;
  const isDigest = changed.every((name) => name === "digest");
  const planned =
    changed.length > 0 && isDeclared ? await planAhead(context, old, inputs, links.length > 0, isDigest) : undefined;
  if (planned?.isSame) changed.length = 0;
  const drift = repairsOf(inputs, old.drift);
  const repairs = planned?.settled ? repairsOf(inputs, await withoutSettled(context, inputs, old.drift)) : drift;
  const first: (readonly [key: string, kind: ChangeKind])[] = [];
  const show = (kind: ChangeKind, keys: readonly string[]): void =>
    void first.push(...keys.map((key) => [key, kind] as const));
  const renewed = planned?.renewed ?? [];
  let total = 0;
  if (planned?.plan.exact) {
    const { plan, names } = planned;
    show("add", names.added);
    show("update", names.changed);
    show("delete", names.removed.slice(0, maxShown));
    total += plan.insert + plan.update + plan.remove;
  }
  if (drift) {
    const isExpected = lostData || context.rowClaims.isMoving(old.resourceUrn);
    const vanished = massDisappearance("rows", drift.missing, old.rowCount, isExpected ? 1 : inputs.maxRemovals);
    if (vanished !== undefined) throw new ResourceError(`table ${inputs.table}: ${vanished}`);
  }
  if (repairs) {
    const { changedKeys, missingKeys, missing } = repairs;
    if (inputs.mode === "updateOnly" && missing > 0)
      throw new ResourceError(withoutRow(inputs.table, missing, some(missingKeys.map(quote), maxShown)));
    const declared = hidingBoth(old, inputs);
    // Rows that were declared anew since do not tell what somebody edited.
    const was = inputs.digest === old.digest ? undefined : await lastRows(context, old, declared, repairs.changedKeys);
    const message = await driftMessage(declared, repairs, directory, old.foundSecrets, was);
    if (message !== undefined) report.forecast(message);
    if (missing > 0 && inputs.onConflict === "overwrite") renewed.push(inputs.table);
    changed.push("drift");
    show("update", changedKeys);
    show("add", missingKeys);
    total += repairs.changed + missing;
  }
  const none = { target: inputs, keys: new RowSet(), labels: [], existing: new RowSet(), handedOver: new RowSet() };
  const findings = { leaving: planned?.leaving.findings ?? none, renewed };
  const now = { ...change, changed: [...new Set(changed)], findings };
  return inputs.sensitive || first.length === 0 ? now : { ...now, parts: { rows: { first, total } } };
}

/** Another table: its rows come first, then the old ones go. */
function sayMove({ report }: OfflineContext, old: SeedState, inputs: SeedInputs): void {
  const { count } = decodeLedger(old.ledger);
  const move = `table ${old.table} → ${inputs.table}`;
  if (old.onDestroy === "retain") {
    report.forecast(`${move}: the ${count} rows of ${old.table} stay, since onDestroy is "retain"`);
    return;
  }
  report.forecast(
    `${move}: once the rows are there, the ${count} rows of ${old.table} are removed, but for those that another seed declares`,
  );
  const refusal = tooManyRemovals("rows", count, count, inputs.maxRemovals);
  if (refusal !== undefined) throw new ResourceError(`${move}: ${refusal}`);
}

/** Reports what becomes secret, or is no more. */
function saySecrecy({ report }: OfflineContext, old: Seed, inputs: Seed): void {
  const beyond = ({ secretLabels = [] }: Seed, other: Seed): string =>
    secretLabels.filter((label) => !other.secretLabels?.includes(label)).join(", ");
  const [hidden, shown] = [beyond(inputs, old), beyond(old, inputs)];
  const parts =
    inputs.sensitive && !old.sensitive
      ? ["all rows secret from now on, in the state too"]
      : [hidden && `${hidden} secret from now on`, shown && `${shown} shown from now on`].filter((part) => part !== "");
  if (parts.length > 0) report.forecast(`${parts.join(", ")}: no row changes for that`);
}

/** A seed that hides the labels of both runs: a label that is shown from now on must not reveal its old value. */
function hidingBoth(old: Seed, inputs: SeedInputs): SeedInputs {
  const secretLabels = [...new Set([...(inputs.secretLabels ?? []), ...(old.secretLabels ?? [])])];
  return secretLabels.length === 0 ? inputs : { ...inputs, secretLabels };
}

/**
 * Reports links to rows that were made anew, in this run or in one that was interrupted before this seed could follow; returns
 * the properties that have them.
 */
function renewedLinks({ report, rowClaims }: OfflineContext, inputs: SeedInputs, old?: SeedState): string[] {
  const times = (of: SeedInputs, label: string): number => entryIn(of.linkRenewals, label) ?? 0;
  const isMissed = (label: string): boolean =>
    old !== undefined &&
    entryIn(inputs.linkRenewals, label) !== undefined &&
    times(inputs, label) !== times(old, label);
  const renewed = linksOf(inputs).filter(({ label, table }) => rowClaims.isRenewed(table) || isMissed(label));
  if (renewed.length > 0) {
    const tables = [...new Set(renewed.map(({ table }) => table))].join(", ");
    report.forecast(`rows of table ${tables} are created again, with other IDs: links to them are updated`);
  }
  return renewed.map(({ property }) => property);
}

/** The first keys of rows that a run adds, changes and removes, up to `maxShown` of those in the source; none of secret rows. */
interface Names {
  added: string[];
  changed: string[];
  removed: string[];
}

const noNames = (): Names => ({ added: [], changed: [], removed: [] });

interface Ahead {
  plan: Forecast;
  /** True where somebody did by hand what is declared now: the plan has that as done. */
  settled: boolean;
  leaving: LeavingRows;
  names: Names;
}

/** Reports in one line what an update does with the rows; returns it with what the seeds after it have to know. */
async function planAhead(
  context: OfflineContext,
  old: SeedState,
  inputs: SeedInputs,
  renewed: boolean,
  isDigest: boolean,
): Promise<Ahead & { renewed: string[]; isSame?: boolean }> {
  const { report, rowClaims } = context;
  const { table, resourceUrn: urn, mode, maxRemovals } = inputs;
  const ledger = decodeLedger(old.ledger);
  const ahead = await compareWithLast(context, old, inputs, ledger);
  const { plan, leaving, names } = ahead;
  report.rows?.({ plan, keptForOthers: leaving.keptForOthers });
  const isAlone = rowClaims.on(table, urn).length === 0;
  const summary = await summaryOf(context, inputs);
  const clearing = clearForecast(old, inputs, summary, plan, isAlone);
  // Rows in another order; of a long list only its last source can be found again, by its digest.
  const isListed = isDigest && ledger.kind === "list" && summary.rows.length === ledger.count;
  const isSame = isListed && !ahead.settled && plan.exact && plan.insert + plan.update + plan.remove === 0;
  if (isSame && leaving.keptForOthers.size === 0 && clearing.sentences.length === 0)
    return { ...ahead, renewed: [], isSame };
  const takes = plan.exact && plan.insert > 0 && (await takesUp(context, inputs, rowClaims.going(table, urn)));
  const cells = context.isPlan ? undefined : await findChangedCells(context, old, inputs, names.changed); // a report has its own
  const line = forecast(hidingBoth(old, inputs), plan, names, {
    renewed,
    cells,
    relinked: isRelinked(old, inputs) || clearing.isLeft,
    // Where other labels are left to others now, only the platform shows how many rows change.
    isVague: mode === "updateOnly" || !isSameList(old.ignoreLabels, inputs.ignoreLabels),
  });
  report.forecast(line + whatIsUnknown(old, inputs, plan, cells));
  for (const sentence of clearing.sentences) report.forecast(sentence);
  leaving.tell(report);
  const going = plan.exact ? plan.remove : mode === "exact" ? Math.max(0, -plan.net) : 0;
  const refusal = tooManyRemovals("rows", going, ledger.count, maxRemovals);
  // An Environment announces all of its seeds.
  if (refusal && rowClaims.mayGrow && urn?.includes("microapps:index:Environment$") !== true)
    report.forecast(laterAdvice);
  const refusals = [...(refusal ? [refusal] : []), ...clearing.refusals];
  if (refusals.length > 0) throw new ResourceError(refusals.join("\n"));
  await refuseReferredTo(context, { target: leaving.target, urn: undefined }, leaving.going);
  return { ...ahead, renewed: takes ? [table] : [] };
}

const laterAdvice =
  "rows that move to a seed which waits for this one are removed here and added there, with other IDs: if that is meant, " +
  "set maxRemovals for this run; seeds of one Environment know of each other, and such rows stay";

const isSameList = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());

/**
 * Differences from the last run, by its key labels, without rows that move between seeds. Compares with its source where
 * the ledger can't list the changes.
 */
async function compareWithLast(
  context: OfflineContext,
  old: SeedState,
  inputs: SeedInputs,
  ledger: Ledger,
): Promise<Ahead> {
  const { directory, report } = context;
  const reshaped = isReshaped(old, inputs);
  const target: Seed = reshaped ? inOldTerms(old, inputs) : inputs;
  if (old.key.join() !== inputs.key.join()) {
    report.forecast(
      `the natural key changes from ${old.key.join(", ")} to ${inputs.key.join(", ")}: rows keep their IDs`,
    );
  }
  const now = await summaryOf(context, inputs);
  const isSame = isSameList(old.ignoreLabels, inputs.ignoreLabels);
  const summary = reshaped
    ? ((await byOldKey(old, inputs, directory)) ?? (hasOtherLabels(old, inputs) ? now : undefined))
    : ((isSame ? undefined : await inLastLabels(old, inputs, directory)) ?? now);
  const aheadOf = async (plan: Forecast, last: Ledger, keys: readonly string[]): Promise<Ahead> => {
    const { resourceUrn: urn, adopt } = inputs;
    const removed = plan.exact && plan.remove > 0 ? plan.change.removed : [];
    const leaving = await LeavingRows.of(context, { old, target, urn, adopt }, removed);
    const whole = await removeTakenOver(context, inputs, leaving.within(plan));
    const left = summary && !reshaped ? removeSettled(context, inputs, summary.rows, whole) : whole;
    const names = await firstNames(context, inputs, left, last, keys);
    return { plan: left, settled: left !== whole, leaving, names };
  };
  const unknown: Forecast = { exact: false, moreThan: 0, net: now.rows.length - ledger.count };
  const whole = summary ? planOffline(summary.rows, ledger, inputs.mode) : unknown;
  if (whole.exact || !summary) return aheadOf(whole, ledger, old.keys ?? []);
  const found = await withLastSource(context, { ...old, rows: undefined }, async ({ rows }, seed, folder) => {
    const last: Ledger = { kind: "list", count: rows.length, rows };
    const ahead = await aheadOf(planOffline(summary.rows, last, inputs.mode), last, []);
    const left = ahead.plan.exact ? ahead.plan.change.removed.slice(0, maxShown) : [];
    const indices = new Set(left.flatMap(({ key }) => rows.find(key) ?? []));
    const removed = indices.size === 0 || inputs.sensitive ? [] : await keysOf(seed, folder, indices);
    return { ...ahead, names: { ...ahead.names, removed } };
  });
  return found ?? aheadOf(whole, ledger, []);
}

/** Takes out of a plan what somebody did by hand, as far as this run has seen it: an update finds that as it is declared. */
function removeSettled({ rowClaims }: OfflineContext, inputs: SeedInputs, rows: RowSet, plan: Forecast): Forecast {
  const seen = rowClaims.seen.get(inputs.resourceUrn);
  if (!plan.exact || !seen) return plan;
  const changed = plan.change.changed.filter((index) => !isAsSeen(seen, rows, index));
  const removed = plan.change.removed.filter(({ key }) => !seen.missing.has(key));
  const done = plan.change.changed.length - changed.length;
  if (done === 0 && removed.length === plan.change.removed.length) return plan;
  return {
    ...plan,
    update: Math.min(plan.update, changed.length),
    remove: Math.min(plan.remove, removed.length),
    unchanged: plan.unchanged + done,
    change: { ...plan.change, changed, removed },
  };
}

const isAsSeen = ({ edited }: SeenEdits, rows: RowSet, index: number): boolean => {
  const there = edited.contentOf(rows.key(index));
  return there !== undefined && rows.hasContent(index, there);
};

/** The drift without what is declared as it was found; undefined where nothing else is. */
async function withoutSettled(
  context: OfflineContext,
  inputs: SeedInputs,
  drift: Drift | undefined,
): Promise<Drift | undefined> {
  const seen = context.rowClaims.seen.get(inputs.resourceUrn);
  if (!drift || !seen) return drift;
  const { rows } = await summaryOf(context, inputs);
  const places = [...seen.edited].map(({ key }) => rows.find(key));
  const edited = places.filter((at) => at === undefined || !isAsSeen(seen, rows, at));
  const missing = [...seen.missing].flatMap(({ key }) => rows.find(key) ?? []);
  if (edited.length + missing.length === 0) return undefined;
  const first = async (all: readonly (number | undefined)[]): Promise<string[]> => {
    const known = all.filter((at) => at !== undefined).slice(0, maxShown);
    return inputs.sensitive ? [] : keysOf(inputs, context.directory, new Set(known));
  };
  const names = { changedKeys: await first(edited), missingKeys: await first(missing) };
  return { ...drift, ...names, changed: edited.length, missing: missing.length };
}

/** True when the key has labels that no row of ours had: then rows are recognised by the values of their keys. */
const hasOtherLabels = (old: SeedState, { key }: SeedInputs): boolean =>
  key.length === old.key.length && key.every((label, at) => label === old.key[at] || !old.labels.includes(label));

/** The rows of seeds of the table and key that the state has and the program has not declared so far: they leave, or are given up. */
async function departingSeeds(context: OfflineContext, inputs: SeedInputs): Promise<(Keys & { target: SeedState })[]> {
  const { recall, rowClaims } = context;
  const { table, resourceUrn } = inputs;
  const known = new Set([resourceUrn, ...[...rowClaims.on(table), ...rowClaims.leaving(table)].map(({ urn }) => urn)]);
  const all: (Keys & { target: SeedState })[] = [];
  for (const { urn, outputs } of recall?.("SeedRows") ?? []) {
    if (known.has(urn) || outputs["table"] !== table || typeof outputs["ledger"] !== "string") continue;
    const state = outputs as unknown as SeedState; // as this resource left it
    const keys = sameKey(state, inputs) && (await ownedIn(context, state));
    if (keys) all.push({ target: state, keys });
  }
  return all;
}

/** Takes out of a plan what is there already, since another seed gives it up and leaves it there. */
async function removeTakenOver(context: OfflineContext, inputs: SeedInputs, plan: Forecast): Promise<Forecast> {
  if (plan.exact && plan.insert === 0) return plan;
  await noteComing(context, inputs);
  if (!plan.exact) return plan;
  const { rowClaims, directory } = context;
  const given = rowClaims
    .leaving(inputs.table, inputs.resourceUrn)
    .filter(({ target }) => sameKey(target, inputs))
    .map(({ target, handedOver }) => ({ target, keys: handedOver }));
  const arriving = [...given, ...(await departingSeeds(context, inputs))];
  const added = RowIndices.of(plan.change.added);
  const all = await indicesWithin(arriving, inputs, directory);
  const handed = new Map([...all].filter(([index]) => added.has(index)));
  for (const index of handed.keys()) added.delete(index);
  return handed.size === 0 ? plan : { ...plan, insert: added.size, handed, change: { ...plan.change, added } };
}

/**
 * Notes which rows of this seed others give up that are compared after it: they are announced, and the state has what they had.
 * Where neither shows it for sure, nothing is noted.
 */
async function noteComing({ directory, recall, rowClaims }: OfflineContext, inputs: SeedInputs): Promise<void> {
  for (const { urn, target: declared } of rowClaims.coming(inputs.table)) {
    const known = rowClaims.last(urn) ?? recall?.("SeedRows").find((one) => one.urn === urn)?.outputs;
    const state = { ...known } as SeedState; // as this resource left it
    const isComparable = typeof state.ledger === "string" && state.table === inputs.table && state.mode === "exact";
    if (!isComparable || !sameKey(state, inputs)) continue;
    const file = await fingerprintOf({ ...state, additions: undefined, removals: undefined, ...declared }, directory);
    if (file !== undefined && state.fingerprint?.startsWith(file)) continue; // it has all that it had
    const { salt, forms, types, ignoreLabels, labels } = state;
    const summary = await byOldKey(state, { salt, forms, types, ignoreLabels, ...declared }, directory);
    const change = summary && difference(summary.rows, decodeLedger(state.ledger));
    if (!change?.exact) continue;
    const handed = await keysWithin({ target: state, keys: RowSet.of(change.removed) }, inputs, directory);
    const before = rowClaims.leaving(inputs.table).find((one) => one.urn === urn)?.keys ?? [];
    const keys = RowSet.of([...before, ...change.removed.filter(({ key }) => handed.has(key))]);
    const isExisting = existingIn(state);
    const existing = RowSet.of(keys, ({ key }) => isExisting(key));
    rowClaims.leave(urn, { target: state, keys, labels, existing, handedOver: keys });
  }
}

/** Refuses a new seed with rows that one of the state, which leaves, has with other content: what is there is not as declared. */
async function refuseEdited(context: OfflineContext, inputs: SeedInputs, { labels }: Summary): Promise<void> {
  if (inputs.adopt || (inputs.mode !== "exact" && inputs.mode !== "upsert")) return;
  const leaving = (await departingSeeds(context, inputs)).filter(
    ({ target }) => isSameList(target.labels, labels) && isSameList(target.ignoreLabels, inputs.ignoreLabels),
  );
  const rows = await indicesWithin(leaving, inputs, context.directory);
  const adoptNeeded = [...rows].flatMap(([wanted, isSame]) => (isSame ? [] : [{ wanted, id: "" }]));
  await refusePlan(inputs, { adoptNeeded, conflicts: [], lacking: [] }, [], context.directory, true);
}

/** What check computes of a source. */
interface Read {
  digest: string;
  fingerprint: string | undefined;
  keys: string[] | undefined;
  /** Unknown where rows that left the source stay ours, and of a file that an earlier version has read. */
  rowCount: number | undefined;
}

/**
 * Values that check computes from a source; an unchanged file is only hashed. Reports the forecast for a new seed.
 * @param old what the last run's check computed
 */
export async function sourceOf(context: OfflineContext, inputs: SeedInputs, old: Partial<SeedInputs>): Promise<Read> {
  const { directory, report, rowClaims } = context;
  const { mode, table, resourceUrn: urn } = inputs;
  const file = await fingerprintOf(inputs, directory);
  // The file's digest and its number of rows, which those of earlier versions lack.
  const [lastFile = "", count] = (old.fingerprint ?? "").split(":");
  if (file !== undefined && file === lastFile && old.digest !== undefined) {
    const rowCount = count === undefined || mode !== "exact" ? undefined : Number(count);
    return { digest: old.digest, fingerprint: old.fingerprint, keys: old.keys, rowCount };
  }
  const summary = await summarize(inputs, directory);
  rowClaims.remember(urn, summary);
  if (old.table === undefined) {
    await refuseEdited(context, inputs, summary);
    const plan = await removeTakenOver(context, inputs, planOffline(summary.rows, emptyLedger(), mode));
    report.rows?.({ plan, keptForOthers: new Map() });
    const names = await firstNames(context, inputs, plan, emptyLedger(), []);
    report.forecast(forecast(inputs, plan, names, { isVague: mode === "updateOnly" }));
    renewedLinks(context, inputs); // of rows that are there, since another seed had them
    if (await takesUp(context, inputs, rowClaims.going(table, urn))) rowClaims.renew(table);
  }
  const keys = await keysIn(inputs, summary, directory);
  const { rows, digest } = summary;
  rows.rest(); // until it is applied, of many seeds at once
  const rowCount = mode === "exact" ? rows.length : undefined;
  return { digest, fingerprint: file && `${file}:${rows.length}`, keys, rowCount };
}

/**
 * Names the first rows of a plan; the source is read once.
 * @param keys those of the ledger, as far as they are known: that of a small seed keeps the order of its keys
 */
async function firstNames(
  { isPlan = false, directory }: OfflineContext,
  declaration: Seed,
  plan: Forecast,
  ledger: Ledger,
  keys: readonly string[],
): Promise<Names> {
  if (isPlan || !plan.exact || declaration.sensitive) return noNames(); // a report names them itself
  const { insert, update, remove, change } = plan;
  const added = insert > 0 ? change.added.first(maxShown) : [];
  const changed = update > 0 ? change.changed.slice(0, maxShown) : [];
  const chosen = [...added, ...changed].sort((a, b) => a - b);
  const found = chosen.length > 0 ? await keysOf(declaration, directory, new Set(chosen)) : [];
  const named = (indices: readonly number[]): string[] =>
    indices.flatMap((index) => found[chosen.indexOf(index)] ?? []);
  const removed =
    remove > 0 && ledger.kind === "list"
      ? change.removed.flatMap(({ key }) => keys[ledger.rows.find(key) ?? -1] ?? [])
      : [];
  return { added: named(added), changed: named(changed), removed };
}

/** What a forecast says beside its counts. */
interface Unknowns {
  /** True when links are named by another label now: they are compared on the platform alone. */
  relinked?: boolean;
  /** True when only the platform shows how many rows change. */
  isVague?: boolean;
  /** Links of rows that stay as they are may be renewed. */
  renewed?: boolean;
  cells?: BothSides | undefined;
}

/** Describes the coming run in one line with the first keys. */
function forecast(
  declaration: SeedInputs,
  plan: Forecast,
  names: Names,
  { relinked = false, isVague = false, renewed = false, cells }: Unknowns,
): string {
  if (!plan.exact) {
    const { moreThan, net } = plan;
    const how = Math.abs(net) > moreThan ? `at least ${Math.abs(net)}` : `more than ${moreThan}`;
    return `${how} rows to add, change or remove (${net >= 0 ? "+" : ""}${net} rows in all)`;
  }
  const { insert, update, remove, unchanged, keptForOthers = 0, handed = new Map<number, boolean>() } = plan;
  const first = (keys: readonly string[], count: number, both?: BothSides): string =>
    keys.length === 0 ? "" : ` (${describeRows(declaration, keys, count, both)})`;
  const removed = names.removed.length === 0 ? "" : ` (${some(names.removed.map(quote), maxNamed)})`;
  const differs = [...handed.values()].includes(false);
  // Rows of a removed seed stay until the end of a run, and only the platform shows if they exist.
  const adds = declaration.adopt ? "or to take over" : ifNotThere;
  const parts: [count: number, what: string][] = [
    [insert, `to add ${adds}${first(names.added, insert)}`],
    [update, `to change${first(names.changed, update, cells)}`],
    [remove, `to remove${removed}`],
    [handed.size, `to take over from another seed${differs ? ", changed where they differ" : ""}`],
    [keptForOthers, "to leave to another seed"],
    [unchanged, `unchanged${relinked || renewed ? " but for links" : ""}`],
  ];
  const said = parts.flatMap(([count, what], at) =>
    count === 0 ? [] : `${at === 1 && (relinked || isVague) ? "up to " : ""}${count} ${what}`,
  );
  return `rows: ${said.join(", ")}`;
}

/** The first rows of a file that change, as the last run had them and as they are now; rows of the program show by themselves. */
async function findChangedCells(
  context: OfflineContext,
  old: SeedState,
  inputs: SeedInputs,
  keys: readonly string[],
): Promise<BothSides | undefined> {
  const ofFiles = inputs.source !== undefined && old.source !== undefined;
  if (!ofFiles || inputs.sensitive || keys.length === 0 || old.rowCount > maxRead) return undefined;
  const declared = hidingBoth(old, inputs);
  return {
    was: await lastRows(context, old, declared, keys),
    is: await rowsByKey(declared, context.directory, keys),
  };
}

/** Rows as the last run had them; none where its file is gone. */
async function lastRows(
  context: OfflineContext,
  old: SeedState,
  declared: Seed,
  keys: readonly string[],
): Promise<BothSides["was"]> {
  const { key, references, parent, salt, secretLabels, ignoreLabels } = declared;
  const read = (_: unknown, seed: Seed, folder: string) =>
    rowsByKey({ ...seed, key, references, parent, salt, secretLabels, ignoreLabels }, folder, keys);
  return (await withLastSource(context, { ...old, rows: undefined }, read)) ?? new Map();
}

/** Describes the gaps of a forecast when the file of the last run is missing; empty when it is complete. */
function whatIsUnknown(old: SeedState, inputs: SeedInputs, plan: Forecast, cells: BothSides | undefined): string {
  if (inputs.source === undefined || old.source === undefined || inputs.sensitive || isReshaped(old, inputs)) return "";
  if (plan.exact && cells?.was.size !== 0) return "";
  const known = plan.exact ? "counts and keys" : "counts";
  return `; only ${known} are known: the ${old.source} that was applied is neither here nor in the last Git commit`;
}

/**
 * Forecast for labels that rows of ours had and do not declare any more, a sentence for each, and a refusal where certainly
 * more rows would lose one than `maxRemovals` allows.
 * @param isAlone true where no other seed may take rows of this one
 */
function clearForecast(
  old: SeedState,
  { mode, maxRemovals, parent, ignoreLabels = [] }: SeedInputs,
  { rows, rowLabels }: Summary,
  plan: Forecast,
  isAlone: boolean,
): { sentences: string[]; refusals: string[]; isLeft: boolean } {
  const kept = new Set([...rowLabels.common, ...ignoreLabels, parent?.by, old.parent?.by]);
  const [sentences, refusals]: [string[], string[]] = [[], []];
  for (const label of old.labels.filter((one) => !kept.has(one))) {
    // Rows that had it, of which a state of the landed version tells nothing.
    const before = old.labelled ? (entryIn(old.labelled, label) ?? 0) : undefined;
    let [least, most] = [0, before ?? old.rowCount];
    if (!plan.exact && isAlone) {
      // A row loses no label by leaving, and only so many may leave.
      const stay = (before ?? 0) - removable(old.rowCount, maxRemovals);
      least = Math.max(0, stay - (entryIn(rowLabels.counts(), label) ?? 0));
    } else if (plan.exact && before !== 0) {
      const { added, changed, removed } = plan.change;
      const lacking = changed.filter((index) => !rowLabels.at(index).includes(label)).length;
      let declaring = 0;
      for (let index = 0; index < rows.length; index++)
        if (!added.has(index) && rowLabels.at(index).includes(label)) declaring++;
      most = Math.min(before ?? lacking, lacking);
      if (before !== undefined)
        least = Math.max(0, Math.min(most, before - removed.length - (plan.keptForOthers ?? 0) - declaring));
    }
    if (most === 0) continue;
    const many = formatCount(most, "row");
    const from = least === 0 ? "up to" : `${least} to`;
    const where =
      before === undefined ? `where rows have it, in up to ${many}` : `in ${least === most ? "" : `${from} `}${many}`;
    if (mode !== "exact") {
      sentences.push(
        `${label} stays as it is ${where}, where it is not declared any more: mode ${mode} clears nothing`,
      );
      continue;
    }
    sentences.push(`clears ${label} ${where}: it is not declared there any more`);
    const isRefused = tooManyCleared(label, least, old.rowCount, maxRemovals) !== undefined;
    const refusal = tooManyCleared(label, plan.exact ? least : most, old.rowCount, maxRemovals);
    if (isRefused && refusal !== undefined) refusals.push(refusal);
  }
  return { sentences, refusals, isLeft: mode !== "exact" && sentences.length > 0 };
}
