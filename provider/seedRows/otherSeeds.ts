import { entryIn } from "../../platform/contract/wire.ts";
import { quote, some, formatCount } from "../../platform/messages/text.ts";
import { describeNamed, readName } from "../pulumi/names.ts";
import { ResourceError } from "../resources/common.ts";
import type { Report, OfflineContext, Context } from "../resources/resource.ts";
import { readDeclaredRows, holderOf, holderOfKeys, type RowClaim, type RowClaims, type RowFindings } from "./claims.ts";
import { digesterFor, keyOf, keysWithin, sameKey, indicesWithin, type Keys } from "./declaration.ts";
import { keyText, type RowDigests } from "./digests.ts";
import { listRelationships, linksOf, isOwning, type Seed, type SeedState } from "./inputs.ts";
import { decodeLedger } from "./ledger.ts";
import { describeUnresolved, Links, type Unresolved } from "./links.ts";
import type { Forecast, RowPlan, RowsAhead } from "./plan.ts";
import { RowIndices, RowSet } from "./rowSet.ts";
import { isHidden, placeOf } from "./source/source.ts";
import { existingIn, lastSource } from "./state.ts";
import { aTable, rowsOf } from "./table.ts";
import type { Removal, HandedOverRows } from "./verify.ts";

/** A seed to compare with the others of its program. */
export interface ComparedSeed {
  urn: string | undefined;
  target: Seed;
  digest: string;
  /** Seeds that references name, by label: their rows are all that may be referred to. */
  linkedSeeds?: Readonly<Record<string, string>> | undefined;
}

/** Most problems of a kind that are named. */
const maxNamed = 20;

/** Rows that another seed declares as well, and references that no seed's rows answer; offline, by line. */
export async function problemsWith(claims: RowClaims, declared: ComparedSeed, directory: string): Promise<string[]> {
  const { urn, target } = declared;
  const others = claims.checked(target.table).filter((one) => one.urn !== urn);
  const problems = tellingSecrets(claims, declared, others);
  for (const other of others) problems.push(...(await shared(claims, declared, other, directory)));
  problems.push(...(await unanswered(claims, declared, directory)));
  return problems;
}

/** Labels whose values are those of other rows: links, and what is expected to be there. */
const listMentions = (target: Seed) => [...linksOf(target), ...listRelationships(target)];

/** Finds uses that would reveal secret values of another seed: links by them, and natural keys that consist of them. */
function tellingSecrets(claims: RowClaims, { urn, target }: ComparedSeed, others: readonly RowClaim[]): string[] {
  const links = linksOf(target).flatMap(({ label, table, key }) => {
    const secret = claims.on(table, urn).find((one) => one.target.secretLabels?.includes(key));
    return secret && !isHidden(target, label)
      ? `${label} refers to ${quote(key)} of ${secret.name}, where it is secret: add ${quote(label)} to secretLabels here, or refer to another label`
      : [];
  });
  const secretIn = (one: Seed, key: Seed): string | undefined =>
    key.sensitive ? undefined : key.key.find((label) => one.secretLabels?.includes(label));
  const keys = others.flatMap(({ name, target: other }) => {
    const [theirs, ours] = [secretIn(other, target), secretIn(target, other)];
    if (theirs !== undefined)
      return `${quote(theirs)} is secret in ${name} of the same table, and the natural key here: name rows by another label`;
    return ours === undefined
      ? []
      : `${quote(ours)} is secret here, and the natural key of ${name} of the same table: name rows there by another label`;
  });
  return [...links, ...keys];
}

/** Rows that two seeds declare. A seed that only updates may write other labels of them than their owner. */
async function shared(
  claims: RowClaims,
  { urn = "", target, digest }: ComparedSeed,
  other: RowClaim,
  directory: string,
): Promise<string[]> {
  const { rows, labels } = await claims.summary(other);
  const isBeside = !isOwning(target) || !isOwning(other.target);
  // Natural keys name rows, and are written by who owns these.
  const keys = [...target.key, ...other.target.key];
  const ours = isBeside ? (await claims.summary({ urn, name: "", target, digest })).labels : [];
  const both = ours.filter((label) => labels.includes(label) && !keys.includes(label));
  if (isBeside && both.length === 0) return [];
  const digester = digesterFor(other.target);
  const named: string[] = [];
  let count = 0;
  for await (const { line, values } of readDeclaredRows(target, directory)) {
    const key = digester.key(values);
    if (key === undefined || !rows.has(key) || ++count > maxNamed) continue;
    const which = target.sensitive ? "" : ` ${quote(keyOf(other.target.key, values))}`;
    named.push(placeOf(target, line) + which);
  }
  if (count === 0) return [];
  const which = named.join(", ") + (count > maxNamed ? ` and ${count - maxNamed} more` : "");
  const { table } = target;
  return isBeside
    ? [
        `${other.name} writes ${some(both.map(quote), 5)} of these rows of table ${table} as well: ${which}. Keep each label in one of the two`,
      ]
    : [
        `${other.name} declares these rows of table ${table} as well: ${which}. A row has one owner: keep each in one of the two`,
      ];
}

