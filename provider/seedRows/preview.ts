import { entryIn } from "../../platform/contract/wire.ts";
import { quote, some } from "../../platform/messages/text.ts";
import type { RowDigests } from "../reconcile/digests.ts";
import { massDisappearance, tooManyRemovals } from "../reconcile/guards.ts";
import { decodeLedger, emptyLedger, type Ledger } from "../reconcile/ledger.ts";
import { fewestRemovals, planOffline, type Forecast } from "../reconcile/rows.ts";
import { RowIndices, RowSet } from "../reconcile/rowSet.ts";
import { ResourceError, type Diff, type Report, type ChangeKind } from "../resources/model/resource.ts";
import type { OfflineRowContext, RowFindings } from "./claims.ts";
import {
  keysOf,
  indicesWithin,
  sameKey,
  fingerprintOf,
  summarize,
  describeRows,
  rowsByKey,
  type BothSides,
  type Keys,
} from "./declaration.ts";
import { describeUnmet } from "./expected.ts";
import { linksOf, type Seed, type SeedInputs, type SeedState, type Drift } from "./inputs.ts";
import { clearForecast } from "./labels.ts";
import { inLastLabels, byOldKey, inOldTerms, isRelinked, isReshaped } from "./live.ts";
import {
  nobody,
  noneLeaving,
  removeKeptForOthers,
  keptMessage,
  takesUp,
  describeKeptForOthers,
  referringTo,
  type LeavingRows,
} from "./otherSeeds.ts";
import { driftMessage, repairsOf, withRepairs, withoutRow, callsAhead } from "./report.ts";
import { lastSource, summaryOf, withLastSource, keysIn } from "./state.ts";
import { sayViewers } from "./viewers.ts";

