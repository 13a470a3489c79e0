import type { Content, Digest } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { RowSet } from "./rowSet.ts";
import { Sketch } from "./sketch.ts";

/** Finds the content that a row of ours had when it was last applied; undefined when the row is not ours. */
export type LastApplied = (key: Digest) => Content | undefined;

/** Count and last applied content of our rows, found without a ledger. */
export interface KnownRows {
  readonly count: number;
  readonly last: LastApplied;
}

/**
 * Finds out which rows are ours, undefined when that can't be proven. A list says it. A sketch gives it away against
 * any set that is close to what was last applied: rows of a source (`near`) when little was changed there, else the
 * live rows, when little was changed on the platform and few rows there are foreign, else those live rows that the
 * source has as well.
 */
export function lastApplied(ledger: Ledger, near: readonly RowSet[], live: RowSet): LastApplied | undefined {
  if (ledger.kind === "list") return contentsOf(ledger.rows);
  for (const rows of near) {
    const found = against(ledger, rows);
    if (found) return found.last;
  }
  const all = against(ledger, live);
  if (all) return all.last;
  for (const rows of near) {
    const shared = RowSet.of(live, ({ key }) => rows.has(key));
    const found = against(ledger, shared);
    if (found) return found.last;
  }
  return undefined;
}

/** `last` finds the content of all rows, `removed` only that of rows that are not wanted any more. */
export interface AppliedBeside {
  last: LastApplied;
  removed: LastApplied;
}

/** The same against rows of a source alone, which may go before all is asked. */
export function appliedBeside(ledger: Ledger, rows: RowSet): AppliedBeside | undefined {
  if (ledger.kind === "sketch") return against(ledger, rows);
  const last = contentsOf(ledger.rows);
  return { last, removed: last };
}

function against({ sketch, count }: Ledger & { kind: "sketch" }, rows: RowSet): AppliedBeside | undefined {
  const found = sketch.difference(Sketch.of(sketch.cells, rows));
  if (found === undefined || rows.length - found.theirs.length + found.mine.length !== count) return undefined;
  const removed = contentsOf(RowSet.of(found.mine));
  const there = contentsOf(rows);
  const foreign = RowSet.of(found.theirs);
  return { removed, last: (key) => removed(key) ?? (foreign.has(key) ? undefined : there(key)) };
}

/** Made outside of its callers, so that the function keeps no other rows in memory. */
const contentsOf =
  (rows: RowSet): LastApplied =>
  (key) => {
    const index = rows.find(key);
    return index === undefined ? undefined : rows.content(index);
  };
