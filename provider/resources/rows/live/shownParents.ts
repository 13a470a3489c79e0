import { randomBytes } from "node:crypto";
import { isRefusal } from "../../../contract/errors.ts";
import { ResourceError } from "../../model/resource.ts";
import type { RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { page } from "./queries.ts";

/** Parent rows that are asked for, a call each. */
const maxParents = 40;

/** The reason why no seed can keep rows below parents that the platform does not show; it names what helps. */
export const parentsAreHidden = (table: string, by: string): string =>
  `table ${table} does not show below which row each of its rows stands (embeddingRowID), or shows them by that filter alone: rows with a parent (by ${by}) can't be compared there, and none is sent, changed or removed. ` +
  `Ask the platform's operator to show it in the table's rows; or declare no parent, and link the rows to a row of the other table (references) instead`;

/**
 * True where the rows of a sub-table are found by their parents, and a read of the whole table shows none of these. Asked
 * where that read showed no row with a parent: it may as well have none. False where the platform does not go by the filter.
 */
export async function hidesParents(context: RowContext, table: string, links: Links): Promise<boolean> {
  const ids = [...links.parentIDs()].slice(0, maxParents);
  if (ids.length === 0 || context.dialect.habits.viewFilters !== "match") return false;
  const hasRows = async (embeddingRowID: string): Promise<boolean> =>
    (await page(context, table, 1, { optViewFilters: [{ embeddingRowID }] })).length > 0;
  try {
    for (const id of ids) if (await hasRows(id)) return !(await hasRows(randomBytes(12).toString("hex")));
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return false;
}

/** Throws where a read of a sub-table showed no row with a parent although there are some: they would be sent again. */
export async function refuseHiddenParents(context: RowContext, table: string, links: Links): Promise<void> {
  if (links.by !== undefined && (await hidesParents(context, table, links)))
    throw new ResourceError(`${parentsAreHidden(table, links.by)}.`);
}
