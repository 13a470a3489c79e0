import { formatCount, some } from "../../../messages/text.ts";
import { rowsOf, type RowContext } from "../live/context.ts";
import { rowsByID } from "../live/queries.ts";

/** IDs that one query asks for, and removed rows that are looked for. */
const limits = { query: 1_000, rows: 10_000 };

/**
 * Looks for rows that the platform has answered to have removed; returns the IDs of those that are still there. Where no
 * query finds rows by their IDs, the whole table is read.
 */
export async function findRemoved(context: RowContext, table: string, ids: readonly string[]): Promise<Set<string>> {
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
  `(rowID ${some([...ids], 5)}): run up again, and if they stay, remove them on the platform`;
