import type { RequestOf } from "../contract/endpoints.ts";
import { type Row, maxRowsPerInsert } from "../contract/values.ts";
import { isRefusal, ApiError } from "../contract/wire.ts";
import type { CallOptions, Calls } from "./http/call.ts";

type Query = RequestOf<"microappdata">;

/** Which rows to read, and how. */
export interface PagesOptions extends CallOptions {
  /** ID of the data table. */
  microAppID: string;
  /** Conditions by the IDs of fields, as the endpoint takes them (default: none). */
  optSearchFilters?: Query["optSearchFilters"];
  /** True reads the raw internal rows (default false). Exceptional use only. */
  platformFormat?: boolean | undefined;
  /** Rows of one page (default and maximum 10,000). */
  pageSize?: number | undefined;
  /** View filters of the endpoint, such as `{embeddingRowID: parent}` (default: none). */
  optViewFilters?: Record<string, unknown>[] | undefined;
}

/** Highest number of rows that one page is asked for. */
const maxRowsPerPage = 10_000;

/**
 * Reads all rows of a table, page by page; no row comes twice. Pages by keyset on `_id`, so that rows which come or go
 * meanwhile move no others. From a server that ignores order or filter it reads the rest by position, each page
 * overlapping the last by one row, or takes one answer for all where nothing comes behind it. A short page is not the end, since servers have limits of their own. Throws an
 * ApiError `badAnswer` when the server pages in neither way.
 */
export async function* pages(
  client: Calls<"microappdata">,
  options: PagesOptions,
): AsyncGenerator<Row[], void, undefined> {
  const {
    microAppID,
    optViewFilters = [],
    pageSize = maxRowsPerPage,
    optSearchFilters,
    platformFormat,
    ...call
  } = options;
  const limit = Math.min(pageSize, maxRowsPerPage);

  const page: ReadPage = async (skip, after, glance) => {
    const filters = after === undefined ? optViewFilters : [...optViewFilters, { _id: { $gt: after } }];
    const answer = client.microappdata(
      {
        ...{ microAppID, optSearchFilters, platformFormat, optViewSort: { _id: 1 }, optLimit: limit },
        searchFilter: [{ resourceID: microAppID, skip, limit }],
        optViewFilters: filters.length > 0 ? filters : undefined,
      },
      { ...call, glance },
    );
    try {
      return (await answer).microAppRows;
    } catch (error) {
      // A server that refuses the filter gets no other: what comes without it is not what comes next.
      if (after === undefined || !isRefusal(error)) throw error;
      return page(skip);
    }
  };
  const progress: Progress = { seen: new Set(), read: 0, first: undefined, last: undefined };
  if (!(yield* keysetPages(page, limit, progress))) yield* positionPages(page, microAppID, progress);
}

/** Reads one page of the rows after the row `after`, or of all rows, without the first `skip` of them. */
export type ReadPage = (skip: number, after?: string, glance?: CallOptions["glance"]) => Promise<Row[]>;

/** How far a table is read. */
export interface Progress {
  /** IDs of the rows that were read before their order was known. */
  seen: Set<string>;
  read: number;
  first: string | undefined;
  last: string | undefined;
}

/** From this number of ascending rows on, the server is taken to keep the order that it is asked for. */
const noAccident = 20;

/**
 * Pages by keyset on `_id`, as long as every page continues where the last one ended. Returns whether these were all
 * rows; false when the server ignores order or filter.
 */
export async function* keysetPages(
  page: ReadPage,
  limit: number,
  progress: Progress,
): AsyncGenerator<Row[], boolean, undefined> {
  const requests = new PageRequests(page);
  let filters = false; // whether the server is known to filter: filtered rows came in ascending order
  let full = limit; // what the server's pages hold when there is more
  for (let begun = requests.begin(); ;) {
    begun.awaited = true;
    const rows = await begun.rows;
    if (!continues(rows, progress.last)) return false;
    const ahead = await requests.after(begun, rows, full);
    if (rows.length > 0) {
      yield rows;
      // Beyond this number of rows the server is known to keep order and filter.
      if (progress.read < noAccident) for (const { _id } of rows) progress.seen.add(_id);
      progress.read += rows.length;
      filters ||= begun.after !== undefined && progress.read >= noAccident;
      progress.first ??= rows[0]?._id;
      progress.last = rows.at(-1)?._id;
    }
    const { last, read } = progress;
    if (last === undefined) return true;
    if (rows.length === 0 && filters) return true;
    // Perhaps the end, perhaps a server that answers one row at a time.
    const behind = rows.length === 1 && full > 1 && !filters ? await page(read) : undefined;
    if (behind?.length === 0) return true;
    if (behind && continues(behind, last)) full = 1;
    else if (rows.length < full && !filters) {
      // Perhaps the end: ask by position, which needs no filter, for the last row and what comes after it.
      const there = await page(read - 1);
      const unmoved = there[0]?._id === last;
      if (unmoved && there.length === 1) return true;
      if (rows.length === 0) return isNothingAfter(last, there, progress);
      if (unmoved) full = rows.length;
    }
    begun = ahead ?? requests.begin(last);
  }
}

