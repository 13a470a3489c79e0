import { another, sameContent, type Content, type Digest, type RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { LiveRows } from "./liveRows.ts";
import { lastApplied, type LastApplied } from "./ownership.ts";
import { RowSet } from "./rowSet.ts";

/** A row on the platform, seen with the declaration of the last run and with that of this one. */
export interface SeenRow {
  /** Whether the account of this run made it. */
  isMine?: boolean;
  id: string;
  /** Undefined when it has no key of the last run. */
  before: RowDigests | undefined;
  /** True for a link to a missing row: nobody edited it. */
  dangling: boolean;
  now: { key: Digest | undefined; content: Content };
}

/** Live rows and what was last applied, both in the terms of this run. */
export interface Recognised {
  live: LiveRows;
  ledger: Ledger & { kind: "list" };
}

/**
 * Recognises our rows after a change of key labels or references. The old declaration shows which rows are ours, the new
 * one which wanted row each of them is. A row without a wanted new key is still the wanted row with its old key.
 * Undefined when it can't be proven which rows are ours.
 * @param wanted the wanted rows by the new key
 * @param byOldKey the same rows in the same order by the old key; undefined when they lack it
 * @param near sets that may be close to what was last applied, by the old key
 */
export function recogniseRows(
  seen: readonly SeenRow[],
  wanted: RowSet,
  byOldKey: RowSet | undefined,
  ledger: Ledger,
  near: readonly RowSet[],
): Recognised | undefined {
  const before = new RowSet();
  for (const row of seen) if (row.before) before.add(row.before.key, row.before.content);
  const proof = lastApplied(ledger, near, before);
  if (!proof) return undefined;
  const ours = oneForEachKey(seen, before, proof.last);

  const met = new Uint8Array(wanted.length);
  const places = new Map<SeenRow, number>();
  const matchRow = (row: SeenRow, at: number | undefined): void => {
    if (at === undefined || met[at] === 1 || places.has(row)) return;
    met[at] = 1;
    places.set(row, at);
  };
  for (const row of ours.keys()) matchRow(row, row.now.key && wanted.find(row.now.key));
  if (byOldKey) for (const row of ours.keys()) matchRow(row, row.before && byOldKey.find(row.before.key));

  const applied = new RowSet();
  const named: [SeenRow, Digest][] = [];
  for (const [row, unedited] of ours) {
    const at = places.get(row);
    const key = at === undefined ? row.before?.key : wanted.key(at);
    if (!key) continue; // ours are known by their old key
    named.push([row, key]);
    applied.add(key, unedited ? row.now.content : another(row.now.content));
  }
  const known = { kind: "list", count: ledger.count, rows: applied } as const;
  const live = new LiveRows(wanted, known);
  for (const [row, key] of named) live.add(row.id, { key, content: row.now.content }, false, row.isMine);
  for (const row of seen) {
    if (ours.has(row)) continue;
    const { key, content } = row.now;
    live.add(row.id, key && { key, content }, row.dangling, row.isMine);
  }
  return { live, ledger: known };
}

/** Chooses our rows. Among several with one old key the unedited one is ours; the value is true for an unedited row. */
function oneForEachKey(seen: readonly SeenRow[], before: RowSet, last: LastApplied): Map<SeenRow, boolean> {
  const chosen = new Map<number, SeenRow>();
  const ours = new Map<SeenRow, boolean>();
  for (const row of seen) {
    const applied = row.before && last(row.before.key);
    const at = row.before && before.find(row.before.key);
    if (!row.before || !applied || at === undefined) continue;
    const unedited = row.dangling || sameContent(row.before.content, applied);
    const other = chosen.get(at);
    if (other && (!unedited || ours.get(other))) continue;
    if (other) ours.delete(other);
    chosen.set(at, row);
    ours.set(row, unedited);
  }
  return ours;
}