/** References to rows that the named seed lacks, or that are about to leave. */
async function unanswered(
  claims: RowClaims,
  { target, linkedSeeds = {} }: ComparedSeed,
  directory: string,
): Promise<string[]> {
  const asked: { label: string; isThere: ((key: string) => boolean)[]; leaving: Holder[]; isNamed: boolean }[] = [];
  for (const { label, table, key } of listMentions(target)) {
    const known = claims.on(table);
    const named = entryIn(linkedSeeds, label);
    const isNamed = known.some(({ urn }) => urn === named);
    const leaving = claims
      .leaving(table)
      .filter((one) => one.target.key.length === 1 && one.target.key[0] === key)
      .map(({ name, target: other, keys }) => ({ name, holds: holderOfKeys(other, keys) }));
    if (!isNamed && leaving.length === 0) continue;
    // A seed that only updates holds no rows of its own, unless it is the one that is named.
    const holders = known.filter(({ urn, target: other }) => isOwning(other) || urn === named);
    const isThere = await Promise.all(holders.map((claim) => holderOf(claims, claim, key, directory)));
    asked.push({ label, isThere, leaving, isNamed });
  }
  if (asked.length === 0) return [];
  const missing: Unresolved[] = [];
  const going: string[] = [];
  for await (const { line, values } of readDeclaredRows(target, directory)) {
    for (const { label, isThere, leaving, isNamed } of asked) {
      const text = keyText(values[label]);
      if (text === undefined || isThere.some((has) => has(text))) continue;
      if (isNamed) missing.push({ line, label, key: text, reason: "missing" });
      const one = isNamed ? undefined : leaving.find(({ holds }) => holds(text));
      const what = isHidden(target, label) ? "a row" : `"${text}"`;
      if (one) going.push(`${placeOf(target, line)}: ${label} refers to ${what}, which ${one.name} is about to remove`);
    }
  }
  const keys = listMentions(target).flatMap(({ label, table, key }) =>
    entryIn(linkedSeeds, label) === undefined ? [] : `${label} by ${quote(key)} of table ${table}`,
  );
  const advice = `Rows are looked up by the natural key of the seed: ${keys.join(", ")}. Add those rows to the seed, or correct the references; for rows that no seed has, refer to a table and its key instead of a seed.`;
  return [
    ...explained(capped(describeUnresolved(missing, target)), advice),
    ...explained(capped(going), "Keep those rows, or change what refers to them in the same run."),
  ];
}

interface Holder {
  name: string;
  holds: (key: string) => boolean;
}

/** Problems with what they have in common as a line of the last one: it is none by itself. */
const explained = (problems: readonly string[], advice: string): string[] =>
  problems.map((text, index) => (index === problems.length - 1 ? `${text}\n${advice}` : text));

const capped = (sentences: readonly string[]): string[] =>
  sentences.length > maxNamed
    ? [...sentences.slice(0, maxNamed), `and ${sentences.length - maxNamed} more`]
    : [...sentences];

/**
 * Takes rows that another seed of the program declares out of what is to be removed.
 * @param target the seed that removes them
 * @param claims the others
 */
export async function withoutClaimed(
  context: Context,
  target: Seed,
  removals: readonly Removal[],
  claims: readonly RowClaim[],
): Promise<{ left: Removal[]; keptForOthers: HandedOverRows }> {
  const keptForOthers = new Map<string, number>();
  let left = [...removals];
  for (const claim of claims) {
    if (left.length === 0) break;
    const claimed = await claimedBy(context, target, left, claim);
    const staying = left.filter((row) => claimed(row));
    if (staying.length === 0) continue;
    keptForOthers.set(claim.name, staying.length);
    left = left.filter((row) => !claimed(row));
  }
  return { left, keptForOthers };
}