/**
 * Confirms an empty page of a filter, by the rows from the last row's position on. Rows that sort after it prove that
 * the filter does not work. Any others are new, or the first rows again because the server ignores the position.
 */
function isNothingAfter(last: string, there: readonly Row[], { read, first }: Progress): boolean {
  const none = there.length > 0 && !there.some(({ _id }) => _id > last);
  return none && (read >= noAccident || there[0]?._id === first);
}

/** A page that was asked for. */
interface Begun {
  /** ID of the row that it comes after; undefined for the first one. */
  after: string | undefined;
  awaited: boolean;
  /** The next page, asked for while this one is parsed: parsing takes as long as half of a call. */
  next: Begun | undefined;
  rows: Promise<Row[]>;
}

/** Asks for pages before they are needed. */
class PageRequests {
  readonly #page: ReadPage;
  /** True while the ID found in the text of a page has always been that of its last row. */
  #guessing = true;

  constructor(page: ReadPage) {
    this.#page = page;
  }

  /** Asks for the page after a row. Once somebody awaits it, its text is enough to ask for the one after it. */
  begin(after?: string): Begun {
    const look = async (text: string): Promise<void> => {
      const last = lastIn(text);
      if (!begun.awaited || last === undefined) return;
      begun.next = this.begin(last);
      await onItsWay();
    };
    const glance = after !== undefined && this.#guessing ? look : undefined;
    const begun: Begun = { after, awaited: false, next: undefined, rows: this.#page(0, after, glance) };
    begun.rows.catch(() => undefined); // perhaps nobody awaits it
    return begun;
  }

  /** The page after one that is here: a full one is followed by another, which is on its way while this one is worked on. */
  async after(begun: Begun, rows: readonly Row[], full: number): Promise<Begun | undefined> {
    const end = rows.at(-1)?._id;
    if (begun.next?.after === end) return begun.next;
    if (begun.next) this.#guessing = false;
    if (rows.length < full) return undefined;
    const ahead = this.begin(end);
    await onItsWay();
    return ahead;
  }
}

/** Waits until what is due has been done. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    if ("setImmediate" in globalThis) setImmediate(resolve);
    else setTimeout(resolve);
  });

/** A connection that has just brought an answer takes the next request two turns later: no work may come in between. */
async function onItsWay(): Promise<void> {
  await turn();
  await turn();
}

/** Guesses the ID of the last row from the text of an answer. */
function lastIn(text: string): string | undefined {
  const at = text.lastIndexOf('"_id":');
  return at < 0 ? undefined : /^"_id": *"([^"\\]+)"/.exec(text.slice(at, at + 100))?.[1];
}

/** True when rows are in ascending order and all come after the last row read. */
function continues(rows: readonly Row[], last: string | undefined): boolean {
  let before = last;
  for (const { _id } of rows) {
    if (before !== undefined && _id <= before) return false;
    before = _id;
  }
  return true;
}

/** Highest number of times that a table is read from its beginning while its rows keep moving. */
const maxPasses = 5;

/**
 * Reads the remaining pages by position, each overlapping the last by one row. A page that does not begin with that row
 * shows that rows have moved. Throws an ApiError `badAnswer` when they keep moving.
 */
