import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { isLong } from "../../testing/harness/drawn.ts";
import { digestOf, rowDigester, type RowDigests } from "./digests.ts";
import { ledgerOf } from "./ledger.ts";
import { LiveRows } from "./liveRows.ts";
import { Renewal } from "./renewal.ts";
import { planRows, type RowOptions } from "./rows.ts";
import { RowSet } from "./rowSet.ts";

const digester = (salt: string | undefined) => rowDigester({ key: ["k"], labels: ["k", "v"], salt });
const [old, now] = [digester(undefined), digester("2:salt")];
type Row = [key: number, value: number];
const digests = (by: typeof old, [k, v]: Row): RowDigests => {
  const row = { k: `k${k}`, v: `v${v}` };
  return { key: by.key(row) ?? digestOf(""), content: by.content(row) };
};
const setOf = (by: typeof old, rows: readonly Row[]): RowSet => RowSet.of(rows.map((row) => digests(by, row)));

const rows = (most: number) =>
  fc.uniqueArray(fc.tuple(fc.nat(most), fc.nat(2)), { selector: ([key]) => key, maxLength: most });
const cases = fc.record({
  /** Rows that are the same everywhere, so that a ledger of them all is a list or a sketch. */
  base: fc.constantFrom(0, 5_000),
  applied: rows(12),
  wanted: rows(12),
  live: fc.array(fc.tuple(fc.nat(12), fc.nat(2)), { maxLength: 16 }),
  mode: fc.constantFrom("exact" as const, "upsert" as const, "insertOnly" as const),
  onConflict: fc.constantFrom("overwrite" as const, "keepLive" as const, "error" as const),
});

test("what was applied under another salt is recognised: the plan is the one that the same salt gives", () => {
  fc.assert(
    fc.property(cases, ({ base, applied, wanted, live, mode, onConflict }) => {
      const common = Array.from({ length: base }, (_, at): Row => [100 + at, 0]);
      const ledger = ledgerOf(setOf(old, [...common, ...applied]));
      const [before, after] = [setOf(old, [...common, ...wanted]), setOf(now, [...common, ...wanted])];
      const options: RowOptions = { mode, onConflict, adopt: false, maxRemovals: 1 };
      const same = new LiveRows(before, ledger);
      const renewed = new LiveRows(after, undefined);
      const renewal = Renewal.of(after, before, ledger);
      if (!renewal) throw new Error("not decoded");
      for (const [index, row] of [...common, ...live].entries()) {
        const [was, is] = [digests(old, row), digests(now, row)];
        same.add(`id${index}`, was);
        renewed.add(`id${index}`, is);
        renewal.observe(was, is);
      }
      const told = ({ remove, last: _, ...plan }: ReturnType<typeof planRows>) => ({
        ...plan,
        remove: remove.map(({ id }) => id),
      });
      expect(told(planRows(after, renewal, renewed, options))).toEqual(told(planRows(before, ledger, same, options)));
    }),
    { numRuns: isLong ? 60 : 15 },
  );
});
