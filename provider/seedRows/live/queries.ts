import type { CallOptions, Calls } from "../../../platform/client/http/call.ts";
import type { RequestOf } from "../../../platform/contract/endpoints.ts";
import { isRefusal, orUndefinedIfNotFound } from "../../../platform/contract/errors.ts";
import type { Row } from "../../../platform/contract/values.ts";
import { rowsOf, type RowContext } from "./context.ts";

/** IDs that one query asks for. */
const maxIDs = 1_000;

/** One page of a table, from its first row on unless some are skipped. */
export async function page(
  context: CallOptions & { client: Calls<"microappdata"> },
  table: string,
  limit: number,
  which: Pick<RequestOf<"microappdata">, "optViewFilters" | "optViewSort">,
  skip = 0,
): Promise<Row[]> {
  const searchFilter = [{ resourceID: table, skip, limit }];
  const query = { microAppID: table, searchFilter, optLimit: limit, ...which };
  return (await context.client.microappdata(query, context)).microAppRows;
}

/** True if a table has exactly so many rows, in one query. False as well from a server that skips none. */
export async function hasRows(context: RowContext, table: string, count: number): Promise<boolean> {
  if (count === 0) return false;
  return (await page(context, table, 2, { optViewSort: { _id: 1 } }, count - 1)).length === 1;
}

/** Rows by their IDs, in one query; undefined from a server that does not know the filter, or does not go by it. */
export async function rowsByID(context: RowContext, table: string, ids: readonly string[]): Promise<Row[] | undefined> {
  try {
    const found = await page(context, table, ids.length, { optViewFilters: [{ _id: { $in: [...ids] } }] });
    const asked = new Set(ids);
    return found.every(({ _id }) => asked.has(_id)) ? found : undefined;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Rows by their IDs, a call each. */
export async function oneByOne(context: RowContext, ids: readonly string[]): Promise<Row[]> {
  const { client, ...call } = context;
  const read = await Promise.all(ids.map((rowID) => orUndefinedIfNotFound(client.microappdataRow({ rowID }, call))));
  return read.flatMap((answer) => answer?.currentRow ?? []);
}

/**
 * All of the rows with these IDs that are there, in pages: servers may ignore the filter, and may not read a single row. What
 * neither finds is looked for in the whole table before it counts as gone.
 */
export async function* rowsByIDs(context: RowContext, table: string, ids: readonly string[]): AsyncGenerator<Row[]> {
  const left = new Set(ids);
  const taken = (rows: readonly Row[]): Row[] => rows.filter(({ _id }) => left.delete(_id));
  for (let at = 0; at < ids.length; at += maxIDs) {
    const asked = ids.slice(at, at + maxIDs);
    yield taken((await rowsByID(context, table, asked)) ?? []);
    const unseen = asked.filter((id) => left.has(id));
    if (unseen.length > 0) yield taken(await oneByOne(context, unseen));
  }
  if (left.size === 0) return;
  for await (const rows of rowsOf(context, table, ids.length)) yield taken(rows);
}
