import { setImmediate as others } from "node:timers/promises";
import type { ParsedRequestOf } from "../../provider/contract/endpoints.ts";
import type { Row } from "../../provider/contract/values.ts";
import type { CallContext } from "../data/callContext.ts";
import { notFound, PlatformError } from "../data/platformError.ts";
import { countAll, findTable, generationOf, requireTable, type Table } from "../data/tables.ts";
import { requireVisible } from "../rows/access.ts";
import { Best } from "../rows/best.ts";
import { RowForms } from "../rows/forms.ts";
import { isUnordered, queryOf, type RowQuery } from "../rows/query.ts";
import { findRow, type KeptRow } from "../rows/records.ts";
import { searchers } from "../rows/searchers.ts";
import { slices, walkOf, type Walk, type WalkedRow } from "../rows/walking/walk.ts";
import type { Handler } from "./handler.ts";

type Request = ParsedRequestOf<"microappdata">;

export const microappdataRow: Handler<"microappdataRow"> = ({ rowID }, call) => {
  const row = findRow(call.database, rowID);
  if (!row && call.habits.unknownRow === "notFound") throw notFound("Row", rowID);
  if (!row) return {};
  requireVisible(call, row);
  return { currentRow: formOf(call, row) };
};

function formOf(call: CallContext, row: KeptRow): Row {
  const table = requireTable(call.database, row.table_id);
  const forms = new RowForms(call);
  return forms.read(forms.masked(row, table), table);
}

/**
 * The rows of a read, in the form that was asked for: sought before the transaction, since that may take long. It begins
 * again when all rows are exchanged meanwhile.
 */
export async function prepareRead(request: Request, call: CallContext): Promise<Row[]> {
  const generation = generationOf(call.database);
  const isOutdated = () => generationOf(call.database) !== generation;
  try {
    const rows = await sought(request, call);
    if (!isOutdated()) return rows;
  } catch (error) {
    if (!isOutdated()) throw error;
  }
  return prepareRead(request, call);
}

async function sought(request: Request, call: CallContext): Promise<Row[]> {
  if (call.habits.unknownTable === "empty" && !findTable(call.database, request.microAppID)) return [];
  const table = requireTable(call.database, request.microAppID);
  const forms = new RowForms(call);
  const rows: Row[] = [];
  for await (const part of found(request, table, call, forms)) {
    for (const row of part) rows.push(request.platformFormat ? forms.raw(row, table) : forms.read(row, table));
  }
  return isUnordered(request, call) ? shuffled(rows) : rows;
}

const shuffled = (rows: readonly Row[]): Row[] =>
  rows
    .map((row) => ({ row, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);

export const microappdata: Handler<"microappdata"> = (_request, call) => ({
  microAppRows: call.fetched as Row[], // prepareRead made them
});

async function* found(request: Request, table: Table, call: CallContext, forms: RowForms): AsyncGenerator<KeptRow[]> {
  const query = queryOf(request, table, call);
  const { skip, limit } = page(request, call);
  if (limit === 0) return;
  const wanted = request.optIsVectorSearch === true ? request.optVectorSearchString : undefined;
  const walk = walkOf(query);
  const ordered = walk.ordered && wanted === undefined;
  const passable = ordered && walk.outside.length === 0 && query.rest.length === 0;
  const candidates = wanted === undefined ? Infinity : (request.optVectorSearchNumCandidates ?? Infinity);
  const best = new Best(Math.min(candidates, skip + limit), query.terms);
  let toSkip = passable ? 0 : skip;
  let left = limit;
  for await (const part of matching(query, walk, call, forms, { wanted, skip: passable ? skip : 0 })) {
    if (ordered) {
      const rows = part.slice(toSkip, toSkip + left).map(({ row }) => row);
      toSkip = Math.max(0, toSkip - part.length);
      left -= rows.length;
      yield rows;
      if (left === 0) return;
    } else for (const { row, score } of part) best.offer(row, score);
  }
  if (!ordered) yield* parts(best.list().slice(skip));
}

/** Lets others in between the parts of many rows. */
async function* parts<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let first = 0; first < items.length; first += 1000) {
    if (first > 0) await others();
    yield items.slice(first, first + 1000);
  }
}

/** The rows that fulfil a query, as they come, each with how near it is to what is searched. */
async function* matching(
  query: RowQuery,
  walk: Walk,
  call: CallContext,
  forms: RowForms,
  { wanted, skip }: { wanted?: string | undefined; skip: number },
): AsyncGenerator<{ row: WalkedRow; score: number }[]> {
  const { table, rest } = query;
  const plain = rest.length === 0 && wanted === undefined;
  const search = plain ? undefined : searchers.begin({ table, rest, wanted });
  try {
    for await (const part of slices(call.database, query, walk, { skip, ...(plain ? {} : { size: 250 }) })) {
      const rows = part.map((row) => forms.masked(row, table) as WalkedRow);
      const scores = await search?.scores(rows);
      yield rows.map((row, at) => ({ row, score: scores?.[at] ?? 1 })).filter(({ score }) => score > 0);
    }
  } finally {
    search?.end();
  }
}

/** Number of the rows that a read finds without its limit; null when counting them takes too long, or they are exchanged. */
export async function countRows(request: Request, call: CallContext): Promise<number | null> {
  const table = requireTable(call.database, request.microAppID);
  const query = queryOf(request, table, call);
  if (query.conditions.length === 0 && query.rest.length === 0) return countAll(call.database, table.id);
  let count = 0;
  try {
    for await (const part of matching(query, walkOf(query), call, new RowForms(call), { skip: 0 }))
      count += part.length;
  } catch (error) {
    if (error instanceof PlatformError || generationOf(call.database) !== table.generation) return null;
    throw error;
  }
  return count;
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
