import type { ApiError } from "../../../platform/contract/errors.ts";
import { formatCount, printableLine, quote, some } from "../../../platform/messages/text.ts";
import { keyOf } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { rowsOf, type RowContext } from "../live/context.ts";
import { oneByOne, rowsByID } from "../live/queries.ts";

/** IDs that one query asks for, and removed rows that are looked for. */
const limits = { query: 1_000, rows: 10_000 };

/**
 * Looks for rows that the platform has answered to have removed; returns the IDs of those that are still there. Where no
 * query finds rows by their IDs, the whole table is read.
 * @param unsure true where one was not found by the ID that a list gave it
 */
export async function findRemoved(
  context: RowContext,
  table: string,
  ids: readonly string[],
  unsure = false,
): Promise<Set<string>> {
  if (unsure) return rowsAmong(context, table, new Set(ids));
  const there = new Set<string>();
  const looked = ids.slice(0, limits.rows);
  for (let at = 0; at < looked.length; at += limits.query) {
    const found = await rowsByID(context, table, looked.slice(at, at + limits.query));
    if (!found) return rowsAmong(context, table, new Set(ids));
    for (const { _id } of found) there.add(_id);
  }
  return there;
}

/** Those of some IDs that rows of a table have. */
async function rowsAmong(context: RowContext, table: string, ids: ReadonlySet<string>): Promise<Set<string>> {
  const there = new Set<string>();
  for await (const rows of rowsOf(context, table, ids.size))
    for (const { _id } of rows) if (ids.has(_id)) there.add(_id);
  return there;
}

/** Calls that looking for removed rows takes. */
export const callsToFind = (removals: number): number => Math.ceil(Math.min(removals, limits.rows) / limits.query);

export const stillThere = (table: string, ids: ReadonlySet<string>): string =>
  `${formatCount(ids.size, "row")} of table ${table} that the platform answered to have removed ${ids.size === 1 ? "is" : "are"} still there ` +
  `(rowID ${some([...ids], 5)}): run up again; if they stay, remove them on the platform, and if it shows changes late, set consistencySeconds`;

/** Names rows that the platform refuses to remove, by key and ID, once for each reason. */
export async function describeRefusedRemovals(
  context: RowContext,
  { table, key, sensitive, secretLabels = [] }: RowTarget,
  refused: ReadonlyMap<string, ApiError>,
): Promise<string[]> {
  const reasons = Map.groupBy(refused.keys(), (id) => printableLine(refused.get(id)?.platformMessage ?? ""));
  const sentences: string[] = [];
  for (const [reason, ids] of reasons) {
    const first = ids.slice(0, 5);
    const rows = new Map((await oneByOne(context, first)).map((row) => [row._id, row]));
    const isSecret = sensitive === true || key.some((label) => secretLabels.includes(label));
    const named = first.map((id) => {
      const row = isSecret ? undefined : rows.get(id);
      return row ? `${quote(keyOf(key, row))} (rowID ${id})` : `rowID ${id}`;
    });
    const more = ids.length > first.length ? ` and ${ids.length - first.length} more` : "";
    sentences.push(`table ${table}: the platform does not remove ${named.join(", ")}${more}: ${reason}`);
  }
  return sentences;
}
