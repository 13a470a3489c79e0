import type { RequestOf } from "../../../contract/endpoints.ts";
import { isRefusal } from "../../../contract/errors.ts";
import type { Row } from "../../../contract/values.ts";
import type { RowContext } from "./context.ts";

/** IDs that one query asks for. */
const maxIDs = 1_000;

/** One page of a table, from its first row on unless some are skipped. */
export async function page(
  context: RowContext,
  table: string,
  limit: number,
  which: Pick<RequestOf<"microappdata">, "optViewFilters" | "optViewSort">,
  skip = 0,
): Promise<Row[]> {
  const searchFilter = [{ resourceID: table, skip, limit }];
  const query = { microAppID: table, searchFilter, optLimit: limit, ...which };
  return (await context.client.microappdata(query, context)).microAppRows;
}

/** Whether a table has exactly so many rows, in one query. False as well from a server that skips none. */
export async function hasRows(context: RowContext, table: string, count: number): Promise<boolean> {
  if (count === 0) return false;
  return (await page(context, table, 2, { optViewSort: { _id: 1 } }, count - 1)).length === 1;
}

/** Rows by their IDs, in one query; none from a server that does not know the filter. */
export async function rowsByID(context: RowContext, table: string, ids: readonly string[]): Promise<Row[]> {
  try {
    return await page(context, table, ids.length, { optViewFilters: [{ _id: { $in: [...ids] } }] });
  } catch (error) {
    if (isRefusal(error)) return []; // a filter that is not known
    throw error;
  }
}

/** Rows by their IDs, a call each. */
export async function oneByOne({ client, ...call }: RowContext, ids: readonly string[]): Promise<Row[]> {
  const read = await Promise.all(ids.map((rowID) => client.microappdataRow({ rowID }, call)));
  return read.flatMap(({ currentRow }) => currentRow ?? []);
}

/** All of the rows with these IDs that are there, in pages: servers may ignore the filter. */
export async function* rowsByIDs(context: RowContext, table: string, ids: readonly string[]): AsyncGenerator<Row[]> {
  for (let at = 0; at < ids.length; at += maxIDs) {
    const wanted = new Set(ids.slice(at, at + maxIDs));
    const found = (await rowsByID(context, table, [...wanted])).filter(({ _id }) => wanted.delete(_id));
    yield found;
    if (wanted.size > 0) yield await oneByOne(context, [...wanted]);
  }
}
