import type { Row } from "../../contract/values.ts";
import type { CallOptions } from "../http/call.ts";

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
