import { randomBytes } from "node:crypto";
import { isRefusal } from "../../../../contract/errors.ts";
import type { Row } from "../../../../contract/values.ts";
import { ResourceError } from "../../../model/resource.ts";
import { noteHiddenParents, noteShownParents, parentTableOf, rowsOf, type RowContext } from "../context.ts";
import type { Links } from "../links.ts";
import { page, rowsByID } from "../queries.ts";

/** Parents that are asked for their rows at a time. */
const together = 16;

/** The reason why no seed can keep rows below parents that the platform does not show; it names what helps. */
export const parentsAreHidden = (table: string, by: string): string =>
  `table ${table} does not show below which row each of its rows stands (embeddingRowID), nor finds them by that filter: rows with a parent (by ${by}) can't be compared there, and none is sent, changed or removed. ` +
  `Ask the platform's operator to show it in the table's rows, or to let optViewFilters go by embeddingRowID (no setting of this package helps; 'microapps verify' finds both); or declare no parent, and link the rows to a row of the other table (references) instead`;

/**
 * Looks below these parents where a read of the whole table has shown no row with a parent. "found": rows stand there that
 * it does not show, and the table is read parent by parent from now on. "none": no hidden row stands there. "unknown": the
 * platform does not go by the filter.
 */
export async function findHiddenRows(
  context: RowContext,
  table: string,
  parents: Iterable<string>,
): Promise<"found" | "none" | "unknown"> {
  if (parentTableOf(context, table) !== undefined) return "none";
  const below = (embeddingRowID: string): Promise<Row[]> =>
    page(context, table, 1, { optViewFilters: [{ embeddingRowID }] });
  const ids = [...parents];
  try {
    for (let at = 0; at < ids.length; at += together) {
      const [found] = (await Promise.all(ids.slice(at, at + together).map(below))).flat();
      if (!found) continue;
      if ((await below(randomBytes(12).toString("hex"))).length > 0) return "unknown";
      const [listed] = (await rowsByID(context, table, [found._id])) ?? [];
      if (listed?.embeddingRowID) {
        noteShownParents(context);
        return "none";
      }
      noteHiddenParents(context, listed ? "unnamed" : "unlisted");
      context.report.info(
        `table ${table}: the platform does not show below which rows its rows stand, or shows them by that filter alone: ` +
          `sub-tables are read parent by parent, which is slower. 'microapps verify --write-profile <file>' finds it for ` +
          `microapps:profile (habits.parentShown, habits.subRows).`,
      );
      return "found";
    }
  } catch (error) {
    if (isRefusal(error)) return "unknown";
    throw error;
  }
  return "none";
}

/**
 * All rows of a seed's table, as `rowsOf`. Where they name no parent although rows of the seed may be there, looks below
 * the parents first. Throws where that shows nothing.
 * @param parents IDs of the rows that are looked below
 */
export async function* seedRowsOf(
  context: RowContext,
  table: string,
  expected: number,
  links: Links,
  parents: Iterable<string> = links.parentIDs(),
): AsyncGenerator<Row[]> {
  if (links.by === undefined || parentTableOf(context, table) !== undefined) {
    yield* rowsOf(context, table, expected);
    return;
  }
  let isShown = false;
  let isEmpty = true;
  for await (const rows of rowsOf(context, table, expected)) {
    isEmpty = false;
    isShown ||= rows.some(({ embeddingRowID }) => !!embeddingRowID);
    if (!isShown) break;
    yield rows;
  }
  if (isShown) return;
  const hidden = await findHiddenRows(context, table, parents);
  if (hidden === "unknown" && !isEmpty) throw new ResourceError(`${parentsAreHidden(table, links.by)}.`);
  if (hidden === "found" || !isEmpty) yield* rowsOf(context, table, expected);
}
