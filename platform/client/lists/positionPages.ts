import { ApiError } from "../../contract/errors.ts";
import type { Row } from "../../contract/values.ts";
import type { Progress, ReadPage } from "./keysetPages.ts";

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
