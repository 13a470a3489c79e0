import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { naturalKey, type Cells } from "../../provider/seedRows/digests.ts";
import { type MergeConflict, mergeRecords, type Records } from "./merge.ts";
import { withTaken } from "./promotion/testing/promotions.ts";

const keyed = (rows: readonly Cells[]): Map<string, Cells> =>
  new Map(rows.map((cells) => [naturalKey(["code"], cells) ?? "", cells]));

const de = { code: "DE", name: "Germany", area: 357 };
const fr = { code: "FR", name: "France", area: 643 };
const base = keyed([de, fr]);

describe("a natural key that both sides corrected", () => {
  const terms = { key: ["code"] };
  const without = keyed([fr]);
  const [one, other] = ["DEU", "GER"].map((code) => keyed([fr, { ...de, code }]));
  const sides = { base, from: one ?? base, to: other ?? base };

  test("is a conflict of one row, and none where it is the same, or somebody else's row", () => {
    expect(mergeRecords(sides, terms)).toMatchObject({
      taken: [],
      conflicts: [{ key: "DE", base: de, from: { ...de, code: "DEU" }, to: { ...de, code: "GER" } }],
    });
    expect(mergeRecords({ base, from: sides.from, to: sides.from }, terms).conflicts).toEqual([]);
    const stranger = keyed([fr, { code: "IT", name: "Italy", area: 301 }]);
    expect(mergeRecords({ ...sides, to: stranger }, terms)).toMatchObject({
      taken: [{ do: "add", key: "DEU" }],
      conflicts: [],
    });
    expect(mergeRecords({ ...sides, to: without }, terms).conflicts).toEqual([]);
  });
});

describe("for any records", () => {
  const cells = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom<unknown>(1, 2, "x", null), {
    maxKeys: 3,
  });
  const records: fc.Arbitrary<Records> = fc
    .dictionary(fc.constantFrom("k1", "k2", "k3", "k4", "k5"), cells, { maxKeys: 5 })
    .map((rows) => new Map(Object.entries(rows)));

  /** The content of records, without their order and without cells that have no value. */
  const content = (all: Records): Record<string, Cells> =>
    Object.fromEntries(
      [...all]
        .map(([key, row]) => [
          key,
          Object.fromEntries(
            Object.entries(row)
              .filter(([, value]) => value !== null)
              .sort(),
          ),
        ])
        .sort() as [string, Cells][],
    );
  const applied = (sides: { base: Records; from: Records; to: Records }): Records =>
    withTaken(sides.to, mergeRecords(sides).taken);

  test("identity: without a change of its own nothing is taken, and without one of `to` everything", () => {
    fc.assert(
      fc.property(records, records, (one, other) => {
        const empty = { taken: [], conflicts: [] };
        expect(mergeRecords({ base: one, from: one, to: other })).toMatchObject(empty);
        expect(mergeRecords({ base: one, from: other, to: other })).toMatchObject(empty);
        const merge = mergeRecords({ base: one, from: other, to: one });
        expect(merge.conflicts).toEqual([]);
        expect(content(withTaken(one, merge.taken))).toEqual(content(other));
      }),
    );
  });

  test("idempotence: a second merge takes nothing, and has the same conflicts", () => {
    fc.assert(
      fc.property(records, records, records, (base, from, to) => {
        const first = mergeRecords({ base, from, to });
        const again = mergeRecords({ base, from, to: withTaken(to, first.taken) });
        expect(again.taken).toEqual([]);
        expect(again.conflicts.filter(({ label }) => label !== undefined)).toEqual(
          first.conflicts.filter(({ label }) => label !== undefined),
        );
        expect(again.conflicts.map(({ key }) => key)).toEqual(first.conflicts.map(({ key }) => key));
      }),
    );
  });

  test("disjoint changes commute", () => {
    fc.assert(
      fc.property(records, records, records, records, (base, from, to, other) => {
        const part = (keys: readonly string[]): Records =>
          new Map([
            ...[...base].filter(([key]) => !keys.includes(key)),
            ...[...from].filter(([key]) => keys.includes(key)),
          ]);
        const [one, two] = [part(["k1", "k2", "k3"]), part(["k4", "k5"])];
        for (const target of [to, other]) {
          const there = applied({ base, from: two, to: applied({ base, from: one, to: target }) });
          const back = applied({ base, from: one, to: applied({ base, from: two, to: target }) });
          expect(content(there)).toEqual(content(back));
          expect(content(there)).toEqual(content(applied({ base, from, to: target })));
        }
      }),
    );
  });

  test("symmetry: the sides have the same conflicts, whichever is merged into the other", () => {
    const ordered = (all: readonly MergeConflict[]): string[] => all.map((each) => JSON.stringify(each)).sort();
    fc.assert(
      fc.property(records, records, records, (base, one, other) => {
        const there = mergeRecords({ base, from: one, to: other }).conflicts;
        const back = mergeRecords({ base, from: other, to: one }).conflicts;
        const turned = back.map(({ key, label, base, from, to }) => ({ key, label, base, from: to, to: from }));
        const same = there.map(({ key, label, base, from, to }) => ({ key, label, base, from, to }));
        expect(ordered(same as MergeConflict[])).toEqual(ordered(turned as MergeConflict[]));
      }),
    );
  });

  test("theirs for all leaves no conflict, and every cell that changed in `from` as it is there", () => {
    fc.assert(
      fc.property(records, records, records, (base, from, to) => {
        const merge = mergeRecords({ base, from, to }, { decide: () => "theirs" });
        expect(merge.conflicts).toEqual([]);
        const after = withTaken(to, merge.taken);
        expect(mergeRecords({ base, from, to: after })).toMatchObject({ taken: [], conflicts: [] });
      }),
    );
  });
});
