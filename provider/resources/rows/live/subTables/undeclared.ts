import { isRefusal } from "../../../../contract/errors.ts";
import type { Row } from "../../../../contract/values.ts";
import { ResourceError } from "../../../model/resource.ts";
import {
  areListed,
  areParentsShown,
  areUnlisted,
  aTable,
  findDeclaredParent,
  findsByParent,
  idsOf,
  noteParentTable,
  parentTableOf,
  rowsOf,
  type RowContext,
} from "../context.ts";
import { page } from "../queries.ts";
import { findHiddenRows } from "./shownParents.ts";

/** A table that is read although no seed declares its parent rows. */
export interface UndeclaredTable {
  table: string;
  /** Tables whose rows may be the parents: the one that is named, or all that are known. */
  above: readonly string[];
  /** The end of a message: an imperative that names what to set. */
  advice: string;
  /** True where a table without rows may be a sub-table that nobody names: the specification lists all rows, so this is presumed. */
  isEmptyPresumed?: boolean;
}

/** Thrown where nobody can know which rows a table has, or below which rows they stand. */
export class UnknownParents extends ResourceError {}

/** Sorts after every ID. */
const afterIDs = "\u{10ffff}";

const profile = `set microapps:profile to a file with habits.parentShown and habits.subRows ('microapps verify --write-profile <file>' writes it)`;

/** Tables that were seen to be no sub-table, by client. */
const tops = new WeakMap<object, Set<string>>();

/**
 * True where rows that name no parent stand below others nevertheless. Takes a call for each table where nothing has
 * shown yet that the platform names parents. Throws UnknownParents where its filters don't show it.
 */
async function standBelow(context: RowContext, { table, advice }: UndeclaredTable): Promise<boolean> {
  const { client, dialect } = context;
  // Rows that such a platform lists stand below nothing.
  if (areUnlisted(context) && dialect.isSeen && dialect.habits.parentShown === "yes") return false;
  const known = tops.get(client) ?? new Set<string>();
  if (known.has(table)) return false;
  const after = (id: string): Promise<Row[]> =>
    page(context, table, 1, { optViewFilters: [{ embeddingRowID: { $gt: id } }] });
  const open = new UnknownParents(
    `table ${table} names no parent rows (embeddingRowID), and filters of the platform don't show whether there are any: ${profile}; if that profile says that parents are hidden, ${advice}`,
  );
  if (!findsByParent(dialect) || dialect.habits.rangeFilters !== "compare") throw open;
  try {
    if ((await after("")).length === 0) {
      tops.set(client, known.add(table));
      return false;
    }
    if ((await after(afterIDs)).length > 0) throw open;
    return true;
  } catch (error) {
    throw isRefusal(error) ? open : error;
  }
}

/**
 * Finds the table of the parents where a read has shown no row of a table with a parent. Returns true if the table has to be
 * read again, by them. Throws UnknownParents where that can't be known. No room for rows may be taken meanwhile.
 */
export async function findParentTable(context: RowContext, asked: UndeclaredTable, isEmpty: boolean): Promise<boolean> {
  const { table, advice } = asked;
  if (areParentsShown(context) || parentTableOf(context, table) !== undefined) return false;
  if (isEmpty ? areListed(context) : !(await standBelow(context, asked))) return false;
  for (const parent of [findDeclaredParent(context, table) ?? asked.above].flat()) {
    if (parent === table) continue;
    const found = await findHiddenRows(context, table, await idsOf(context, parent));
    if (found === "found") noteParentTable(context, table, parent);
    if (found === "found" || areParentsShown(context)) return found === "found";
  }
  if (!isEmpty)
    throw new UnknownParents(
      `table ${table} is a sub-table, and the platform does not show below which row each of its rows stands: ${advice}`,
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

/**
 * All rows of a table, page by page, each with its parent: by the rule of `seedRowsOf`, of a table that no seed declares.
 * Throws UnknownParents where that can't be known.
 * @param which some of the rows
 */
export async function* tableRowsOf(
  context: RowContext,
  asked: UndeclaredTable,
  which?: Parameters<typeof rowsOf>[3],
): AsyncGenerator<Row[]> {
  const { table } = asked;
  const rows = (): AsyncGenerator<Row[]> => rowsOf(context, table, aTable, which);
  if (parentTableOf(context, table) !== undefined) {
    yield* withParents(context, asked, rows());
    return;
  }
  let isEmpty = true;
  let isHidden = false;
  for await (const page of rows()) {
    if (isEmpty && !page.some(({ embeddingRowID }) => embeddingRowID) && !areParentsShown(context))
      isHidden = await standBelow(context, asked);
    isEmpty = false;
    if (isHidden) break;
    yield page;
  }
  const isOpen = isEmpty && !areParentsShown(context) && (areUnlisted(context) || asked.above.length > 0);
  // A filter that matches nothing is no sign of a table that shows nothing.
  if (!isHidden && (!isOpen || (which?.optViewFilters && (await page(context, table, 1, {})).length > 0))) return;
  if (await findParentTable(context, asked, isEmpty)) yield* withParents(context, asked, rows());
}

/** Rows that were read parent by parent. Throws UnknownParents for one that stands below none of them. */
async function* withParents(
  context: RowContext,
  { table, advice }: UndeclaredTable,
  reading: AsyncGenerator<Row[]>,
): AsyncGenerator<Row[]> {
  for await (const rows of reading) {
    const orphan = rows.find(({ embeddingRowID }) => !embeddingRowID);
    if (orphan)
      throw new UnknownParents(
        `row ${orphan._id} of table ${table} stands below no row of table ${parentTableOf(context, table) ?? ""}, which the platform would show: try again if others change them, or ${advice}`,
      );
    yield rows;
  }
}
