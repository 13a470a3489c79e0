import type { ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { Row } from "../../provider/contract/values.ts";
import type { CallContext } from "../data/callContext.ts";
import { PlatformError } from "../data/platformError.ts";
import { requireTable, type Table } from "../data/tables.ts";
import { requireVisible } from "../rows/access.ts";
import { RowForms } from "../rows/forms.ts";
import { bounded, matcher } from "../rows/matching.ts";
import { queryOf, type RowQuery } from "../rows/query.ts";
import { findRow, type KeptRow } from "../rows/records.ts";
import { embedding, Nearest, similarity, textOf } from "../rows/vectorSearch.ts";
import type { Handler } from "./handler.ts";

type Request = ParsedRequestOf<"microappdata">;

export const microappdataRow: Handler<"microappdataRow"> = ({ rowID }, call) => {
  const row = findRow(call.database, rowID);
  if (!row) return {};
  requireVisible(call, row);
  return { currentRow: new RowForms(call.database).read(row, requireTable(call.database, row.table_id)) };
};

export const microappdata: Handler<"microappdata"> = (request, call) => {
  const table = requireTable(call.database, request.microAppID);
  const forms = new RowForms(call.database);
  const rows = found(request, table, call, (row) => forms.stored(row, table));
  return { microAppRows: rows.map((row) => (request.platformFormat ? forms.raw(row, table) : forms.read(row, table))) };
};

function found(request: Request, table: Table, call: CallContext, stored: (row: KeptRow) => Row): KeptRow[] {
  const query = queryOf(request, table, call);
  const { skip, limit } = page(request, call);
  const wanted = request.optIsVectorSearch === true ? request.optVectorSearchString : undefined;
  if (wanted !== undefined) {
    const vector = embedding(wanted);
    const nearest = new Nearest<KeptRow>(Math.min(request.optVectorSearchNumCandidates ?? Infinity, skip + limit));
    visit(query, call, stored, (row, document) => {
      nearest.offer(row, similarity(vector, embedding(textOf(document, table.fields.keys()))));
      return true;
    });
    return nearest.list().slice(skip);
  }
  if (query.rest.length === 0) {
    return call.database.all<KeptRow>(`${query.sql} LIMIT ? OFFSET ?`, ...query.values, limit, skip);
  }
  const rows: KeptRow[] = [];
  let passed = 0;
  if (limit > 0) visit(query, call, stored, (row) => ++passed <= skip || rows.push(row) < limit);
  return rows;
}

/** Number of the rows that a read finds without its limit; null when counting them takes too long. */
export function countRows(request: Request, call: CallContext): number | null {
  const table = requireTable(call.database, request.microAppID);
  const query = queryOf(request, table, call);
  if (query.rest.length === 0) {
    const count = `SELECT count(*) AS count FROM (${query.sql})`;
    return call.database.one<{ count: number }>(count, ...query.values)?.count ?? 0;
  }
  const forms = new RowForms(call.database);
  let count = 0;
  try {
    visit(
      query,
      call,
      (row) => forms.stored(row, table),
      () => ++count > 0,
    );
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
  return count;
}

/** Passes each row of a query with its document to the visitor, until the visitor returns false. */
function visit(
  { sql, values, rest }: RowQuery,
  { database }: CallContext,
  stored: (row: KeptRow) => Row,
  visitor: (row: KeptRow, document: Row) => boolean,
): void {
  const matches = matcher(rest);
  const rows = database.iterate<KeptRow>(sql, ...values);
  try {
    bounded(() => {
      for (const row of rows) {
        const document = stored(row);
        if (matches(document) && !visitor(row, document)) return;
      }
    });
  } finally {
    rows.return?.(); // a search that was stopped leaves the statement open
  }
}

/** Skip and limit: those of the search filter count more than `optLimit`; 0 is no limit (assumed). */
function page(request: Request, { settings }: CallContext): { skip: number; limit: number } {
  const filters = (request.searchFilter ?? []).filter(
    ({ resourceID = request.microAppID }) => resourceID === request.microAppID,
  );
  const skip = filters.find((filter) => filter.skip !== undefined)?.skip ?? 0;
  const asked = filters.find((filter) => filter.limit !== undefined)?.limit ?? request.optLimit ?? 0;
  const limit = asked === 0 ? settings.defaultLimit : asked;
  return {
    skip: Math.max(0, Math.min(Math.trunc(skip), 1e12)), // SQLite takes no more than 64 bits
    limit: Math.max(0, Math.min(Math.trunc(limit), settings.maximumLimit)),
  };
}
