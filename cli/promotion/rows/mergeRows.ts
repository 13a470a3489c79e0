import { keyText } from "../../../provider/reconcile/digests.ts";
import { isSameValue, printableKey, type Cells } from "../../../provider/reconcile/merging/records.ts";
import {
  mergeRecords,
  type Decide,
  type MergeSides,
  type RecordMerge,
} from "../../../provider/reconcile/merging/threeWay.ts";
import { listLinkedLabels } from "../../../provider/sources/source.ts";
import type { PromotionSides } from "../model/model.ts";
import { PromotionError } from "../model/promotionError.ts";
import { compareSides, hasOtherRows } from "./changedRows.ts";
import { findRekeyed, readRekeyed } from "./rekeyed.ts";
import { findHidden, findSeed, type SeedOfSide } from "./rowTables.ts";

/** The merge of a seed's rows. */
export interface RowsMerge extends Omit<RecordMerge, "untouched"> {
  key: readonly string[];
  notes: string[];
  /** Rows in which `to` alone differs from the base. */
  untouched: number;
}

interface Terms {
  conflicts: "cell" | "row";
  decideRow: (key: string) => Decide;
}

/** A seed on each side; the base may have none. */
interface ThreeSeeds {
  was: SeedOfSide | undefined;
  is: SeedOfSide;
  there: SeedOfSide;
}

/** Rows that a merge looks at. */
interface RowsToMerge {
  sides: MergeSides;
  untouched: number;
  after?: ReadonlyMap<string, string>;
}

/** Merges the rows of one seed; undefined where `from` has changed none. `former` is its name at the base. */
export async function mergeRows(
  { from, to, base }: PromotionSides,
  seed: string,
  former: string,
  { conflicts, decideRow }: Terms,
): Promise<RowsMerge | { note: string } | undefined> {
  const is = findSeed(from.declared, seed, from.name);
  const there = findSeed(to.declared, seed, to.name);
  if (!is || !there) return undefined;
  if (findHidden(is.seed) === "all" || findHidden(there.seed) === "all")
    return { note: `rows of ${seed} are sensitive: they are not compared; bring them over yourself` };
  const was = findSeed(base, former, `${from.name} at the base`);
  const linked = new Set([...listLinkedLabels(is.seed), ...listLinkedLabels(there.seed)]);
  const found = await rowsToMerge({ was, is, there }, seed, linked);
  if (!found) return undefined;
  if (found === "emptied") {
    return {
      note: `${from.name} has no rows of ${seed} any more: nothing is removed; remove the seed instead, or the rows in ${to.name} yourself`,
    };
  }
  const labels = [was, is, there].flatMap((side) => (side ? [findHidden(side.seed)] : []));
  const secret = new Set(labels.flatMap((each) => (each === "all" ? [] : [...each])));
  const { sides, after } = found;
  const { key } = is.seed;
  const merge = mergeRecords(
    { base: visible(sides.base, secret), from: visible(sides.from, secret), to: visible(sides.to, secret) },
    {
      conflicts,
      decide: (text, label) => decideRow(printableKey(key, text))(text, label),
      isSame: (label, one, other) =>
        linked.has(label) ? keyText(one) === keyText(other) : isSameValue(label, one, other),
    },
  );
  const taken = merge.taken.map((one) => (one.do === "add" && after ? { ...one, after: after.get(one.key) } : one));
  const notes = hasSecretChange(sides, secret)
    ? [`${[...secret].join(", ")} of ${seed} is secret: it is not compared; bring it over yourself`]
    : [];
  return { ...merge, taken, key, notes, untouched: merge.untouched.length + found.untouched };
}

const nameKey = (side: SeedOfSide | undefined): string | undefined => side?.seed.key.join(" and ");

/** The rows that differ between base and `from`, as each side has them. Throws a PromotionError for keys that don't fit. */
async function rowsToMerge(
  seeds: ThreeSeeds,
  seed: string,
  linked: ReadonlySet<string>,
): Promise<RowsToMerge | "emptied" | undefined> {
  const { is, there } = seeds;
  let { was } = seeds;
  if (was && nameKey(was) !== nameKey(is)) {
    assertOneKey(seeds, seed);
    const former = { was, is, there };
    was = await findRekeyed(former);
    if (!was) {
      const sides = await readRekeyed(former);
      return sides === "emptied" ? sides : { sides, untouched: 0 };
    }
  }
  const changed = await compareSides(was, is, linked);
  if (changed.isEmpty) return undefined;
  assertOneKey(seeds, seed);
  if (changed.isBare) return "emptied";
  const sides = await changed.merging(there);
  return { sides, untouched: changed.untouched, after: changed.after };
}

/** Throws a PromotionError where one side alone has another key. */
function assertOneKey({ was, is, there }: ThreeSeeds, seed: string): void {
  const [before, source, target] = [was, is, there].map(nameKey);
  if (source === target) return;
  const [name, other, key] = target === before ? [is, there, source] : [there, is, target];
  throw new PromotionError(
    `the key of ${seed} is ${source ?? ""} in ${is.side} and ${target ?? ""} in ${there.side}: change it in ${other.side} as in ${name.side} (key: ${key ?? ""}), then promote`,
  );
}

function visible(rows: ReadonlyMap<string, Cells>, secret: ReadonlySet<string>): ReadonlyMap<string, Cells> {
  if (secret.size === 0) return rows;
  const shown = (cells: Cells): Cells =>
    Object.fromEntries(Object.entries(cells).filter(([label]) => !secret.has(label)));
  return new Map([...rows].map(([key, cells]) => [key, shown(cells)]));
}

const hasSecretChange = ({ base, from }: MergeSides, secret: ReadonlySet<string>): boolean =>
  [...from].some(([key, cells]) =>
    [...secret].some((label) => !isSameValue(label, base.get(key)?.[label], cells[label])),
  );

/** True if `to` has something of a seed that is not as at the base: it may not go as a whole. */
export async function hasOwnRows({ to, from, base }: PromotionSides, seed: string, former: string): Promise<boolean> {
  const there = findSeed(to.declared, seed, to.name);
  return there !== undefined && hasOtherRows(findSeed(base, former, `${from.name} at the base`), there);
}
