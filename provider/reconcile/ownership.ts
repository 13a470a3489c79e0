import type { Content, Digest } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import { RowSet } from "./rowSet.ts";
import { Sketch } from "./sketch.ts";

/** What a row of ours said when it was last applied; undefined when the row is not ours. */
export type LastApplied = (key: Digest) => Content | undefined;

/** How many rows are ours and what each said when it was last applied, where that was found out in another way. */
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
  if (ledger.kind === "list") {
    const { rows } = ledger;
    return (key) => contentIn(rows, key);
  }
  for (const rows of near) {
    const found = against(ledger, rows);
    if (found) return found;
  }
  const all = against(ledger, live);
  if (all) return all;
  for (const rows of near) {
    const shared = RowSet.of(live, ({ key }) => rows.has(key));
    const found = against(ledger, shared);
    if (found) return found;
  }
  return undefined;
}

function against({ sketch, count }: Ledger & { kind: "sketch" }, rows: RowSet): LastApplied | undefined {
  const found = sketch.difference(Sketch.of(sketch.cells, rows));
  if (found === undefined || rows.length - found.theirs.length + found.mine.length !== count) return undefined;
  const missing = RowSet.of(found.mine);
  const foreign = RowSet.of(found.theirs);
  return (key) => contentIn(missing, key) ?? (foreign.has(key) ? undefined : contentIn(rows, key));
}

function contentIn(rows: RowSet, key: Digest): Content | undefined {
  const index = rows.find(key);
  return index === undefined ? undefined : rows.content(index);
}
