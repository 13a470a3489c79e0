import type { ParsedRequestOf } from "../../platform/contract/endpoints.ts";
import type { Row } from "../../platform/contract/values.ts";
import type { CallContext, Handler } from "../data/callContext.ts";
import { notFound } from "../data/platformError.ts";
import { findTable, requireTable } from "../data/tables.ts";
import { requireVisible } from "../rows/filters.ts";
import { RowForms } from "../rows/forms.ts";
import { isUnordered, queryOf } from "../rows/query.ts";
import { findRow, type KeptRow } from "../rows/records.ts";
import { countRows, findRows } from "../rows/search.ts";

type Request = ParsedRequestOf<"microappdata">;

export const microappdataRow: Handler<"microappdataRow"> = ({ rowID }, call) => {
  const row = findRow(call.database, rowID);
  if (!row && call.habits.unknownRow === "notFound") throw notFound("Row", rowID);
  if (!row) return {};
  requireVisible(call, row);
  return { currentRow: formOf(call, row) };
};

function formOf(call: CallContext, row: KeptRow): Row {
  return new RowForms(call).read(row, requireTable(call.database, row.table_id));
}

export const microappdata: Handler<"microappdata"> = (request, call) => ({ microAppRows: readRows(request, call) });

/** The rows of a read, in the form that was asked for. */
export function readRows(request: Request, call: CallContext): Row[] {
  if (call.habits.unknownTable === "empty" && !findTable(call.database, request.microAppID)) return [];
  const table = requireTable(call.database, request.microAppID);
  const forms = new RowForms(call);
  const query = queryOf(request, table, call);
  const wanted = request.optIsVectorSearch === true ? request.optVectorSearchString : undefined;
  const { skip, limit } = page(request, call);
  const candidates = wanted === undefined ? Infinity : (request.optVectorSearchNumCandidates ?? Infinity);
  const most = Math.max(0, Math.min(limit, candidates - skip));
  const found = most === 0 ? [] : findRows(call, { query, wanted }, { skip, limit: most });
  const rows = found.map((row) => (request.platformFormat ? forms.raw(row, table) : forms.read(row, table)));
  return isUnordered(request, call) ? shuffled(rows) : rows;
}

const shuffled = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => ({ row, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);

/** Number of the rows that a read finds without its limit. */
export const countFound = (request: Request, call: CallContext): number =>
  countRows(call, { query: queryOf(request, requireTable(call.database, request.microAppID), call) });

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
