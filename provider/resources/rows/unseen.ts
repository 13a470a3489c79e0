import { formatCount, quote, some } from "../../messages/text.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import { keysOf, type RowDeclaration, type Summary } from "./declared/declaration.ts";
import type { Applied } from "./writing/steps.ts";

/** Rows that a message names. */
const maxNamed = 20;

/**
 * Carries out a plan without the rows that have changed since its approval: each stays unchanged, and makes the run
 * fail once all else is done. The state learns their live content, as from a refresh: the next report starts from it.
 */
export async function applyWithoutUnseen(
  { directory }: { directory: string },
  seed: RowDeclaration & { table: string; sensitive?: boolean | undefined },
  { unseen }: RowPlan,
  { rows }: Summary,
  work: () => Promise<Applied>,
): Promise<Applied> {
  const applied = await work();
  const { wanted, contents, removals } = unseen;
  const count = wanted.length + removals.length;
  if (count === 0) return applied;
  const undone = new RowIndices(rows.length);
  for (let index = 0; index < rows.length; index++) if (applied.undone.wanted.has(index)) undone.add(index);
  const [found, lacking] = [new Map(applied.undone.found), new RowIndices(rows.length)];
  for (let index = 0; index < rows.length; index++) if (applied.undone.lacking.has(index)) lacking.add(index);
  for (const index of wanted) {
    undone.add(index);
    const content = contents.get(index);
    if (content === undefined) lacking.add(index);
    else found.set(index, content);
  }
  const keys = seed.sensitive || wanted.length === 0 ? [] : await keysOf(seed, directory, new Set(wanted));
  const named = keys.length > 0 ? ` (${some(keys.map(quote), maxNamed)})` : "";
  const leaving = removals.length === 0 ? "" : `, ${removals.length} of them to be removed`;
  const failure =
    `not as they were when this was approved, and left alone: ${formatCount(count, "row")} of table ${seed.table}${named}${leaving}: ` +
    `make a report of what is there now, and have that approved: a run with it writes them`;
  return {
    ...applied,
    undone: { found, lacking, wanted: undone, removals: [...applied.undone.removals, ...removals] },
    failures: [...applied.failures, failure],
  };
}

/** Reports the rows that stay when their seed goes, since they were edited after the report was approved. */
export function unseenStay({ table }: { table: string }, { unseen: { removals } }: RowPlan): string {
  const [count, them] = [removals.length, removals.length === 1 ? "it" : "them"];
  return (
    `table ${table}: ${formatCount(count, "row")} edited by hand since this was approved ${count === 1 ? "stays" : "stay"}: ` +
    `the seed goes without ${them}. Remove ${them} by hand where that is meant`
  );
}
