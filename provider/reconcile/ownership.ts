import type { Content, Digest, RowDigests } from "./digests.ts";
import type { Ledger } from "./ledger.ts";
import type { RowIndices } from "./rowIndices.ts";
import { RowSet } from "./rowSet.ts";
import { Sketch } from "./sketch.ts";

/** Finds the content that a row of ours had when it was last applied; undefined when the row is not ours. */
export type LastApplied = (key: Digest) => Content | undefined;

/** Which rows are ours, and what was last applied to them. */
interface Applied {
  readonly last: LastApplied;
  /** Rows of a set that are not ours: all others of it are. */
  readonly strangers?: { readonly of: RowSet; readonly keys: RowSet };
}

/** The same, found without a ledger, with the number of our rows. */
export interface KnownRows extends Applied {
  readonly count: number;
}

/**
 * Finds our rows; undefined when they can't be proven. A list has them. A sketch reveals them against any set that is
 * close to the last applied one: rows of a source (`near`) when little was changed there, else the live rows, when
 * little was changed on the platform and few rows there are foreign, else those live rows that the source has as well.
 */
export function lastApplied(ledger: Ledger, near: readonly RowSet[], live: KeyedRows): Applied | undefined {
  if (ledger.kind === "list") return { last: ledger.rows.contentOf };
  for (const rows of near) {
    const found = against(ledger, rows, rows.contentOf);
    if (found) return { last: found.last, strangers: { of: rows, keys: found.strangers } };
  }
  const all = against(ledger, live, live.contentOf);
  if (all) return { last: all.last };
  for (const rows of near) {
    const found = against(ledger, shared(live, rows), (key) => (rows.has(key) ? live.contentOf(key) : undefined));
    if (found) return { last: found.last };
  }
  return undefined;
}

/** Those of the rows whose keys a set has. */
function* shared(rows: KeyedRows, set: RowSet): Generator<RowDigests> {
  for (const row of rows) if (set.has(row.key)) yield row;
}

/** Rows that are found by their keys. */
export interface KeyedRows extends Iterable<RowDigests> {
  readonly contentOf: LastApplied;
}

/** How many of the rows of a set, chosen by index, were not known as ours. */
export function strangersAmong(chosen: RowIndices, rows: RowSet, known: Applied | undefined): number {
  if (!known) return chosen.size;
  const { last, strangers } = known;
  let count = 0;
  if (strangers?.of === rows) {
    for (const { key } of strangers.keys) if (chosen.has(rows.find(key) ?? -1)) count++;
  } else for (const index of chosen) if (last(rows.key(index)) === undefined) count++;
  return count;
}

function against(
  { sketch, count }: Ledger & { kind: "sketch" },
  rows: Iterable<RowDigests>,
  there: LastApplied,
): { last: LastApplied; strangers: RowSet } | undefined {
  const other = Sketch.of(sketch.cells, rows);
  const found = sketch.difference(other);
  if (found === undefined || other.count - found.theirs.length + found.mine.length !== count) return undefined;
  const removed = RowSet.of(found.mine).contentOf;
  const foreign = RowSet.of(found.theirs);
  return {
    strangers: RowSet.of(found.theirs, ({ key }) => removed(key) === undefined),
    last: (key) => removed(key) ?? (foreign.has(key) ? undefined : there(key)),
  };
}

/** The part of a plan that was not carried out. */
export interface Undone {
  /** Wanted rows that were neither inserted nor updated although planned. */
  wanted?: Pick<ReadonlySet<number>, "has" | "size">;
  /** Rows that were not removed although planned. */
  removals?: Iterable<RowDigests>;
  /** Content that rows have: written ones that came back otherwise, and those that were left as they are. */
  found?: ReadonlyMap<number, Content>;
}

/** A plan's knowledge of rows that it did not write. */
interface CarriedOut {
  last: LastApplied;
  adoptNeeded: readonly { wanted: number }[];
}

/** The rows that are ours after a plan was carried out, in part or as a whole. */
export function oursAfter(
  wanted: RowSet,
  plan: CarriedOut,
  { wanted: undone, removals = [], found }: Undone = {},
): RowSet {
  const left = [...removals];
  if (!undone?.size && !found?.size && left.length === 0 && plan.adoptNeeded.length === 0) return wanted;
  const foreign = new Set(plan.adoptNeeded.map((meeting) => meeting.wanted));
  const ours = new RowSet();
  for (let index = 0; index < wanted.length; index++) {
    const key = wanted.key(index);
    const before = undone?.has(index) ? (found?.get(index) ?? plan.last(key)) : undefined;
    if (before !== undefined) ours.add(key, before);
    else if (!undone?.has(index) && !foreign.has(index)) ours.add(key, found?.get(index) ?? wanted.content(index));
  }
  for (const { key, content } of left) ours.add(key, content);
  return ours;
}
