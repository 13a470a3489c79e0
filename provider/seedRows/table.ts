import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { pages, type PagesOptions } from "../../platform/client/lists.ts";
import type { RequestOf } from "../../platform/contract/endpoints.ts";
import { maxRowsPerInsert, type Row } from "../../platform/contract/values.ts";
import { isRefusal, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import type { Context } from "../resources/resource.ts";
import { Capacity } from "./locks.ts";

/** Rows that are in memory at a time, whichever seeds they belong to: as many as one large seed needs. */
export const room = {
  reading: new Capacity(2 * maxRowsPerInsert),
  writing: new Capacity(4 * maxRowsPerInsert),
};

/** Rows of large seeds that are applied at a time: of each the digests are looked up, and a part of its file is here. */
const applied = new Capacity(40 * maxRowsPerInsert);

/** Waits until a seed of so many rows may be applied; a small one waits for none. The answer ends its turn. */
export const beginTurn = async (rows: number, signal: AbortSignal | undefined): Promise<() => void> =>
  rows > maxRowsPerInsert ? applied.enter(rows, signal) : () => undefined;

/** After so many pages others have their turn. */
const pagesOfATurn = 10;

/**
 * All rows of a table, page by page. Takes room for a page of it, so whoever works on a page must not wait for others who
 * read.
 * @param expected about how many rows there are
 * @param which some of them, of which no other reader is served
 */
export async function* rowsOf(
  context: Context,
  table: string,
  expected: number,
  which?: Pick<PagesOptions, "optViewFilters" | "pageSize">,
): AsyncGenerator<Row[]> {
  const { client, tables, signal, onCall, onWait, fromCache } = context;
  const part = Math.min(expected, maxRowsPerInsert);
  let leave = await room.reading.enter(part, signal);
  try {
    let read = 0;
    const call = { signal, onCall, onWait };
    const request = { microAppID: table, ...which, ...call };
    for await (const page of fromCache && !which ? tables.read(table, call) : pages(client, request)) {
      yield page;
      if (++read % pagesOfATurn > 0) continue;
      leave();
      leave = await room.reading.enter(part, signal);
    }
  } finally {
    leave();
  }
}

/** Rows that a table is taken to have of which nobody knows how many there are. */
export const aTable = 2_500;

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
export async function hasRows(context: Context, table: string, count: number): Promise<boolean> {
  if (count === 0) return false;
  return (await page(context, table, 2, { optViewSort: { _id: 1 } }, count - 1)).length === 1;
}

/** Rows by their IDs, in one query; undefined from a server that does not know the filter, or does not go by it. */
export async function rowsByID(context: Context, table: string, ids: readonly string[]): Promise<Row[] | undefined> {
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
export async function oneByOne(context: Context, ids: readonly string[]): Promise<Row[]> {
  const { client, ...call } = context;
  const read = await Promise.all(ids.map((rowID) => orUndefinedIfNotFound(client.microappdataRow({ rowID }, call))));
  return read.flatMap((answer) => answer?.currentRow ?? []);
}

/** A row by its ID, as the whole table shows it. */
export async function rowIn(context: Context, table: string, rowID: string): Promise<Row | undefined> {
  for await (const rows of rowsOf(context, table, 1)) {
    const row = rows.find(({ _id }) => _id === rowID);
    if (row) return row;
  }
  return undefined;
}

/** A row by its ID; undefined also where a platform finds rows by their IDs in no query. */
export async function rowByID(context: Context, table: string, rowID: string): Promise<Row | undefined> {
  // In the form in which tables are read: that of a single row may be another one.
  const found = (await rowsByID(context, table, [rowID]))?.find(({ _id }) => _id === rowID);
  if (found) return found;
  const { currentRow } = (await orUndefinedIfNotFound(context.client.microappdataRow({ rowID }, context))) ?? {};
  return currentRow?._id === undefined ? undefined : currentRow; // the row that was asked for, however its ID is spelled
}

/** Removes a row, which may be gone; answers undefined then. */
export const removeRow = ({ client, ...call }: Context, rowID: string) =>
  orUndefinedIfNotFound(client.removemicroapprow({ rowID }, call));

/** Seconds before there is a rate. */
const enough = 2;

/** How far a long piece of work is, for people: `4,000 of 10,000 rows written, 2,000/s, 3 s left`. */
export class ProgressRate {
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #now: () => number;
  readonly #began: number;
  #done = 0;

  /** @param total how many there are, if that is known */
  constructor(what: string, now: () => number, total?: number) {
    this.#what = what;
    this.#total = total;
    this.#now = now;
    this.#began = now();
  }

  /** Adds to the count; answers how far the work is. */
  add(count: number): string {
    this.#done += count;
    const seconds = (this.#now() - this.#began) / 1000;
    const of = this.#total === undefined ? "" : ` of ${numbered(this.#total)}`;
    const what = (this.#total ?? this.#done) === 1 ? this.#what.replace(/^(\w+)s\b/, "$1") : this.#what;
    const text = `${numbered(this.#done)}${of} ${what}`;
    if (seconds < enough) return text;
    const rate = this.#done / seconds;
    const left = this.#total === undefined ? "" : `, ${Math.ceil((this.#total - this.#done) / rate)} s left`;
    return `${text}, ${numbered(Math.round(rate))}/s${left}`;
  }
}

/** As `toLocaleString("en")` does it, which takes 10 ms the first time. */
const numbered = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
