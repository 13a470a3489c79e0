import { setImmediate as turn } from "node:timers/promises";
import type { RequestOf } from "../../contract/endpoints.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Row } from "../../contract/values.ts";
import type { CallOptions, Client } from "../client.ts";

type Query = RequestOf<"microappdata">;

/** Which rows to read, and how. */
export interface PagesOptions extends CallOptions, Pick<Query, "microAppID" | "optSearchFilters" | "platformFormat"> {
  /** Rows to ask for at a time. */
  pageSize?: number | undefined;
  /** Filters of the endpoint, such as `{embeddingRowID: parent}`. */
  optViewFilters?: Record<string, unknown>[] | undefined;
}

/** Most rows that one page is asked for. */
const maxRowsPerPage = 10_000;

/** So many rows in ascending order are no accident: the server keeps the order that it is asked for. */
const noAccident = 20;

/** How often a table is read from its beginning when its rows keep moving. */
const maxPasses = 5;

/**
 * All rows of a table, page by page: by keyset on `_id`, so that rows which come or go meanwhile move no others. A
 * server that ignores order or filter is found out, and the rest is then read by position, each page overlapping the
 * last by one row. A short page is not the end, since servers have limits of their own. No row comes twice. Throws an
 * ApiError `badAnswer` when the server pages in neither way.
 */
export async function* pages(client: Client, options: PagesOptions): AsyncGenerator<Row[], void, undefined> {
  const { microAppID, optSearchFilters, optViewFilters = [], platformFormat, signal, timeout, onCall } = options;
  const limit = Math.min(options.pageSize ?? maxRowsPerPage, maxRowsPerPage);

  async function page(skip: number, after?: string, glance?: CallOptions["glance"]): Promise<Row[]> {
    const filters = after === undefined ? optViewFilters : [...optViewFilters, { _id: { $gt: after } }];
    const { microAppRows } = await client.microappdata(
      {
        microAppID,
        searchFilter: [{ resourceID: microAppID, skip, limit }],
        optLimit: limit,
        optViewSort: { _id: 1 },
        ...(filters.length > 0 ? { optViewFilters: filters } : {}),
        ...(optSearchFilters ? { optSearchFilters } : {}),
        ...(platformFormat === undefined ? {} : { platformFormat }),
      },
      { signal, timeout, onCall, glance },
    );
    return microAppRows;
  }

  let guessing = true;
  /** Asks for the page after a row. Once somebody awaits it, its text is enough to ask for the one after it. */
  function begin(after?: string): Begun {
    const begun: Begun = {
      after,
      awaited: false,
      next: undefined,
      rows: page(0, after, after !== undefined && guessing ? look : undefined),
    };
    async function look(text: string): Promise<void> {
      const last = lastIn(text);
      if (!begun.awaited || last === undefined) return;
      begun.next = begin(last);
      await onItsWay();
    }
    begun.rows.catch(() => undefined); // nobody may come for it
    return begun;
  }

  // By keyset, as long as every page continues where the last one ended.
  const seen = new Set<string>();
  let first: string | undefined;
  let last: string | undefined;
  let read = 0;
  let filters = false; // whether the server is known to filter: rows came by it, in an order that is no accident
  let full = limit; // what the server's pages hold when there is more
  for (let begun = begin(); ;) {
    begun.awaited = true;
    const rows = await begun.rows;
    if (!continues(rows, last)) break;
    // A full page is followed by another one, which is on its way while this one is worked on.
    const end = rows.at(-1)?._id;
    let ahead = begun.next?.after === end ? begun.next : undefined;
    if (begun.next && !ahead) guessing = false;
    if (rows.length >= full && !ahead) {
      ahead = begin(end);
      await onItsWay();
    }
    if (rows.length > 0) {
      yield rows;
      // Once a page has continued so many, the server is known to keep order and filter.
      if (read < noAccident) for (const { _id } of rows) seen.add(_id);
      read += rows.length;
      filters ||= begun.after !== undefined && read >= noAccident;
      first ??= rows[0]?._id;
      last = end;
    }
    if (last === undefined) return;
    if (rows.length === 0 && filters) return;
    if (rows.length < full && !filters) {
      // Perhaps the end: ask by position, which needs no filter, for the last row and what comes after it.
      const there = await page(read - 1);
      const unmoved = there[0]?._id === last;
      if (unmoved && there.length === 1) return;
      if (rows.length === 0) {
        // The filter finds nothing more. Rows that sort after the last one say that it does not work. Otherwise some
        // came meanwhile, or these are the beginning again because the position is ignored.
        const none = there.length > 0 && !there.some(({ _id }) => _id > (last ?? ""));
        if (none && (read >= noAccident || there[0]?._id === first)) return;
        break;
      }
      if (unmoved) full = rows.length;
    }
    begun = ahead ?? begin(last);
  }

  // By position.
  const sorted = read > seen.size ? last : undefined;
  const isNew = ({ _id }: Row): boolean => !seen.has(_id) && (sorted === undefined || _id > sorted);
  let previous: string | undefined = read > 0 ? last : undefined;
  for (let pass = 1, position = read; pass <= maxPasses;) {
    const rows = await page(Math.max(0, position - 1));
    const moved = position > 0 && rows[0]?._id !== previous;
    if (moved) {
      // Rows came or went before this place: begin again, for those that were passed over.
      pass++;
      position = 0;
      previous = undefined;
      continue;
    }
    const unread = (position > 0 ? rows.slice(1) : rows).filter(isNew);
    for (const { _id } of unread) seen.add(_id);
    if (unread.length > 0) yield unread;
    const added = position > 0 ? rows.length - 1 : rows.length;
    if (added <= 0) return;
    position += added;
    previous = rows.at(-1)?._id;
  }
  throw new ApiError({
    code: "badAnswer",
    endpoint: "microappdata",
    message: `The rows of table ${microAppID} can't be read page by page: they change places from one page to the next`,
    hint: "Try again while nobody else changes the table; if it persists, the platform ignores both filter and skip.",
  });
}

/** A page that was asked for. */
interface Begun {
  /** ID of the row that it comes after; undefined for the first one. */
  after: string | undefined;
  awaited: boolean;
  /** The page after it, when its text has told where that begins: parsing takes as long as half of a call. */
  next: Begun | undefined;
  rows: Promise<Row[]>;
}

/** A connection that has just brought an answer takes the next request two turns later: no work may come in between. */
async function onItsWay(): Promise<void> {
  await turn();
  await turn();
}

/** ID of the last row in the text of an answer, as far as text can tell. */
function lastIn(text: string): string | undefined {
  const at = text.lastIndexOf('"_id":');
  return at < 0 ? undefined : /^"_id": *"([^"\\]+)"/.exec(text.slice(at, at + 100))?.[1];
}

/** Whether rows are in ascending order and all of them come after the last one that was read. */
function continues(rows: readonly Row[], last: string | undefined): boolean {
  let before = last;
  for (const { _id } of rows) {
    if (before !== undefined && _id <= before) return false;
    before = _id;
  }
  return true;
}