/** Answers whether a seed declares a row: by its digest, or by the live row where keys have other labels. */
async function claimedBy(
  context: Context,
  target: Seed,
  removals: readonly Removal[],
  claim: RowClaim,
): Promise<(row: Removal) => boolean> {
  if (sameKey(target, claim.target)) {
    const staying = await keysWithin({ target, keys: RowSet.of(removals) }, claim.target, context.directory);
    return ({ key }) => staying.has(key);
  }
  const { rows } = await context.rowClaims.summary(claim);
  const links = await Links.of(context, claim.target, true);
  const digester = digesterFor(claim.target);
  const declared = new Set<string>();
  const ids = new Set(removals.map(({ id }) => id));
  for await (const page of rowsOf(context, target.table, aTable)) {
    for (const row of page) {
      const digest = ids.has(row._id) ? digester.key(links.inSourceTerms(row)) : undefined;
      if (digest && rows.has(digest)) declared.add(row._id);
    }
  }
  return ({ id }) => declared.has(id);
}

/** Throws when rows of other seeds refer to what is about to be removed: a link must not lead nowhere. */
export async function refuseReferredTo(
  { rowClaims, directory }: Pick<OfflineContext, "rowClaims" | "directory">,
  { target, urn }: { target: Seed; urn: string | undefined },
  removals: Iterable<RowDigests>,
): Promise<void> {
  const [key, ...rest] = target.key;
  const keys = RowSet.of(removals);
  if (keys.length === 0 || rest.length > 0) return;
  const leaves = holderOfKeys(target, keys);
  const found = new Set<string>(); // a seed may be known twice
  for (const claim of [...rowClaims.checked(), ...rowClaims.referrers(urn)]) {
    const links = linksOf(claim.target).filter((link) => link.table === target.table && link.key === key);
    for await (const { line, values } of links.length > 0 ? readDeclaredRows(claim.target, directory) : []) {
      for (const { label } of links) {
        const text = keyText(values[label]);
        if (text === undefined || !leaves(text)) continue;
        const what = target.sensitive || isHidden(claim.target, label) ? "a row" : quote(text);
        found.add(`${placeOf(claim.target, line)}: ${label} of ${claim.name} refers to ${what}`);
      }
    }
  }
  if (found.size === 0) return;
  throw new ResourceError(
    `table ${target.table}: no row is removed, since rows that other seeds declare refer to what would leave:\n${capped([...found]).join("\n")}\nKeep those rows, or change what refers to them in the same run.`,
  );
}

/** Reports which rows stay for other seeds. */
export function sayWhatStays(report: Report, table: string, ...all: HandedOverRows[]): void {
  for (const keptForOthers of all)
    if (keptForOthers.size > 0) report.info(`table ${table}: ${describeKeptForOthers(keptForOthers)}`);
}

/** Which rows stay for whom, in one line. */
const describeKeptForOthers = (keptForOthers: HandedOverRows): string =>
  [...keptForOthers].map(([name, rows]) => describeKept(name, rows)).join("; ");

/** `2 rows that others made are kept`. */
export const keptMessage = (count: number): string =>
  `${formatCount(count, "row")} that others made ${count === 1 ? "is" : "are"} kept`;

/** `6000 rows stay: seed "clients" declares them`. */
export const describeKept = (name: string, rows: number): string =>
  `${formatCount(rows, "row")} stay${rows === 1 ? "s" : ""}: ${name} declares ${rows === 1 ? "it" : "them"}`;

/** What becomes of the rows of a seed that goes, in words; undefined where only the platform shows it. */
export function describeDeparture({ plan, keptForOthers }: RowsAhead): string | undefined {
  if (!plan.exact) return undefined;
  const kept = [...keptForOthers].map(([name, rows]) => describeKept(name, rows));
  return [...(plan.remove > 0 || kept.length === 0 ? [formatCount(plan.remove, "row")] : []), ...kept].join("; ");
}

/** Rows of the last run that a source has no more: to be removed, or staying for another seed, or since others made them. */
export class LeavingRows {
  readonly going = new RowSet();
  readonly staying = new RowSet();
  /** How many stay for which seed. */
  readonly keptForOthers = new Map<string, number>();
  /** Those of all that existed before. */
  readonly existing: RowSet;
  readonly #old: SeedState;
  /** The seed with what the digests depend on. */
  readonly target: Seed;

  private constructor(old: SeedState, target: Seed, existing: RowSet) {
    this.#old = old;
    this.target = target;
    this.existing = existing;
  }

  /**
   * @param target the seed in whose terms the digests are
   * @param urn of the seed whose own claim does not count
   */
  static async of(
    { rowClaims, directory }: OfflineContext,
    { old, target, urn, adopt = false }: { old: SeedState; target: Seed; urn?: string | undefined; adopt?: boolean },
    removed: readonly RowDigests[],
  ): Promise<LeavingRows> {
    const isExisting = existingIn(adopt ? {} : old);
    const leaving = new LeavingRows(
      old,
      target,
      RowSet.of(removed, ({ key }) => isExisting(key)),
    );
    const { going, staying, keptForOthers, existing } = leaving;
    const keys = { target, keys: RowSet.of(removed) };
    const held: { name: string; keys: RowSet }[] = [];
    for (const { name, target: other } of removed.length > 0 ? rowClaims.owning(target.table, urn) : [])
      held.push({ name, keys: await keysWithin(keys, other, directory) });
    for (const row of removed) {
      const owner = held.find((one) => one.keys.has(row.key));
      if (owner) keptForOthers.set(owner.name, (keptForOthers.get(owner.name) ?? 0) + 1);
      if (owner || !existing.has(row.key)) (owner ? staying : going).add(row.key, row.content);
    }
    return leaving;
  }