/** Reports what an update will do, with its rows, and refuses what it must not do. Sends nothing. */
export async function previewUpdate(
  context: OfflineRowContext,
  change: Diff,
  old: SeedState,
  inputs: SeedInputs,
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
function replaced({ report }: OfflineRowContext, change: Diff, old: SeedState, inputs: SeedInputs): Diff {
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
function renewedLinks({ report, rowClaims }: OfflineRowContext, old: SeedState, inputs: SeedInputs): string[] {
  const { linkRenewals } = inputs;
  const missed = (label: string): boolean =>
    entryIn(linkRenewals, label) !== undefined && linkRenewals?.[label] !== (entryIn(old.linkRenewals, label) ?? 0);
  const renewed = linksOf(inputs).filter(({ label, table }) => rowClaims.isRenewed(table) || missed(label));
  sayRenewed(report, renewed);
  return renewed.map(({ property }) => property);
}

/** Reports links that follow recreated rows. */
function sayRenewed(report: Report, links: readonly { table: string }[]): void {
  if (links.length === 0) return;
  const tables = [...new Set(links.map(({ table }) => table))].join(", ");
  report.forecast(`rows of table ${tables} are made anew: the links to them are renewed`);
}

/** Reports in one line what an update does with the rows; returns it with what the seeds after it have to know. */
async function planned(
  context: OfflineRowContext,
  old: SeedState,
  inputs: SeedInputs,
  known: { repairs: Drift | undefined; renewed: boolean },
): Promise<RowFindings & { plan: Forecast; names: Names }> {
  const { directory, report, rowClaims } = context;
  const ledger = decodeLedger(old.ledger);
  const { plan, leaving, names, target, isVague } = await difference(context, old, inputs, ledger);
  report.rows?.({ plan, keptForOthers: leaving.reported });
  const summary = await summaryOf(context, inputs);
  const isAlone = rowClaims.on(inputs.table, inputs.resourceUrn).length === 0;
  const clearing = clearForecast(old, inputs, summary, plan, isAlone);
  const renewed: string[] = [];
  if (plan.exact && plan.insert > 0) {
    const leavingRows = rowClaims.going(inputs.table, inputs.resourceUrn);
    if (await takesUp(context, inputs, leavingRows)) renewed.push(inputs.table);
  }
  const cells = await findChangedCells(context, old, inputs, names.changed);
  const relinked = isRelinked(old, inputs) || clearing.isLeft;
  const unknowns = {
    ...known,
    adopts: inputs.adopt,
    relinked,
    isVague: isVague || inputs.mode === "updateOnly",
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
  rowClaims.mayGrow && resourceUrn?.includes("microapps:index:Environment$") !== true;

interface Found {
  plan: Forecast;
  leaving: LeavingRows;
  names: Names;
  /** The seed with what the digests of the ledger depend on. */
  target: Seed;
  /** True when only the platform shows how many rows change. */
  isVague: boolean;
}

/**
 * Differences from the last run, by its key labels, without rows that move between seeds. Compares with its source where
 * the ledger can't list the changes.
 */
async function difference(
  context: OfflineRowContext,
  old: SeedState,
  inputs: SeedInputs,
  ledger: Ledger,
): Promise<Found> {
  const { directory, report } = context;
  const reshaped = isReshaped(old, inputs);
  const target: Seed = reshaped ? inOldTerms(old, inputs) : inputs;
  const now = await summaryOf(context, inputs);
  const { rows: wanted } = now;
  const compared = reshaped ? undefined : await inLastLabels(old, inputs, now, directory);
  const summary =
    compared?.summary ?? (await byOldKey(old, inputs, directory)) ?? (hasOtherLabels(old, inputs) ? now : undefined);
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

/** True when the key has labels that no row of ours had: then rows are recognised by the values of their keys. */
const hasOtherLabels = (old: SeedState, { key }: SeedInputs): boolean =>
  key.length === old.key.length && key.every((label, at) => label === old.key[at] || !old.labels.includes(label));

/** The rows of seeds of the table that the state has and the program has not declared so far: they leave, or are given up. */
async function undeclared(context: OfflineRowContext, { table, resourceUrn }: SeedInputs): Promise<Keys[]> {
  const { recall, rowClaims } = context;
  const known = new Set([resourceUrn, ...[...rowClaims.on(table), ...rowClaims.leaving(table)].map(({ urn }) => urn)]);
  const all: Keys[] = [];
  for (const { urn, outputs } of recall?.("SeedRows") ?? []) {
    if (known.has(urn) || outputs["table"] !== table || typeof outputs["ledger"] !== "string") continue;
    const state = outputs as unknown as SeedState; // as this resource left it
    const ledger = decodeLedger(state.ledger);
    const rows =
      ledger.kind === "list" ? ledger.rows : (await lastSource(context, { ...state, rows: undefined }))?.rows;
    if (rows) all.push({ target: state, keys: rows });
  }
  return all;
}

/** Takes out of a plan what is there already, since another seed gives it up and leaves it there. */
async function removeTakenOver(context: OfflineRowContext, inputs: SeedInputs, plan: Forecast): Promise<Forecast> {
  if (!plan.exact || plan.insert === 0) return plan;
  const { rowClaims, directory } = context;
  const given = rowClaims
    .leaving(inputs.table, inputs.resourceUrn)
    .map(({ target, handedOver }) => ({ target, keys: handedOver }));
  const arriving = [...given, ...(await undeclared(context, inputs))].filter(({ target }) => sameKey(target, inputs));
  if (arriving.length === 0) return plan;
  const all = await indicesWithin(arriving, inputs, directory);
  const added = RowIndices.of(plan.change.added);
  const taken = [...all.keys()].filter((index) => added.has(index));
  for (const index of taken) added.delete(index);
  const differing = taken.some((index) => all.get(index) === false);
  const handed = new Map(taken.map((index) => [index, all.get(index) !== false] as const));
  return { ...plan, insert: added.size, taken: taken.length, differing, handed, change: { ...plan.change, added } };
}

/** Results of the last run's check of the source. */
type Last = Partial<Pick<SeedInputs, "table" | "digest" | "keys"> & { fingerprint: string | undefined }>;

interface Read {
  digest: string;
  fingerprint: string | undefined;
  keys: string[] | undefined;
  /** Unknown where rows that left the source stay ours, and of a file that an earlier version has read. */
  rowCount: number | undefined;
}

/** Values that check computes from a source; an unchanged file is only hashed. Reports the forecast for a new seed. */
export async function sourceOf(context: OfflineRowContext, inputs: SeedInputs, old: Last): Promise<Read> {
  const { directory, report, rowClaims } = context;
  const countOf = (rows: number | undefined): number | undefined => (inputs.mode === "exact" ? rows : undefined);
  const file = await fingerprintOf(inputs, directory);
  const last = counted(old.fingerprint);
  if (file !== undefined && file === last.file && old.digest !== undefined) {
    return { digest: old.digest, fingerprint: old.fingerprint, keys: old.keys, rowCount: countOf(last.rows) };
  }
  const summary = await summarize(inputs, directory);
  rowClaims.remember(inputs.resourceUrn, summary);
  if (old.table === undefined) {
    const plan = await removeTakenOver(context, inputs, planOffline(summary.rows, emptyLedger(), inputs.mode));
    report.rows?.({ plan, keptForOthers: new Map() });
    const names = await firstNames(inputs, plan, emptyLedger(), [], directory);
    const isVague = inputs.mode === "updateOnly";
    report.forecast(forecast(inputs, plan, names, 0, { adopts: inputs.adopt, isVague }));
    // Those that are there, since another seed had them.
    sayRenewed(
      report,
      linksOf(inputs).filter(({ table }) => rowClaims.isRenewed(table)),
    );
    if (await takesUp(context, inputs, rowClaims.going(inputs.table, inputs.resourceUrn)))
      rowClaims.renew(inputs.table);
  }
  const rows = summary.rows.length;
  const keys = await keysIn(inputs, summary, directory);
  summary.rows.rest(); // until it is applied, of many seeds at once
  return {
    digest: summary.digest,
    fingerprint: file && `${file}:${rows}`,
    keys,
    rowCount: countOf(rows),
  };
}

/** The file's digest and its number of rows, which those of earlier versions lack. */
function counted(fingerprint = ""): { file: string; rows: number | undefined } {
  const [file = "", rows] = fingerprint.split(":");
  return { file, rows: rows === undefined ? undefined : Number(rows) };
}

/** Keys of each kind that a message names, and that a diff shows. */
const maxNamed = 5;
export const maxShown = 20;

/** The first keys of rows that a run adds, changes and removes, up to `mostShown` of those in the source; none of secret rows. */
interface Names {
  added: string[];
  changed: string[];
  removed: string[];
}

const noNames = (): Names => ({ added: [], changed: [], removed: [] });

/** Names the first rows of a plan; the source is read once. `keys` are those of the ledger, as far as they are known. */
async function firstNames(
  declaration: Seed,
  plan: Forecast,
  ledger: Ledger,
  keys: readonly string[],
  directory: string,
): Promise<Names> {
  if (!plan.exact || declaration.sensitive) return noNames();
  const { insert, update, remove, change } = plan;
  const added = insert > 0 ? change.added.first(maxShown) : [];
  const changed = update > 0 ? change.changed.slice(0, maxShown) : [];
  const chosen = [...added, ...changed].sort((a, b) => a - b);
  const found = chosen.length > 0 ? await keysOf(declaration, directory, new Set(chosen)) : [];
  const named = (indices: readonly number[]): string[] =>
    indices.flatMap((index) => found[chosen.indexOf(index)] ?? []);
  return {
    added: named(added),
    changed: named(changed),
    removed: remove > 0 ? inLedger(change.removed, ledger, keys) : [],
  };
}

/** Keys of rows of a ledger: that of a small seed keeps the order of its keys. */
const inLedger = (removed: readonly RowDigests[], ledger: Ledger, keys: readonly string[]): string[] =>
  ledger.kind === "list" ? removed.flatMap(({ key }) => keys[ledger.rows.find(key) ?? -1] ?? []) : [];

/** Parts of a run that are not known before it reads the platform. */
interface Unknowns {
  /** True when existing rows are adopted, whatever their content is. */
  adopts?: boolean | undefined;
  /** True when links are named by another label now: they are compared on the platform alone. */
  relinked?: boolean | undefined;
  /** True when only the platform shows how many rows change. */
  isVague?: boolean | undefined;
  /** Links of rows that stay as they are may be renewed. */
  renewed?: boolean | undefined;
}

/**
 * Describes the coming run in one line with the first keys.
 * @param owned rows that were ours before
 */
function forecast(
  declaration: Seed,
  plan: Forecast,
  names: Names,
  owned: number,
  known: Unknowns & { repairs?: Drift | undefined; cells?: BothSides | undefined } = {},
): string {
  if (!plan.exact) {
    const { moreThan, net } = plan;
    const how = Math.abs(net) > moreThan ? `at least ${Math.abs(net)}` : `more than ${moreThan}`;
    return `${how} rows to add, change or remove (${net >= 0 ? "+" : ""}${net} rows in all)`;
  }
  const { adopts = false, relinked = false, isVague = false, renewed = false, repairs, cells } = known;
  const { insert, update, remove, unchanged, keptForOthers = 0, taken = 0, differing = false } = plan;
  const first = (keys: readonly string[], count: number, both?: BothSides): string =>
    keys.length === 0 ? "" : ` (${describeRows(declaration, keys, count, both)})`;
  const { removed } = names;
  const removals = removed.length === 0 ? "" : ` (${some(removed.map(quote), maxNamed)})`;
  // Rows of a removed seed stay until the end of a run, and only the platform shows if they exist.
  const parts = [
    insert > 0
      ? `${insert} to add ${adopts ? "or to take over" : "if they do not exist yet"}${first(names.added, insert)}`
      : "",
    update > 0 ? `${relinked || isVague ? "up to " : ""}${update} to change${first(names.changed, update, cells)}` : "",
    remove > 0 ? `${remove} to remove${removals}` : "",
    taken > 0 ? `${taken} to take over from another seed${differing ? ", changed where they differ" : ""}` : "",
    keptForOthers > 0 ? `${keptForOthers} to leave to another seed` : "",
    unchanged > 0 ? `${unchanged} unchanged${relinked || renewed ? " but for links" : ""}` : "",
  ];
  const calls = callsAhead(declaration, repairs ? withRepairs(plan, repairs) : plan, owned);
  return `rows: ${parts.filter((part) => part !== "").join(", ")}; about ${calls} calls`;
}

/** A row that a run changes, by its natural key. */
type Part = readonly [key: string, kind: ChangeKind];

const as =
  (kind: ChangeKind) =>
  (key: string): Part => [key, kind];

const labelsOf = ({ secretLabels = [] }: Seed): string[] => [...secretLabels];

/** A seed that hides the labels of both runs: a label that is shown from now on must not reveal its old value. */
const hidingBoth = (old: Seed, inputs: SeedInputs): SeedInputs => {
  const secretLabels = [...new Set([...labelsOf(inputs), ...labelsOf(old)])];
  return secretLabels.length === 0 ? inputs : { ...inputs, secretLabels };
};

/** What becomes secret, or is no more, in one line; undefined where none is. */
function secrecyMessage(old: Seed, inputs: Seed): string | undefined {
  const [was, is] = [labelsOf(old), labelsOf(inputs)];
  const hidden = is.filter((label) => !was.includes(label));
  const shown = was.filter((label) => !is.includes(label));
  if (inputs.sensitive && !old.sensitive)
    return "all rows secret from now on, in the state too: no row changes for that";
  const parts = [
    hidden.length > 0 ? `${hidden.join(", ")} secret from now on` : "",
    shown.length > 0 ? `${shown.join(", ")} shown from now on` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : `${parts.join(", ")}: no row changes for that`;
}

/** Most rows of a seed whose last source is read to show what changes in it. */
const maxRead = 50_000;

/** The first rows of a file that change, as the last run had them and as they are now; rows of the program show by themselves. */
async function findChangedCells(
  context: OfflineRowContext,
  old: SeedState,
  inputs: SeedInputs,
  keys: readonly string[],
): Promise<BothSides | undefined> {
  const { directory } = context;
  const ofFiles = inputs.source !== undefined && old.source !== undefined;
  if (!ofFiles || inputs.sensitive || keys.length === 0 || old.rowCount > maxRead) return undefined;
  const declared = hidingBoth(old, inputs);
  const { key, references, parent, salt, secretLabels, ignoreLabels } = declared;
  const before = (_: unknown, seed: Seed, folder: string) =>
    rowsByKey({ ...seed, key, references, parent, salt, secretLabels, ignoreLabels }, folder, keys);
  const found = await withLastSource(context, { ...old, rows: undefined }, before);
  return { was: found ?? new Map(), is: await rowsByKey(declared, directory, keys) };
}

/** Describes the gaps of a forecast when the file of the last run is missing; empty when it is complete. */
function whatIsUnknown(old: SeedState, inputs: SeedInputs, plan: Forecast, cells: BothSides | undefined): string {
  if (inputs.source === undefined || old.source === undefined || inputs.sensitive || isReshaped(old, inputs)) return "";
  if (plan.exact && cells?.was.size !== 0) return "";
  const known = plan.exact ? "counts and keys" : "counts";
  return `; only ${known} are known: the ${old.source} that was applied is neither here nor in the last Git commit`;
}