export async function* positionPages(
  page: ReadPage,
  table: string,
  { seen, read, last }: Progress,
): AsyncGenerator<Row[], void, undefined> {
  const sorted = read > seen.size ? last : undefined;
  const isNew = ({ _id }: Row): boolean => !seen.has(_id) && (sorted === undefined || _id > sorted);
  let previous: string | undefined = read > 0 ? last : undefined;
  let single: readonly Row[] | undefined; // the only page of this pass so far
  for (let pass = 1, position = read; pass <= maxPasses;) {
    const rows = await page(Math.max(0, position - 1));
    const moved = position > 0 && rows[0]?._id !== previous;
    if (moved) {
      if (single?.length === position && (await isWhole(page, single))) return;
      // Rows came or went before this place: begin again, for those that were passed over.
      pass++;
      position = 0;
      previous = undefined;
      continue;
    }
    single = position === 0 ? rows : undefined;
    const unread = (position > 0 ? rows.slice(1) : rows).filter(isNew);
    for (const { _id } of unread) seen.add(_id);
    if (unread.length > 0) yield unread;
    const added = position > 0 ? rows.length - 1 : rows.length;
    if (added > 0) {
      position += added;
      previous = rows.at(-1)?._id;
      continue;
    }
    // Perhaps the end, perhaps a server that answers one row at a time.
    const behind = rows.length === 1 ? (await page(position)).filter(isNew) : [];
    if (behind.length === 0) return;
    for (const { _id } of behind) seen.add(_id);
    yield behind;
    position += behind.length;
    previous = behind.at(-1)?._id;
  }
  throw new ApiError({
    code: "badAnswer",
    endpoint: "microappdata",
    message: `The rows of table ${table} can't be read page by page: they change places from one page to the next`,
    hint: "Try again while nobody else changes the table; if it persists, the platform ignores both filter and skip.",
  });
}

/** True if one answer has all rows, in whatever order they come: nothing is behind it, and another answer has the same. */
async function isWhole(page: ReadPage, rows: readonly Row[]): Promise<boolean> {
  if ((await page(rows.length)).length > 0) return false;
  const ids = new Set(rows.map(({ _id }) => _id));
  const others = await page(0);
  return others.length === ids.size && others.every(({ _id }) => ids.has(_id));
}

const encoder = new TextEncoder();

/** Bounds of a batch. */
export interface BatchOptions<Row> {
  /** Highest number of rows of a batch (default 10,000, the most that the platform takes). */
  maxRows?: number;
  /** Highest number of rows of the first batch (default `maxRows`). */
  firstRows?: number;
  /** Highest number of bytes of JSON (default 8 MiB). A larger row makes a batch of its own. */
  maxBytes?: number;
  /** Writes a row as JSON (default `JSON.stringify`). */
  text?: (row: Row) => string;
}

/**
 * Groups rows into batches within the bounds, in the same order. `blocks` brings several rows at a time, since awaiting
 * each row would take longer than all the rest.
 */
export async function* batches<Row>(
  blocks: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  {
    maxRows = maxRowsPerInsert,
    firstRows = maxRows,
    maxBytes = 8 * 1024 * 1024,
    text = JSON.stringify,
  }: BatchOptions<Row> = {},
): AsyncGenerator<Row[], void, undefined> {
  let batch: Row[] = [];
  let bytes = 0;
  let most = firstRows;
  // Nothing here keeps a batch that was taken: whoever waits to send the next one would hold the memory of two.
  const taken = (): Row[] => {
    const full = batch;
    batch = [];
    bytes = 0;
    most = maxRows;
    return full;
  };
  for await (const rows of blocks) {
    for (const row of rows) {
      const size = encoder.encode(text(row)).length + 1; // and a comma
      if (batch.length > 0 && (batch.length >= most || bytes + size > maxBytes)) {
        yield taken();
      }
      batch.push(row);
      bytes += size;
    }
  }
  if (batch.length > 0) yield taken();
}

/**
 * Works on up to `concurrency` items of a source at a time. Takes an item only when there is room for it, so memory
 * stays flat. After a failure, of the work or of the source, takes no more, and rejects with the first one once running
 * work has ended.
 * @param enter waits for room beside other work of the process, before an item is taken; the answer gives it back
 */
export async function inParallel<Item>(
  source: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
  enter: () => Promise<() => void> = () => Promise.resolve(() => undefined),
): Promise<void> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const fail = (error: unknown): void => void failures.push(error);
  /** Answers whether there was one. A function of its own keeps nothing of it while the next one waits for room. */
  const take = async (leave: () => void): Promise<boolean> => {
    const next = await new Promise<IteratorResult<Item>>((resolve) => resolve(items.next())).catch(fail);
    if (!next || next.done) {
      leave();
      return false;
    }
    const one = work(next.value)
      .then(() => undefined, fail)
      .finally(() => {
        running.delete(one);
        leave();
      });
    running.add(one);
    return true;
  };
  while (failures.length === 0 && (await take(await enter()))) {
    if (running.size >= concurrency) await Promise.race(running);
  }
  await items.return?.();
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
