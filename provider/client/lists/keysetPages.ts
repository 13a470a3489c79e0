import { setImmediate as turn } from "node:timers/promises";
import type { Row } from "../../contract/values.ts";
import type { CallOptions } from "../http/call.ts";

/** Asks for one page: of the rows after a row when one is named, else of all; without the first `skip` of them. */
export type ReadPage = (skip: number, after?: string, glance?: CallOptions["glance"]) => Promise<Row[]>;

/** What is read of a table so far. */
export interface Progress {
  /** IDs of the first rows, and of all as long as nothing is known of their order. */
  seen: Set<string>;
  read: number;
  first: string | undefined;
  last: string | undefined;
}

/** So many rows in ascending order are no accident: the server keeps the order that it is asked for. */
const noAccident = 20;

/**
 * Pages by keyset on `_id`, as long as every page continues where the last one ended. Answers whether that was all: not
 * when the server ignores order or filter.
 */
export async function* keysetPages(
  page: ReadPage,
  limit: number,
  progress: Progress,
): AsyncGenerator<Row[], boolean, undefined> {
  const requests = new PageRequests(page);
  let filters = false; // whether the server is known to filter: rows came by it, in an order that is no accident
  let full = limit; // what the server's pages hold when there is more
  for (let begun = requests.begin(); ;) {
    begun.awaited = true;
    const rows = await begun.rows;
    if (!continues(rows, progress.last)) return false;
    const ahead = await requests.after(begun, rows, full);
    if (rows.length > 0) {
      yield rows;
      // Once a page has continued so many, the server is known to keep order and filter.
      if (progress.read < noAccident) for (const { _id } of rows) progress.seen.add(_id);
      progress.read += rows.length;
      filters ||= begun.after !== undefined && progress.read >= noAccident;
      progress.first ??= rows[0]?._id;
      progress.last = rows.at(-1)?._id;
    }
    const { last, read } = progress;
    if (last === undefined) return true;
    if (rows.length === 0 && filters) return true;
    if (rows.length < full && !filters) {
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
 * Whether a filter that finds nothing more is right, by what is at the last row's position. Rows that sort after it say
 * that the filter does not work. Otherwise some came meanwhile, or these are the beginning again because the position is
 * ignored.
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
  /** The page after it, when its text has told where that begins: parsing takes as long as half of a call. */
  next: Begun | undefined;
  rows: Promise<Row[]>;
}

/** Asks for pages ahead of those who work on them. */
class PageRequests {
  readonly #page: ReadPage;
  /** Whether the texts of pages have told so far where the next one begins. */
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
    begun.rows.catch(() => undefined); // nobody may come for it
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
