import type { RowDigests } from "../../reconcile/digests.ts";
import { decodeLedger, encodeLedger, ledgerOf, maxListedRows } from "../../reconcile/ledger.ts";
import { lastApplied } from "../../reconcile/ownership.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { Sketch } from "../../reconcile/sketch.ts";

/** Kinds of lists: existing rows, or all others. */
const [existing, others] = ["keys", "made"];

/** Rows that an error carries: 1.4 KB. */
const maxInFailure = 128;

/** Rows by their keys alone. */
function keysIn(rows: Iterable<RowDigests>): RowSet {
  const keys = new RowSet();
  for (const { key } of rows) keys.add(key);
  return keys;
}

/**
 * Text for the state of the keys of rows that existed before and that others made; undefined for none. Eight bytes a row, of
 * up to 4,096; of more a sketch, which a ledger of up to 20,000 rows leaves room for.
 */
export function encodeExisting(rows: Iterable<RowDigests>): string | undefined {
  const keys = keysIn(rows);
  if (keys.length === 0) return undefined;
  if (keys.length <= RowSet.whole) return listOf(existing, keys);
  const small = { kind: "sketch" as const, count: keys.length, sketch: Sketch.of(4_000, keys) };
  return encodeLedger(keys.length > maxListedRows ? ledgerOf(keys) : small);
}

/**
 * The same for a state that an error has to carry: few rows are listed, existing ones or all others. Otherwise all count as
 * existing that the account of the next run did not make: they stay, and nothing is lost.
 */
export function encodeExistingInFailure(rows: RowSet, ours: RowSet): string | undefined {
  if (rows.length === 0) return undefined;
  if (rows.length <= maxInFailure) return listOf(existing, rows);
  const rest = RowSet.of(ours, ({ key }) => !rows.has(key));
  return listOf(others, rest.length <= maxInFailure ? rest : new RowSet());
}

function listOf(kind: string, keys: RowSet): string {
  const bytes = Buffer.alloc(keys.length * 8);
  for (let index = 0; index < keys.length; index++) {
    const { high, low } = keys.key(index);
    bytes.writeUInt32LE(high, index * 8);
    bytes.writeUInt32LE(low, index * 8 + 4);
  }
  return `${kind}:1:${bytes.toString("base64")}`;
}

/** The list in a text; undefined for a sketch. Throws a RangeError when it is neither. */
function listIn(text: string): { kind: string; keys: RowSet } | undefined {
  const [kind = "", version, encoded = ""] = text.split(":");
  if (kind !== existing && kind !== others) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (version !== "1" || bytes.length % 8 !== 0) {
    throw new RangeError("what the state says of existing rows is damaged, or of a newer version: update the package");
  }
  const keys = new RowSet();
  for (let at = 0; at < bytes.length; at += 8)
    keys.add({ high: bytes.readUInt32LE(at), low: bytes.readUInt32LE(at + 4) });
  return { kind, keys };
}

/**
 * The existing ones among the rows; undefined when that is unknown: a sketch yields them when the rows are nearly the ones
 * it was made of.
 */
export function listExistingAmong(text: string | undefined, rows: Iterable<RowDigests>): RowSet | undefined {
  if (text === undefined) return new RowSet();
  const list = listIn(text);
  if (list) return RowSet.of(rows, ({ key }) => list.keys.has(key) === (list.kind === existing));
  const keys = keysIn(rows);
  const proof = lastApplied(decodeLedger(text), [keys], keys);
  return proof && RowSet.of(keys, ({ key }) => proof.last(key) !== undefined);
}
