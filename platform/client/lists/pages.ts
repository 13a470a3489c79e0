import type { RequestOf } from "../../contract/endpoints.ts";
import { isRefusal } from "../../contract/errors.ts";
import type { Row } from "../../contract/values.ts";
import type { CallOptions, Calls } from "../http/call.ts";
import { keysetPages, type Progress, type ReadPage } from "./keysetPages.ts";
import { positionPages } from "./positionPages.ts";

type Query = RequestOf<"microappdata">;

/** Which rows to read, and how. */
export interface PagesOptions extends CallOptions {
  /** ID of the data table. */
  microAppID: string;
  /** Conditions by the IDs of fields, as the endpoint takes them (default: none). */
  optSearchFilters?: Query["optSearchFilters"];
  /** True reads the raw internal rows (default false). Exceptional use only. */
  platformFormat?: boolean | undefined;
  /** Rows of one page (default and maximum 10,000). */
  pageSize?: number | undefined;
  /** View filters of the endpoint, such as `{embeddingRowID: parent}` (default: none). */
  optViewFilters?: Record<string, unknown>[] | undefined;
}

/** Highest number of rows that one page is asked for. */
const maxRowsPerPage = 10_000;

/**
 * Reads all rows of a table, page by page; no row comes twice. Pages by keyset on `_id`, so that rows which come or go
 * meanwhile move no others. From a server that ignores order or filter it reads the rest by position, each page
 * overlapping the last by one row, or takes one answer for all where nothing comes behind it. A short page is not the end, since servers have limits of their own. Throws an
 * ApiError `badAnswer` when the server pages in neither way.
 */
export async function* pages(
  client: Calls<"microappdata">,
  options: PagesOptions,
): AsyncGenerator<Row[], void, undefined> {
  const {
    microAppID,
    optSearchFilters,
    optViewFilters = [],
    platformFormat,
    signal,
    timeout,
    onCall,
    onWait,
  } = options;
  const limit = Math.min(options.pageSize ?? maxRowsPerPage, maxRowsPerPage);

  const page: ReadPage = async (skip, after, glance) => {
    const filters = after === undefined ? optViewFilters : [...optViewFilters, { _id: { $gt: after } }];
    const answer = client.microappdata(
      {
        microAppID,
        searchFilter: [{ resourceID: microAppID, skip, limit }],
        optLimit: limit,
        optViewSort: { _id: 1 },
        ...(filters.length > 0 ? { optViewFilters: filters } : {}),
        ...(optSearchFilters ? { optSearchFilters } : {}),
        ...(platformFormat === undefined ? {} : { platformFormat }),
      },
      { signal, timeout, onCall, onWait, glance },
    );
    try {
      return (await answer).microAppRows;
    } catch (error) {
      // A server that refuses the filter gets no other: what comes without it is not what comes next.
      if (after === undefined || !isRefusal(error)) throw error;
      return page(skip);
    }
  };
  const progress: Progress = { seen: new Set(), read: 0, first: undefined, last: undefined };
  if (!(yield* keysetPages(page, limit, progress))) yield* positionPages(page, microAppID, progress);
}
