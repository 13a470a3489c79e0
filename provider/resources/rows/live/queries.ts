import type { RequestOf } from "../../../contract/endpoints.ts";
import { isRefusal } from "../../../contract/errors.ts";
import type { Row } from "../../../contract/values.ts";
import type { RowContext } from "./context.ts";

/** IDs that one query asks for. */
const maxIDs = 1_000;
/** Rows of one removal whose cells are kept: they are in memory. */
const maxKept = 100_000;

/** One page of a table. */
export async function page(
  context: RowContext,
  table: string,
  limit: number,
  which: Pick<RequestOf<"microappdata">, "optViewFilters" | "optViewSort">,
): Promise<Row[]> {
  const searchFilter = [{ resourceID: table, skip: 0, limit }];
  const query = { microAppID: table, searchFilter, optLimit: limit, ...which };
  return (await context.client.microappdata(query, context)).microAppRows;
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

/** Keeps the cells of rows that are about to be removed, where a seed may declare them that nobody knows of yet. */
export async function keepCells(context: RowContext, table: string, ids: readonly string[]): Promise<void> {
  const { rowClaims } = context;
  if (!rowClaims.keepsCells || ids.length > maxKept) return;
  for await (const rows of rowsByIDs(context, table, ids)) rowClaims.keepCells(table, rows);
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
