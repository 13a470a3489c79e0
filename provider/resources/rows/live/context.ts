import type { CallOptions } from "../../../client/http/call.ts";
import { pages, type PagesOptions } from "../../../client/lists/pages.ts";
import { parentPages } from "../../../client/lists/parentPages.ts";
import { maxRowsPerInsert } from "../../../contract/rows.ts";
import type { Row } from "../../../contract/values.ts";
import { formatCount } from "../../../messages/text.ts";
import { Capacity } from "../../model/locks.ts";
import type { Context } from "../../model/resource.ts";
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

/** How the platform of a client was seen to hide parents: it does not name them, or shows rows by their parents alone. */
const hiddenParents = new WeakMap<object, "unnamed" | "unlisted">();
/** Clients of platforms that were seen to name the parents of rows in a read of the whole table. */
const shownParents = new WeakSet<object>();
/** Clients whose reads parent by parent were reported. */
const reported = new WeakSet<object>();

/** Parent tables by sub-table, as seeds of a run declare them, by the client of the run. */
const parentTables = new WeakMap<object, Map<string, string>>();

/** Notes that rows of a table stand below those of another one. */
export function noteParentTable({ client }: Pick<Context, "client">, table: string, parent: string): void {
  const known = parentTables.get(client) ?? new Map<string, string>();
  parentTables.set(client, known.set(table, parent));
}

/** Notes that sub-tables of this platform are read parent by parent from now on. */
export function noteHiddenParents(
  { client, tables }: Pick<Context, "client" | "tables">,
  how: "unnamed" | "unlisted",
): void {
  hiddenParents.set(client, how);
  tables.forget(); // what was read before lacks rows, or their parents
  reported.add(client);
}

/** Notes that a read of a whole sub-table names the parents of its rows. */
export const noteShownParents = ({ client }: Pick<Context, "client">): void => void shownParents.add(client);

interface Reading {
  client: object;
}

/** True where rows of a sub-table are known to be found by their parents alone. */
export const areUnlisted = ({ client }: Reading): boolean => hiddenParents.get(client) === "unlisted";

/** True where a read of a whole table is known to show all of its rows, with or without their parents. */
export const areListed = ({ client }: Reading): boolean =>
  shownParents.has(client) || hiddenParents.get(client) === "unnamed";

/** True where a read of a whole table is known to show all of its rows, and to name their parents. */
export const areParentsShown = ({ client }: Reading): boolean => !hiddenParents.has(client) && shownParents.has(client);

/** The table of the parents by which rows of a sub-table are read; undefined where they are read all together. */
export const parentTableOf = (context: RowContext, table: string): string | undefined =>
  hiddenParents.has(context.client) ? findDeclaredParent(context, table) : undefined;

/** The table of a table's parent rows, as far as the run knows it. */
export const findDeclaredParent = ({ client, rowClaims }: RowContext, table: string): string | undefined =>
  parentTables.get(client)?.get(table) ??
  rowClaims.on(table).find(({ target }) => target.parent !== undefined)?.target.parent?.table;

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
  const parentTable = parentTableOf(context, table);
  const parents = parentTable === undefined ? undefined : await idsOf(context, parentTable);
  if (parents && !reported.has(client)) {
    reported.add(client);
    context.report.info(
      `table ${table}: rows are read parent by parent, which is slower: below each of ${formatCount(parents.length, "row")}`,
    );
  }
  const part = Math.min(expected, maxRowsPerInsert);
  let leave = await room.reading.enter(part, signal);
  try {
    let read = 0;
    const call = { signal, onCall };
    const request = { microAppID: table, ...which, ...call };
    const reading = () => (parents ? parentPages(client, request, parents) : pages(client, request));
    for await (const page of fromCache && !which ? tables.read(table, call, reading) : reading()) {
      if (!parents && !shownParents.has(client) && page.some(isBelow)) noteShownParents(context);
      yield page;
      if (++read % pagesOfATurn > 0) continue;
      leave();
      leave = await room.reading.enter(part, signal);
    }
  } finally {
    leave();
  }
}

const isBelow = ({ embeddingRowID }: Row): boolean => !!embeddingRowID;

/** Rows that a table is taken to have of which nobody knows how many there are. */
export const aTable = 2_500;

/** IDs of all rows of a table, read in the same way. */
export async function idsOf(context: RowContext, table: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of rowsOf(context, table, aTable)) for (const { _id } of page) ids.push(_id);
  return ids;
}
