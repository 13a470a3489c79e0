import { keyText } from "../../provider/reconcile/digests.ts";
import {
  isSameRecord,
  isSameValue,
  naturalKey,
  printableKey,
  rekeyBase,
  type Cells,
} from "../../provider/reconcile/merging/records.ts";
import { mergeRecords, type Decide, type RecordMerge } from "../../provider/reconcile/merging/threeWay.ts";
import { listLinkedLabels } from "../../provider/sources/source.ts";
import type { PromotionSides } from "./model/model.ts";
import { PromotionError } from "./model/promotionError.ts";
import { findHidden, readTable, type RowTable } from "./rowTables.ts";

/** The merge of a seed's rows. */
export interface RowsMerge extends RecordMerge {
  key: readonly string[];
  notes: string[];
}

interface Terms {
  conflicts: "cell" | "row";
  decideRow: (key: string) => Decide;
}

/** Merges the rows of one seed; undefined where nobody may compare them. `former` is its name at the base. */
export async function mergeRows(
  sides: PromotionSides,
  seed: string,
  former: string,
  { conflicts, decideRow }: Terms,
): Promise<RowsMerge | { note: string } | undefined> {
  const { from, to, base } = sides;
  const [source, target] = [from, to].map(({ declared }) => declared.declaration.seeds[seed]);
  if (!source || !target) return undefined;
  if (findHidden(source) === "all" || findHidden(target) === "all")
    return { note: `rows of ${seed} are sensitive: they are not compared; bring them over yourself` };
  const was = await readTable(base, former, `${from.name} at the base`);
  const is = await readTable(from.declared, seed, from.name, was);
  if (!is || hasSameRows(was, is)) return undefined;
  const there = await readTable(to.declared, seed, to.name, was);
  if (!there) return undefined;
  const labels = [was, is, there].flatMap((table) => (table ? [findHidden(table.seed)] : []));
  const secret = new Set(labels.flatMap((each) => (each === "all" ? [] : [...each])));
  const linked = new Set([...listLinkedLabels(is.seed), ...listLinkedLabels(there.seed)]);
  const rows = keyedAlike(was, is, there, { seed, from: from.name, to: to.name });
  const notes: string[] = [];
  if (is.rows.size === 0 && (was?.rows.size ?? 0) > 0) {
    return {
      note: `${from.name} has no rows of ${seed} any more: nothing is removed; remove the seed instead, or the rows in ${to.name} yourself`,
    };
  }
  const merge = mergeRecords(
    { base: visible(rows, secret), from: visible(is.rows, secret), to: visible(there.rows, secret) },
    {
      conflicts,
      decide: (key, label) => decideRow(printableKey(is.key, key))(key, label),
      isSame: (label, one, other) =>
        linked.has(label) ? keyText(one) === keyText(other) : isSameValue(label, one, other),
    },
  );
  if (secret.size > 0 && hasSecretChange(rows, is.rows, secret))
    notes.push(`${[...secret].join(", ")} of ${seed} is secret: it is not compared; bring it over yourself`);
  return { ...merge, key: is.key, notes };
}

/** True where nothing of a seed has changed since the base; the source alone may stand elsewhere. */
const hasSameRows = (was: RowTable | undefined, is: RowTable): boolean => {
  if (!was || was.rows.size !== is.rows.size || was.key.join("\0") !== is.key.join("\0")) return false;
  for (const [key, cells] of is.rows) {
    const before = was.rows.get(key);
    if (!before || !isSameRecord(before, cells, isSameValue)) return false;
  }
  return true;
};

/** The base by the key of both sides. Throws a PromotionError where one side alone has another key. */
function keyedAlike(
  was: RowTable | undefined,
  is: RowTable,
  there: RowTable,
  names: { seed: string; from: string; to: string },
): ReadonlyMap<string, Cells> {
  const [before, source, target] = [was, is, there].map((table) => table?.key.join(" and "));
  if (source !== target) {
    const [name, other, key] = target === before ? [names.from, names.to, source] : [names.to, names.from, target];
    throw new PromotionError(
      `the key of ${names.seed} is ${source ?? ""} in ${names.from} and ${target ?? ""} in ${names.to}: change it in ${other} as in ${name} (key: ${key ?? ""}), then promote`,
    );
  }
  if (!was || before === source) return was?.rows ?? new Map();
  return rekeyBase({ key: was.key, rows: was.rows.values() }, is.key, [
    { key: is.key, rows: is.rows.values() },
    { key: there.key, rows: there.rows.values() },
  ]);
}

function visible(rows: ReadonlyMap<string, Cells>, secret: ReadonlySet<string>): ReadonlyMap<string, Cells> {
  if (secret.size === 0) return rows;
  const shown = (cells: Cells): Cells =>
    Object.fromEntries(Object.entries(cells).filter(([label]) => !secret.has(label)));
  return new Map([...rows].map(([key, cells]) => [key, shown(cells)]));
}

const hasSecretChange = (
  was: ReadonlyMap<string, Cells>,
  is: ReadonlyMap<string, Cells>,
  secret: ReadonlySet<string>,
): boolean =>
  [...is].some(([key, cells]) => [...secret].some((label) => !isSameValue(label, was.get(key)?.[label], cells[label])));

/** True if `to` has nothing of a seed that is not as at the base: it may go as a whole. */
export async function hasOwnRows({ to, from, base }: PromotionSides, seed: string, former: string): Promise<boolean> {
  const was = await readTable(base, former, `${from.name} at the base`);
  const there = await readTable(to.declared, seed, to.name);
  if (!there) return false;
  return [...there.rows.values()].some((cells) => {
    const key = naturalKey(was?.key ?? there.key, cells);
    const before = key === undefined ? undefined : was?.rows.get(key);
    return !before || !isSameRecord(before, cells, isSameValue);
  });
}