  /** Takes those that stay out of a plan. */
  within(plan: Forecast): Forecast {
    if (!plan.exact || plan.remove === 0) return plan;
    const change = { ...plan.change, removed: [...this.going] };
    return { ...plan, change, remove: this.going.length, keptForOthers: this.staying.length };
  }

  /** Reports what stays. */
  tell(report: Report): void {
    const stay = [...this.existing].filter(({ key }) => !this.staying.has(key)).length;
    if (stay > 0) report.forecast(keptMessage(stay));
    if (this.keptForOthers.size > 0) report.forecast(describeKeptForOthers(this.keptForOthers));
  }

  /** For the seeds that follow. */
  get findings(): RowFindings["leaving"] {
    const { target, going, staying: handedOver, existing } = this;
    const keys = RowSet.of([...going, ...handedOver]);
    return { target, keys, labels: this.#old.labels, existing, handedOver };
  }
}

/** The rows that a seed owns, where its state lists them, or the source that it was applied from is there unchanged. */
export async function ownedIn(context: OfflineContext, state: SeedState): Promise<RowSet | undefined> {
  const ledger = decodeLedger(state.ledger);
  return ledger.kind === "list" ? ledger.rows : (await lastSource(context, { ...state, rows: undefined }))?.rows;
}

/** Finds out what a deletion does with the rows of a seed, and refuses what it refuses. Offline. */
export async function departure(context: OfflineContext, state: SeedState): Promise<Partial<RowFindings>> {
  const { report } = context;
  const owned = await ownedIn(context, state);
  const retains = state.onDestroy === "retain";
  if (!owned && !retains) {
    report.rows?.({ plan: { exact: false, moreThan: 0, net: -state.rowCount }, keptForOthers: new Map() });
    return {};
  }
  const rows = owned && !retains ? owned : new RowSet();
  const leaving = await LeavingRows.of(context, { old: state, target: state }, [...rows]);
  const change = { exact: true as const, added: new RowIndices(0), changed: [], removed: [...rows], before: rows };
  const plan = { exact: true as const, insert: 0, update: 0, remove: rows.length, unchanged: 0, change };
  report.rows?.({ plan: leaving.within(plan), keptForOthers: leaving.keptForOthers });
  if (retains) return {};
  leaving.tell(report);
  await refuseReferredTo(context, { target: state, urn: state.resourceUrn }, leaving.going);
  return { leaving: leaving.findings, renewed: [] };
}

/**
 * Leaves to a seed what others seemed to remove that were compared before it was known. Of one that is applied already
 * the rows are removed, and added again by the seed.
 */
export async function leaveLate(
  { rowClaims, directory }: OfflineContext,
  urn: string | undefined,
  target: Seed,
): Promise<void> {
  if (urn === undefined || !isOwning(target)) return;
  for (const one of rowClaims.leaving(target.table, urn)) {
    const going = RowSet.of(one.keys, ({ key }) => !one.handedOver.has(key));
    const within = await keysWithin({ target: one.target, keys: going }, target, directory);
    const staying = [...going].filter(({ key }) => within.has(key));
    if (staying.length === 0) continue;
    if (!rowClaims.hasBegun(one.urn))
      rowClaims.leave(one.urn, { ...one, handedOver: RowSet.of([...one.handedOver, ...staying]) });
    rowClaims.late.push({ urn: one.urn, name: describeNamed(readName(urn)), rows: staying.length });
  }
}

/** True when a seed declares rows that other seeds give up: these are recreated, with other IDs. */
export const takesUp = async (
  { directory }: OfflineContext,
  target: Seed,
  removed: readonly Keys[],
): Promise<boolean> => (await indicesWithin(removed, target, directory)).size > 0;

/** True when a plan inserts a row that the run has removed: it gets another ID. */
export async function comesBack(
  { rowClaims, directory }: Context,
  target: Seed,
  { insert }: RowPlan,
): Promise<boolean> {
  if (insert.size === 0) return false;
  const removed = await indicesWithin(rowClaims.removedFrom(target.table), target, directory);
  return insert.some((index) => removed.has(index));
}
