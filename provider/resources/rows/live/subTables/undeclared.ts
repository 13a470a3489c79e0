import { randomBytes } from "node:crypto";
import type { CallOptions, Calls } from "../../../../client/http/call.ts";
import { pages } from "../../../../client/lists/pages.ts";
import { isRefusal } from "../../../../contract/errors.ts";
import type { Row } from "../../../../contract/values.ts";
import { ResourceError } from "../../../model/resource.ts";
import {
  areListed,
  areParentsShown,
  areUnlisted,
  aTable,
  findDeclaredParent,
  idsOf,
  noteParentTable,
  parentTableOf,
  rowsOf,
  type RowContext,
} from "../context.ts";
import { page } from "../queries.ts";
import { findHiddenRows } from "./shownParents.ts";

/** A table that is read although no seed of the run need declare its parent rows. */
export interface UndeclaredTable {
  table: string;
  /** The table of its parent rows, where somebody names it. */
  parent?: string | undefined;
  /** Tables whose rows may be its parents (default: none). */
  above?: readonly string[];
  /** The end of a message: an imperative that names what to set. */
  advice: string;
  /** True for the rows that are wanted (default: all): nothing need be known of others. */
  isWanted?: (row: Row) => boolean;
  /** True where it is enough to have all rows, and their parents are not needed. */
  needsNoParents?: boolean;
  /** True where a table that shows no rows counts as one without rows, which the specification promises, until the platform is known to hide some. */
  isEmptyPresumed?: boolean;
}

/** Thrown where nobody can know which rows a table has, or below which rows they stand. */
export class UnknownParents extends ResourceError {}

/** Sorts after every ID. */
const afterIDs = "\u{10ffff}";

const profile = `set microapps:profile to a file with habits.parentShown and habits.subRows ('microapps verify --write-profile <file>' writes it)`;

const isUnseen = ({ table, advice }: UndeclaredTable): UnknownParents =>
  new UnknownParents(
    `table ${table} names no parent rows (embeddingRowID), and filters of the platform don't show whether there are any: ${profile}; if that profile says that parents are hidden, ${advice}`,
  );

/** Tables that were seen to be no sub-table, by client. */
const tops = new WeakMap<object, Set<string>>();

/**
 * True where rows that name no parent stand below others nevertheless. Takes a call for each table where nothing has
 * shown yet that the platform names parents. Throws UnknownParents where its filters don't show it.
 */
export async function standBelow(
  context: CallOptions & { client: Calls<"microappdata"> },
  asked: UndeclaredTable,
): Promise<boolean> {
  const { client } = context;
  const { table } = asked;
  const known = tops.get(client) ?? new Set<string>();
  if (known.has(table)) return false;
  const after = (id: string): Promise<Row[]> =>
    page(context, table, 1, { optViewFilters: [{ embeddingRowID: { $gt: id } }] });
  try {
    if ((await after("")).length === 0) {
      tops.set(client, known.add(table));
      return false;
    }
    if ((await after(afterIDs)).length > 0) throw isUnseen(asked);
    return true;
  } catch (error) {
    throw isRefusal(error) ? isUnseen(asked) : error;
  }
}

/**
 * Finds the table of the parents where a read has shown no row of a table with a parent. Returns true if the table has to be
 * read again, by them. Throws UnknownParents where that can't be known. No room for rows may be taken meanwhile.
 */
export async function findParentTable(context: RowContext, asked: UndeclaredTable, isEmpty: boolean): Promise<boolean> {
  const { table, advice, above = [] } = asked;
  if (areParentsShown(context) || parentTableOf(context, table) !== undefined) return false;
  const named = namedParent(context, asked);
  const isTop = async (): Promise<boolean> => !(await standBelow(context, asked));
  if (isEmpty ? areListed(context) : named === undefined && (await isTop())) return false;
  for (const parent of named === undefined ? above : [named]) {
    if (parent === table) continue;
    const found = await findHiddenRows(context, table, await idsOf(context, parent));
    if (found === "unknown") throw isUnseen(asked);
    if (found === "found") noteParentTable(context, table, parent);
    if (found === "found" || areParentsShown(context)) return found === "found";
  }
  if (isEmpty ? named !== undefined : named !== undefined && (await isTop())) return false;
  if (!isEmpty)
    throw new UnknownParents(
      `table ${table} is a sub-table${named === undefined ? "" : `, not of ${named}`}, and the platform does not show below which row each of its rows stands: ${advice}`,
    );
  if (areUnlisted(context))
    throw new UnknownParents(
      `table ${table} shows no rows, and this platform shows rows of a sub-table by the filter of their parents alone: ${advice}`,
    );
  if (asked.isEmptyPresumed) return false;
  throw new UnknownParents(
    `table ${table} shows no rows, and nobody knows whether this platform shows rows of a sub-table without their parents: ${advice}, or ${profile}`,
  );
}

