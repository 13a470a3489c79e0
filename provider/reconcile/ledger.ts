import type { RowDigests } from "./digests.ts";
import { RowIndices } from "./rowIndices.ts";
import { RowSet } from "./rowSet.ts";
import { Sketch } from "./sketch.ts";

/** Most rows that a ledger lists, encoded 460 KB; above, it is a sketch of constant size. */
export const maxListedRows = 20_000;

/** Encoded 254 KB. */
const sketchCells = 7_936;

/** Encoded 44 KB and 46 KB: what an error may carry. */
const inFailure = { rows: 1_408, cells: 1_440 };

/** Our rows at the last run: a list of rows, or a sketch of them with their number. */
export type Ledger =
  | { readonly kind: "list"; readonly count: number; readonly rows: RowSet }
  | { readonly kind: "sketch"; readonly count: number; readonly sketch: Sketch };

/** Difference of wanted rows from a ledger. */
export type LedgerDifference =
  | {
      exact: true;
      /** Indices of wanted rows whose key the ledger lacks. */
      added: RowIndices;
      /** Indices of wanted rows whose key the ledger has with another content. */
      changed: number[];
      /** Rows of the ledger whose key is not wanted any more. */
      removed: RowDigests[];
      /** Rows of the ledger that were changed or removed, as they were. */
      before: RowSet;
    }
  | {
      exact: false;
      /** More rows than this were added, changed or removed. */
      moreThan: number;
      /** Rows added less rows removed. */
      net: number;
    };

/** The ledger of rows that are ours. */
export function ledgerOf(rows: RowSet): Ledger {
  const count = rows.length;
  if (count <= maxListedRows) return { kind: "list", count, rows };
  return { kind: "sketch", count, sketch: Sketch.of(sketchCells, rows) };
}

/**
 * The ledger of our rows after a failure, which an error has to carry. A small sketch can list fewer changes; together
 * with the rows of the platform it proves as much as a large one.
 */
export function ledgerInFailure(rows: RowSet): Ledger {
  const count = rows.length;
  if (count <= inFailure.rows) return { kind: "list", count, rows };
  return { kind: "sketch", count, sketch: Sketch.of(inFailure.cells, rows) };
}

/** The ledger before anything was applied. */
export const emptyLedger = (): Ledger => ledgerOf(new RowSet());

/** Text of a ledger for the state: `list:2:<rows>:<base64>` or `sketch:2:<rows>:<base64>`. */
export function encodeLedger(ledger: Ledger): string {
  const pages = ledger.kind === "list" ? [...ledger.rows.packed()] : [ledger.sketch];
  const parts = pages.map(({ words }) => {
    const bytes = Buffer.alloc(words.length * 4);
    words.forEach((word, index) => bytes.writeUInt32LE(word, index * 4));
    return bytes;
  });
  return `${ledger.kind}:2:${ledger.count}:${Buffer.concat(parts).toString("base64")}`;
}

/** The ledger of a text; throws a RangeError when it is none or one of another version. */
export function decodeLedger(text: string): Ledger {
  const [kind, version, number, encoded, ...rest] = text.split(":");
  if (version !== "2" && (kind === "list" || kind === "sketch")) {
    throw new RangeError("the ledger was written by another version of this package: use that one, or a newer one");
  }
  const count = Number(number);
  if (encoded === undefined || rest.length > 0 || !Number.isSafeInteger(count) || count < 0) throw damaged();
  const bytes = Buffer.from(encoded, "base64");
  const words = Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4));
  if (kind === "sketch") {
    if (bytes.length % 96 !== 0 || bytes.length === 0) throw damaged();
    return { kind, count, sketch: new Sketch(words.length / 6, words) };
  }
  // Of rows beyond the first ones a set keeps half of the content.
  const wholeRows = Math.min(count, RowSet.whole);
  if (kind !== "list" || words.length !== wholeRows * 6 + (count - wholeRows) * 4) throw damaged();
  if (bytes.length !== words.length * 4) throw damaged();
  const rows = new RowSet();
  for (let index = 0, at = 0; index < count; index++) {
    const perRow = index < wholeRows ? 6 : 4;
    const [a = 0, b = 0, high = 0, low = 0, third = 0, fourth = 0] = words.subarray(at, at + perRow);
    rows.add({ high: a, low: b }, { high, low, third, fourth });
    at += perRow;
  }
  if (rows.length !== count) throw damaged();
  return { kind, count, rows };
}

const damaged = (): RangeError => new RangeError("the ledger in the state is damaged");

/** Compares a ledger's rows with the wanted ones. */
export function difference(wanted: RowSet, ledger: Ledger): LedgerDifference {
  if (ledger.kind === "list") return differenceOfLists(wanted, ledger.rows);
  const { cells } = ledger.sketch;
  const found = ledger.sketch.difference(Sketch.of(cells, wanted));
  const exact = found && sorted(wanted, found.theirs, found.mine);
  // The numbers must agree as well: nothing is believed that does not add up.
  if (exact && ledger.count + exact.added.size - exact.removed.length === wanted.length) return exact;
  // A changed row is two in a sketch. Differences of less than seven tenths of the cells are as good as always listed.
  return { exact: false, moreThan: Math.floor(cells * 0.35), net: wanted.length - ledger.count };
}

function differenceOfLists(wanted: RowSet, last: RowSet): LedgerDifference {
  const added = new RowIndices(wanted.length);
  const changed: number[] = [];
  const removed: RowDigests[] = [];
  const before = new RowSet();
  for (let index = 0; index < wanted.length; index++) {
    const found = last.find(wanted.key(index));
    if (found === undefined) added.add(index);
    else if (!last.hasContent(found, wanted.content(index))) {
      changed.push(index);
      before.add(last.key(found), last.content(found));
    }
  }
  for (const row of last) {
    if (wanted.has(row.key)) continue;
    removed.push(row);
    before.add(row.key, row.content);
  }
  return { exact: true, added, changed, removed, before };
}

/** Pairs the rows that a sketch lists as removed and added; undefined when they contradict each other. */
function sorted(
  wanted: RowSet,
  here: RowDigests[],
  departed: RowDigests[],
): (LedgerDifference & { exact: true }) | undefined {
  const before = RowSet.of(departed);
  const added = new RowIndices(wanted.length);
  const changed: number[] = [];
  for (const { key, content } of here) {
    const index = wanted.find(key);
    if (index === undefined || !wanted.hasContent(index, content)) return undefined;
    if (before.has(key)) changed.push(index);
    else added.add(index);
  }
  const removed = departed.filter(({ key }) => !wanted.has(key));
  if (before.length !== departed.length || removed.length + changed.length !== departed.length) return undefined;
  return { exact: true, added, changed: changed.sort((a, b) => a - b), removed, before };
}
