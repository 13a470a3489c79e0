import { entryIn } from "../../platform/contract/wire.ts";
import { quote, some } from "../../platform/messages/text.ts";
import { keyText } from "../reconcile/digests.ts";
import { describeUnresolved, type Unresolved } from "../reconcile/references.ts";
import type { Leaving, RowClaim, RowClaims, RowReferrer } from "./declared/claims.ts";
import { digesterFor, keyOf } from "./declared/declaration.ts";
import { listRelationships } from "./declared/expectations/expectations.ts";
import { readDeclaredRows, holderOf, holderOfKeys } from "./declared/holders.ts";
import { linksOf } from "./declared/links.ts";
import { isOwning, type RowTarget } from "./declared/target.ts";
import { isHidden, placeOf } from "./source/source.ts";

/** A seed to compare with the others of its program. */
export interface ComparedSeed {
  urn: string | undefined;
  target: RowTarget;
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
const listMentions = (target: RowTarget) => [...linksOf(target), ...listRelationships(target)];

/** Finds uses that would reveal secret values of another seed: links by them, and natural keys that consist of them. */
function tellingSecrets(claims: RowClaims, { urn, target }: ComparedSeed, others: readonly RowClaim[]): string[] {
  const links = linksOf(target).flatMap(({ label, table, key }) => {
    const secret = claims.on(table, urn).find((one) => one.target.secretLabels?.includes(key));
    if (!secret || isHidden(target, label)) return [];
    return `${label} refers to ${quote(key)} of ${secret.name}, where it is secret: add ${quote(label)} to secretLabels here, or refer to another label`;
  });
  const keys = others.flatMap(({ name, target: other }) => {
    const telling = (one: RowTarget, by: RowTarget): string | undefined =>
      by.sensitive ? undefined : by.key.find((label) => one.secretLabels?.includes(label));
    const [theirs, ours] = [telling(other, target), telling(target, other)];
    if (theirs !== undefined)
      return `${quote(theirs)} is secret in ${name} of the same table, and the natural key here: name rows by another label`;
    if (ours !== undefined)
      return `${quote(ours)} is secret here, and the natural key of ${name} of the same table: name rows there by another label`;
    return [];
  });
  return [...links, ...keys];
}

/** Rows that two seeds declare. A seed that only updates may write other labels of them than their owner. */
async function shared(
  claims: RowClaims,
  declared: ComparedSeed,
  other: RowClaim,
  directory: string,
): Promise<string[]> {
  const { target } = declared;
  const isBeside = !isOwning(target) || !isOwning(other.target);
  const both = isBeside ? await labelsOfBoth(claims, declared, other) : [];
  if (isBeside && both.length === 0) return [];
  const { rows } = await claims.summary(other);
  const { key } = other.target;
  const digester = digesterFor(other.target);
  const named: string[] = [];
  let count = 0;
  for await (const { line, values } of readDeclaredRows(target, directory)) {
    const digest = digester.key(values);
    if (digest === undefined || !rows.has(digest)) continue;
    if (++count > maxNamed) continue;
    named.push(target.sensitive ? placeOf(target, line) : `${placeOf(target, line)} ${quote(keyOf(key, values))}`);
  }
  if (count === 0) return [];
  const more = count > maxNamed ? ` and ${count - maxNamed} more` : "";
  const which = `${named.join(", ")}${more}`;
  if (isBeside)
    return [
      `${other.name} writes ${some(both.map(quote), 5)} of these rows of table ${target.table} as well: ${which}. Keep each label in one of the two`,
    ];
  return [
    `${other.name} declares these rows of table ${target.table} as well: ${which}. A row has one owner: keep each in one of the two`,
  ];
}

/** Labels that both seeds write. Natural keys name rows, and are written by who owns these. */
async function labelsOfBoth(claims: RowClaims, { urn = "", target, digest }: ComparedSeed, other: RowClaim) {
  const [ours, theirs] = [await claims.summary({ urn, name: "", target, digest }), await claims.summary(other)];
  const keys = [...target.key, ...other.target.key];
  return ours.labels.filter((label) => theirs.labels.includes(label) && !keys.includes(label));
}

/** References to rows that the named seed lacks, or that are about to leave. */
async function unanswered(claims: RowClaims, declared: ComparedSeed, directory: string): Promise<string[]> {
  const { target, linkedSeeds = {} } = declared;
  const checks = await Promise.all(listMentions(target).map((link) => answerOf(claims, link, linkedSeeds, directory)));
  const asked = checks.filter((check) => check !== undefined);
  if (asked.length === 0) return [];
  const missing: Unresolved[] = [];
  const going: string[] = [];
  for await (const { line, values } of readDeclaredRows(target, directory)) {
    for (const { label, answer } of asked) {
      const text = keyText(values[label]);
      const found = text === undefined ? "there" : answer(text);
      if (found === "missing" && text !== undefined) missing.push({ line, label, key: text, reason: "missing" });
      if (typeof found === "object") {
        const what = isHidden(target, label) ? "a row" : `"${text ?? ""}"`;
        going.push(`${placeOf(target, line)}: ${label} refers to ${what}, which ${found.leaves} is about to remove`);
      }
    }
  }
  const sentences = describeUnresolved(
    missing,
    (line) => placeOf(target, line),
    (label) => isHidden(target, label),
  );
  const keys = listMentions(target).flatMap(({ label, table, key }) =>
    entryIn(linkedSeeds, label) === undefined ? [] : `${label} by ${quote(key)} of table ${table}`,
  );
  const advice = `Rows are looked up by the natural key of the seed: ${keys.join(", ")}. Add those rows to the seed, or correct the references; for rows that no seed has, refer to a table and its key instead of a seed.`;
  return [
    ...explained(capped(sentences), advice),
    ...explained(capped(going), "Keep those rows, or change what refers to them in the same run."),
  ];
}

/** Problems with what they have in common as a line of the last one: it is none by itself. */
const explained = (problems: readonly string[], advice: string): string[] =>
  problems.map((text, index) => (index === problems.length - 1 ? `${text}\n${advice}` : text));

type Answer = (key: string) => "there" | "missing" | { leaves: string };

async function answerOf(
  claims: RowClaims,
  { label, table, key }: { label: string; table: string; key: string },
  linkedSeeds: Readonly<Record<string, string>>,
  directory: string,
): Promise<{ label: string; answer: Answer } | undefined> {
  const known = claims.on(table);
  const isNamed = known.some(({ urn }) => urn === entryIn(linkedSeeds, label));
  const leaving = claims
    .leaving(table)
    .flatMap(({ name, target, keys }) =>
      target.key.length === 1 && target.key[0] === key ? [{ name, holds: holderOfKeys(target, keys) }] : [],
    );
  if (!isNamed && leaving.length === 0) return undefined;
  // A seed that only updates holds no rows of its own, unless it is the one that is named.
  const holders = known.filter(({ urn, target }) => isOwning(target) || urn === entryIn(linkedSeeds, label));
  const declared = await Promise.all(holders.map((claim) => holderOf(claims, claim, key, directory)));
  const answer: Answer = (text) => {
    if (declared.some((has) => has(text))) return "there";
    if (isNamed) return "missing";
    const one = leaving.find(({ holds }) => holds(text));
    return one ? { leaves: one.name } : "there";
  };
  return { label, answer };
}

/** Rows of other seeds that refer to rows which a seed of this shape is about to remove, by line. */
export async function referringTo(
  referrers: readonly RowReferrer[],
  leaving: Pick<Leaving, "target" | "keys">,
  directory: string,
): Promise<string[]> {
  const { target, keys } = leaving;
  const [key = "", ...rest] = target.key;
  if (rest.length > 0) return [];
  const found = new Set<string>(); // a seed may be known twice
  const leaves = holderOfKeys(target, keys);
  for (const claim of referrers) {
    const links = linksOf(claim.target).filter((link) => link.table === target.table && link.key === key);
    if (links.length === 0) continue;
    for await (const { line, values } of readDeclaredRows(claim.target, directory)) {
      for (const { label } of links) {
        const text = keyText(values[label]);
        if (text === undefined || !leaves(text)) continue;
        const what = target.sensitive || isHidden(claim.target, label) ? "a row" : quote(text);
        found.add(`${placeOf(claim.target, line)}: ${label} of ${claim.name} refers to ${what}`);
      }
    }
  }
  return capped([...found]);
}

const capped = (sentences: readonly string[]): string[] =>
  sentences.length > maxNamed
    ? [...sentences.slice(0, maxNamed), `and ${sentences.length - maxNamed} more`]
    : [...sentences];