const namedParent = (context: RowContext, { table, parent }: UndeclaredTable): string | undefined =>
  parent ?? findDeclaredParent(context, table);

type Which = Parameters<typeof rowsOf>[3];

/**
 * The wanted rows of a table, page by page, each with its parent: by the rule of `seedRowsOf`, of a table that no seed declares.
 * Throws UnknownParents where that can't be known.
 * @param which rows that the platform is asked for
 */
export async function* tableRowsOf(context: RowContext, asked: UndeclaredTable, which?: Which): AsyncGenerator<Row[]> {
  const { table, above = [], isWanted = () => true } = asked;
  const rows = (): AsyncGenerator<Row[]> => rowsOf(context, table, aTable, which);
  if (parentTableOf(context, table) !== undefined) {
    yield* withParents(context, asked, rows());
    return;
  }
  const isNamed = namedParent(context, asked) !== undefined;
  const isLookedBelow = async (): Promise<boolean> => !asked.needsNoParents && (isNamed || standBelow(context, asked));
  let [isEmpty, isOpen, isSure] = [true, false, false];
  for await (const page of rows()) {
    isEmpty = false;
    const wanted = page.filter(isWanted);
    if (wanted.length === 0) continue;
    if (!isSure && !areParentsShown(context)) isOpen = await isLookedBelow();
    if (isOpen) break;
    isSure = true;
    yield wanted;
  }
  if (isEmpty && !areParentsShown(context)) {
    isOpen = isNamed || above.length > 0 || areUnlisted(context);
    // A filter that matches nothing is no sign of a table that shows nothing.
    const isFiltered = (which?.optViewFilters ?? []).length > 0;
    if (isOpen && isFiltered) isEmpty = (await page(context, table, 1, {})).length === 0;
    if (!isOpen && !isFiltered && !areListed(context))
      context.report.info(
        `table ${table} shows no rows; if it is a sub-table, ${asked.advice}: a platform may show none without their parents`,
      );
  }
  if (!isOpen) return;
  if (await findParentTable(context, asked, isEmpty)) yield* withParents(context, asked, rows());
  else for await (const page of rows()) yield page.filter(isWanted);
}

/** Rows that were read parent by parent. Throws UnknownParents for one that stands below none of them. */
async function* withParents(
  context: RowContext,
  { table, advice, isWanted = () => true }: UndeclaredTable,
  reading: AsyncGenerator<Row[]>,
): AsyncGenerator<Row[]> {
  for await (const all of reading) {
    const rows = all.filter(isWanted);
    const orphan = rows.find(({ embeddingRowID }) => !embeddingRowID);
    if (orphan)
      throw new UnknownParents(
        `row ${orphan._id} of table ${table} stands below no row of table ${parentTableOf(context, table) ?? ""} that is there: try again if others change them, or ${advice}`,
      );
    yield rows;
  }
}

/** The rows below one row, page by page. Throws UnknownParents where the platform does not find them. */
export async function* rowsBelow(
  context: RowContext,
  asked: UndeclaredTable,
  parent: string,
  which: Which = {},
): AsyncGenerator<Row[]> {
  const { client, signal } = context;
  const { table, isWanted = () => true } = asked;
  const below = (embeddingRowID: string) => [...(which.optViewFilters ?? []), { embeddingRowID }];
  let isProven = false;
  for await (const rows of pages(client, { microAppID: table, signal, ...which, optViewFilters: below(parent) })) {
    // A row that names its parent shows by itself whether the platform goes by the filter.
    if (!isProven && rows.some(({ embeddingRowID }) => !embeddingRowID)) {
      const others = { optViewFilters: below(randomBytes(12).toString("hex")) };
      if ((await page(context, table, 1, others)).length > 0) throw isUnseen(asked);
      isProven = true;
    }
    const own = rows.filter(({ embeddingRowID }) => !embeddingRowID || embeddingRowID === parent);
    yield own.filter(isWanted).map((row) => ({ ...row, embeddingRowID: parent }));
  }
}
