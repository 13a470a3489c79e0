import { randomBytes } from "node:crypto";
import { isObject } from "../../../provider/contract/wire.ts";
import { things, type DeclaredThing } from "../../../provider/environment/things/things.ts";
import type { Properties } from "../../../provider/pulumi/properties.ts";
import { rowDigester, saltOf } from "../../../provider/reconcile/digests.ts";
import { encodeLedger } from "../../../provider/reconcile/ledger.ts";
import { RowSet } from "../../../provider/reconcile/rowSet.ts";
import { summarize, type RowDeclaration } from "../../../provider/resources/rows/declared/declaration.ts";
import { SourceError } from "../../../provider/sources/read.ts";
import type { Declared } from "../model/source.ts";
import { holdsSealed, type StateResource } from "../state/state.ts";
import type { KnownThing } from "./knownThing.ts";

/** A seed of which the state keeps what the digests are keyed with to itself. */
export async function assumeRows(
  known: KnownThing,
  values: StateResource["values"],
  thing: DeclaredThing | undefined,
  head: Declared,
): Promise<KnownThing> {
  const { folder, unread } = head;
  const salt = saltOf(randomBytes(32));
  const { rows, keys, key } = known.inputs;
  const withSalt = { ...known, inputs: { ...known.inputs, salt }, outputs: { ...known.outputs, salt } };
  const source = thing?.inputs["source"];
  const isOut = typeof source === "string" && unread?.(source) !== undefined;
  const labels = Array.isArray(key) ? key.map(String) : [];
  if (
    isObject(rows) &&
    !holdsSealed(values["rows"]) &&
    ["additions", "changes", "removals"].every((name) => values[name] === undefined)
  ) {
    const inClear = { ...known.inputs, salt, rows: Object.values(rows) };
    const summary = await summarize(inClear as unknown as RowDeclaration, folder);
    return {
      ...withSalt,
      outputs: ledgered(withSalt.outputs, summary),
      inputs: { ...withSalt.inputs, digest: summary.digest },
      rows: "all",
    };
  }
  if (isOut) return { ...withSalt, rows: "none" };
  if (!thing) return departed(withSalt, { labels, salt }, head);
  try {
    const seed = { ...thing.inputs, key: labels, salt, ...linksIn(known.outputs) } as unknown as RowDeclaration;
    const summary = await summarize(seed, folder);
    const named = Array.isArray(keys) ? keys.map(String) : undefined;
    const all = RowSet.of(summary.rows); // rows that it gives up say what their next owner declares
    for (const row of (await rowsOfOthers(withSalt, { labels, salt }, head)).declared) all.add(row.key, row.content);
    const own = named && keyedRows(labels, named, salt, all);
    const kept = own ?? summary.rows;
    const isSame = kept.length === summary.rows.length && [...kept].every((row) => summary.rows.has(row.key));
    const digest = isSame ? summary.digest : "otherwise";
    const outputs = { ...ledgered(withSalt.outputs, { ...summary, rows: kept }), digest };
    return { ...withSalt, outputs, inputs: { ...withSalt.inputs, digest }, rows: own ? "keys" : "none" };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { ...withSalt, rows: "none" };
  }
}

/**
 * A seed that is declared no more: its rows by their natural keys, or those of its source if another seed has it and its
 * count is right. What they say is taken to be what others declare.
 */
async function departed(
  known: KnownThing,
  terms: { labels: readonly string[]; salt: string },
  head: Declared,
): Promise<KnownThing> {
  const { labels, salt } = terms;
  const { keys } = known.inputs;
  const { declared, last } = await rowsOfOthers(known, terms, head);
  const rows = Array.isArray(keys) ? keyedRows(labels, keys.map(String), salt, declared) : last;
  if (!rows) return { ...known, rows: "none" };
  const { digest, labels: names } = known.outputs;
  const summary = { rows, labels: Array.isArray(names) ? names.map(String) : [], digest: String(digest) };
  return { ...known, outputs: ledgered(known.outputs, summary), rows: "keys" };
}

/** Rows that the seeds of a table declare, and those of one that has the same source and as many rows. */
async function rowsOfOthers(
  known: KnownThing,
  { labels, salt }: { labels: readonly string[]; salt: string },
  { declaration, folder, unread }: Declared,
): Promise<{ declared: RowSet; last: RowSet | undefined }> {
  const { source } = known.inputs;
  const { table, rowCount } = known.outputs;
  const declared = new RowSet();
  let last: RowSet | undefined;
  for (const { kind, inputs } of things(declaration)) {
    const isOut = typeof inputs["source"] === "string" && unread?.(inputs["source"]) !== undefined;
    if (kind !== "SeedRows" || inputs["table"] !== table || isOut) continue;
    const seed = { ...inputs, key: labels, salt, ...linksIn(known.outputs) } as unknown as RowDeclaration;
    const rows = await rowsIn(seed, folder);
    for (const row of rows ?? []) declared.add(row.key, row.content);
    if (source !== undefined && source === inputs["source"] && rows?.length === rowCount) last = rows;
  }
  return { declared, last };
}

/** Rows of a seed; undefined for a source with a mistake, which its own seed reports. */
async function rowsIn(seed: RowDeclaration, folder: string): Promise<RowSet | undefined> {
  try {
    return (await summarize(seed, folder)).rows;
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

const linksIn = ({ references, parent }: Properties): object => ({
  ...(references === undefined ? {} : { references }),
  ...(parent === undefined ? {} : { parent }),
});

const ledgered = (
  outputs: Properties,
  { rows, labels, digest }: { rows: RowSet; labels: string[]; digest: string },
): Properties => ({
  ...outputs,
  ...{ rowCount: rows.length, labels, digest },
  ledger: encodeLedger({ kind: "list", count: rows.length, rows }),
});

/** Rows by their natural keys as a state has them: what they say is taken to be what is declared. */
function keyedRows(
  labels: readonly string[],
  keys: readonly string[],
  salt: string,
  declared: RowSet,
): RowSet | undefined {
  const digester = rowDigester({ key: labels, labels: [], references: [], salt });
  const rows = new RowSet();
  for (const text of keys) {
    const parts = labels.length === 1 ? [text] : partsOf(text);
    const key = digester.key(Object.fromEntries(labels.map((label, at) => [label, parts[at]])));
    if (!key || parts.length !== labels.length) return undefined;
    rows.add(key, declared.contentOf(key));
  }
  return rows.length === keys.length ? rows : undefined;
}

/** The parts of a natural key of several labels, as `keyOf` joins them: a comma within one is behind a backslash. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") part += text[++at] ?? "";
    else if (text.startsWith(", ", at)) {
      parts.push(part);
      part = "";
      at++;
    } else part += text[at] ?? "";
  }
  return [...parts, part];
}
