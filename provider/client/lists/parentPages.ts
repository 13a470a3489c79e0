import { ApiError, isRefusal } from "../../contract/errors.ts";
import type { Row } from "../../contract/values.ts";
import { pages, type PagesOptions } from "./pages.ts";

/** Parents whose rows are asked for at a time. */
const together = 16;

/**
 * Reads all rows of a sub-table by the filter of each parent, in pages; last those below none of these parents. Each row
 * names its parent, also on a platform that does not show it, or that shows no such row without the filter. Takes a call
 * or more for each parent. Throws an ApiError `badAnswer` where a row comes for two parents: the filter is ignored.
 * @param toleratesFilter true goes on where the filter is ignored or refused: every row comes once, with a parent that proves
 * nothing (default false)
 */
export async function* parentPages(
  client: Parameters<typeof pages>[0],
  { optViewFilters = [], ...options }: PagesOptions,
  parents: Iterable<string>,
  toleratesFilter = false,
): AsyncGenerator<Row[], void, undefined> {
  const seen = new Set<string>();
  const below = (parent: string): AsyncGenerator<Row[], void, undefined> =>
    pages(client, { ...options, optViewFilters: [...optViewFilters, { embeddingRowID: parent }] });
  try {
    for await (const { parent, page } of readEach([...parents], below)) {
      const rows = page.filter(({ _id }) => !seen.has(_id));
      if (rows.length < page.length && !toleratesFilter) throw filterIsIgnored(options.microAppID);
      for (const { _id } of rows) seen.add(_id);
      if (rows.length > 0) yield rows.map((row) => ({ ...row, embeddingRowID: parent }));
    }
  } catch (error) {
    if (!toleratesFilter || !isRefusal(error)) throw error;
  }
  for await (const page of pages(client, { ...options, optViewFilters })) {
    const others = page.filter(({ _id }) => !seen.has(_id));
    if (others.length > 0) yield others;
  }
}

/** The pages of each parent, one parent after the other; the first page of several is asked for at a time. */
async function* readEach(
  parents: readonly string[],
  below: (parent: string) => AsyncGenerator<Row[], void, undefined>,
): AsyncGenerator<{ parent: string; page: Row[] }, void, undefined> {
  for (let at = 0; at < parents.length; at += together) {
    const begun = parents.slice(at, at + together).map((parent) => ({ parent, reading: below(parent) }));
    const first = begun.map(({ reading }) => reading.next());
    for (const page of first) page.catch(() => undefined); // perhaps nobody awaits it
    for (const [index, { parent, reading }] of begun.entries()) {
      for (let next = await first[index]; next && !next.done; next = await reading.next())
        yield { parent, page: next.value };
    }
  }
}

const filterIsIgnored = (table: string): ApiError =>
  new ApiError({
    code: "badAnswer",
    endpoint: "microappdata",
    message: `A row of table ${table} comes for two parents (embeddingRowID in optViewFilters)`,
    hint: "Try again while nobody else changes the table; if it persists, the platform does not go by that filter.",
  });
