import { randomBytes } from "node:crypto";
import { rowDigester, saltOf, type Content, type Digest } from "../../../provider/reconcile/digests.ts";
import { rekeyBase, type Cells } from "../../../provider/reconcile/merging/records.ts";
import type { MergeSides } from "../../../provider/reconcile/merging/threeWay.ts";
import { RowSet } from "../../../provider/reconcile/rowSet.ts";
import { readRows, readTable, type SeedOfSide } from "./rowTables.ts";

/** A base under another key than its two sides have by now. */
interface RekeyedSeeds {
  was: SeedOfSide;
  is: SeedOfSide;
  there: SeedOfSide;
}

const contentOf = ({ high, low }: Digest): Content => ({ high, low, third: 0, fourth: 0 });

/**
 * The base under the key that both sides have by now, to be read like any other; undefined where a row of it has no value
 * of that key, or where a side gave the row of a former key another one: then all rows are held against each other.
 */
export async function findRekeyed({ was, is, there }: RekeyedSeeds): Promise<SeedOfSide | undefined> {
  const salt = saltOf(randomBytes(16));
  const keyFor = (key: readonly string[]): ((cells: Cells) => Digest | undefined) =>
    rowDigester({ key, labels: [], salt }).key;
  const [formerOf, nowOf] = [keyFor(was.seed.key), keyFor(is.seed.key)];
  const [byFormer, byNow] = [new RowSet(), new RowSet()];
  for await (const rows of readRows(was)) {
    for (const { cells } of rows) {
      const [former, now] = [formerOf(cells), nowOf(cells)];
      if (!former || !now || byNow.add(now) !== undefined) return undefined;
      if (byFormer.add(former, contentOf(now)) !== undefined) return undefined;
    }
  }
  for (const side of [is, there]) {
    for await (const rows of readRows(side)) {
      for (const { cells } of rows) {
        const [former, now] = [formerOf(cells), nowOf(cells)];
        const index = former && byFormer.find(former);
        if (now && index !== undefined && !byFormer.hasContent(index, contentOf(now))) return undefined;
      }
    }
  }
  return { ...was, key: is.seed.key };
}

/** All rows of all sides by the key that both have by now. */
export async function readRekeyed({ was, is, there }: RekeyedSeeds): Promise<MergeSides | "emptied"> {
  const before = await readTable(was);
  const [from, to] = [await readTable(is), await readTable(there)];
  if (from.size === 0 && before.size > 0) return "emptied";
  const { key } = is.seed;
  const others = [from, to].map((rows) => ({ key, rows: rows.values() }));
  return { base: rekeyBase({ key: was.seed.key, rows: before.values() }, key, others), from, to };
}
