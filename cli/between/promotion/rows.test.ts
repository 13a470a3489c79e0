import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SeedDeclaration } from "../../../provider/environment/schema.ts";
import type { Cells } from "../../../provider/reconcile/digests.ts";
import type { Declared } from "../../report/source.ts";
import { mergeRecords } from "../merge.ts";
import { ChangedRows, type SeedOfSide } from "./rows.ts";

const cells = fc.record(
  { area: fc.constantFrom<unknown>(1, 2, "1", "", null), name: fc.constantFrom("a text that is long enough", "b") },
  { requiredKeys: [] },
);
const rows = fc.dictionary(fc.constantFrom("k1", "k2", "k3", "k4", "k5"), cells, { maxKeys: 5 });

const sideOf = (side: string, all: Readonly<Record<string, Cells>>): SeedOfSide => ({
  declared: { folder: "." } as Declared,
  seed: {
    table: "t",
    key: ["code"],
    rows: Object.entries(all).map(([code, more]) => ({ code, ...more })),
  } as Partial<SeedDeclaration> as SeedDeclaration,
  side,
});
const recordsOf = (all: Readonly<Record<string, Cells>>): Map<string, Cells> =>
  new Map(Object.entries(all).map(([code, more]) => [code, { code, ...more }]));

test("a merge of what differs is the merge of all rows", async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, rows, async (base, from, to) => {
      const changed = await ChangedRows.of(sideOf("base", base), sideOf("from", from), []);
      const sides = await changed.merging(sideOf("to", to));
      const terms = { key: ["code"] };
      const part = mergeRecords(sides, terms);
      const whole = mergeRecords({ base: recordsOf(base), from: recordsOf(from), to: recordsOf(to) }, terms);
      const placed = part.taken.map((one) => (one.do === "add" ? { ...one, after: changed.after.get(one.key) } : one));
      expect(placed).toEqual(whole.taken);
      expect([part.conflicts, part.alike]).toEqual([whole.conflicts, whole.alike]);
      expect(part.untouched.length + changed.untouched).toBe(whole.untouched.length);
      expect(changed.isEmpty).toBe(
        mergeRecords({ base: recordsOf(base), from: recordsOf(from), to: recordsOf(base) }).taken.length === 0,
      );
    }),
  );
});

test("a second row of one key is refused on each side, with its place", async () => {
  const twins = sideOf("prod", {});
  twins.seed.rows = [{ code: "a" }, { code: "a", area: 1 }];
  const one = sideOf("dev", { a: {}, b: {} });
  const refusal = /^prod: .*a row before this one has the same natural key; change or remove one$/;
  await expect(ChangedRows.of(twins, one, [])).rejects.toThrow(refusal);
  await expect(ChangedRows.of(one, twins, [])).rejects.toThrow(refusal);
  await expect((await ChangedRows.of(undefined, one, [])).merging(twins)).rejects.toThrow(refusal);
});
