import type { CallOptions } from "../../../platform/client/http/call.ts";
import { pages, type PagesOptions } from "../../../platform/client/lists/pages.ts";
import { maxRowsPerInsert } from "../../../platform/contract/rows.ts";
import type { Row } from "../../../platform/contract/values.ts";
import { Capacity } from "../../resources/model/locks.ts";
import type { Context } from "../../resources/model/resource.ts";
import type { RowClaims } from "../declared/claims.ts";

/** Context for reading and writing rows. */
export interface RowContext extends Context, Pick<CallOptions, "onCall"> {
  rowClaims: RowClaims;
  /** True when recently read rows suffice: no plan depends on them. */
  fromCache?: boolean;
}

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
  context: RowContext,
  table: string,
  expected: number,
  which?: Pick<PagesOptions, "optViewFilters" | "pageSize">,
): AsyncGenerator<Row[]> {
  const { client, tables, signal, onCall, fromCache } = context;
  const part = Math.min(expected, maxRowsPerInsert);
  let leave = await room.reading.enter(part, signal);
  try {
    let read = 0;
    const call = { signal, onCall };
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
