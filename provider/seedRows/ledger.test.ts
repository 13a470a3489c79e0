import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { digestOf } from "./digests.ts";
import {
  decodeLedger,
  difference,
  emptyLedger,
  encodeLedger,
  ledgerOf,
  maxListedRows,
  type Ledger,
  Sketch,
} from "./ledger.ts";
import { RowSet } from "./rowSet.ts";

/** Rows by number, each with a version of its content. */
function rowsOf(versions: Iterable<[row: number, version: number]>): RowSet {
  const set = new RowSet();
  for (const [row, version] of versions) set.add(digestOf(`k${row}`), digestOf(`${row}/${version}`), row);
  return set;
}

/** The difference with the rows that were added as a list. */
function listed(wanted: RowSet, ledger: Ledger) {
  const found = difference(wanted, ledger);
  return found.exact ? { ...found, added: [...found.added] } : found;
}

const range = (from: number, to: number, version = 0): [number, number][] =>
  Array.from({ length: to - from }, (_, index) => [from + index, version]);

describe("a ledger", () => {
  test.each([0, 1, 4_097, maxListedRows, maxListedRows + 1, 60_000])(
    "of %p rows survives its text of at most 480 KB",
    (count) => {
      const rows = rowsOf(range(0, count));
      const ledger = ledgerOf(rows);
      const text = encodeLedger(ledger);
      expect(text.length).toBeLessThanOrEqual(480_000);
      const back = decodeLedger(text);
      expect({ kind: back.kind, count: back.count }).toEqual({
        kind: count > maxListedRows ? "sketch" : "list",
        count,
      });
      expect(encodeLedger(back)).toBe(text);
      expect(listed(rows, back)).toMatchObject({ exact: true, added: [], changed: [], removed: [] });
    },
  );

  test.each(["", "list:2:1:", "list:2:x:AAAA", "sketch:2:5000:AAAA", "tree:2:0:", "list:2:0::", "sketch:2:5000:"])(
    "that is damaged is refused: %p",
    (text) => expect(() => decodeLedger(text)).toThrow("the ledger in the state is damaged"),
  );

  test.each(["list:1:0:", "list:3:0:", "sketch:1:5000:AAAA"])("of another version says so: %p", (text) => {
    expect(() => decodeLedger(text)).toThrow("was written by another version of this package");
  });
});

describe("the difference from a ledger", () => {
  test("everything is new against an empty one", () => {
    const wanted = rowsOf(range(0, 3));
    expect(listed(wanted, emptyLedger())).toMatchObject({
      exact: true,
      added: [0, 1, 2],
      changed: [],
      removed: [],
    });
  });

  const change = fc.record({
    count: fc.constantFrom(50, 21_000),
    added: fc.nat(300),
    changed: fc.nat(300),
    removed: fc.nat(300),
  });
  test("is exact for a list and for a sketch", () => {
    fc.assert(
      fc.property(change, ({ count, added, changed, removed }) => {
        const gone = Math.min(removed, count);
        const other = Math.min(changed, count - gone);
        const ledger = decodeLedger(encodeLedger(ledgerOf(rowsOf(range(0, count)))));
        const wanted = rowsOf([...range(gone, gone + other, 1), ...range(gone + other, count + added)]);
        const found = listed(wanted, ledger);
        if (!found.exact) throw new Error("not decoded");
        expect(found.added.map((index) => wanted.line(index))).toEqual(range(count, count + added).map(([row]) => row));
        expect(found.changed.map((index) => wanted.line(index))).toEqual(range(gone, gone + other).map(([row]) => row));
        expect(new Set(found.removed.map(({ key }) => key.high))).toEqual(
          new Set(range(0, gone).map(([row]) => digestOf(`k${row}`).high)),
        );
        expect(found.before.length).toBe(gone + other);
      }),
      { numRuns: 12 },
    );
  });

  test("past the capacity of a sketch is told as a bound and a net number", () => {
    const ledger = ledgerOf(rowsOf(range(0, 21_000)));
    const found = listed(rowsOf(range(4_000, 25_000, 1)), ledger);
    expect(found).toEqual({ exact: false, moreThan: 2_777, net: 0 });
    expect(listed(rowsOf(range(0, 31_000)), ledger)).toEqual({ exact: false, moreThan: 2_777, net: 10_000 });
  });

  test("a large sketch tells 3,000 changed rows", () => {
    const ledger = ledgerOf(rowsOf(range(0, 60_000)));
    const found = listed(rowsOf([...range(0, 3_000, 1), ...range(3_000, 60_000)]), ledger);
    expect(found.exact && found.changed.length).toBe(3_000);
  });
});

test("sketches of different sizes are not compared", () => {
  expect(() => new Sketch(8).difference(new Sketch(4))).toThrow(RangeError);
  expect(() => new Sketch(6)).toThrow(RangeError);
});

test("a sketch full of noise is not believed", () => {
  fc.assert(
    fc.property(fc.uint32Array({ minLength: 48, maxLength: 48 }), (words) => {
      fc.pre(words.some((word) => word !== 0));
      expect(new Sketch(8, words).difference(new Sketch(8))).toBeUndefined();
    }),
  );
});
