import type { SQLInputValue } from "node:sqlite";
import { createContext, Script } from "node:vm";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid, type PlatformError } from "../data/platformError.ts";
import { sortIndex } from "../data/tables.ts";
import { idColumn, parentColumn } from "./filters.ts";
import { type RowForms, toStoredForm } from "./forms.ts";
import { matcher } from "./matching.ts";
import type { RowQuery } from "./query.ts";
import { columnNamesOf, type KeptRow } from "./records.ts";

// A read follows an index where one has the order or the filter, and keeps no more rows than the page and what it skips:
// where SQL decides it all, it is one statement; what SQL can't decide is tried row by row, in the order of the answer.

/** What a read looks for beside its query. */
export interface Search {
  query: RowQuery;
  /** Text that rows are to be near to; all are equally near without it. */
  wanted?: string | undefined;
  forms: RowForms;
}

type Searching = Pick<CallContext, "database">;

const isDecidedBySQL = ({ query, wanted }: Search): boolean => query.rest.length === 0 && wanted === undefined;

/** The rows of one page. */
export function findRows(call: Searching, search: Search, { skip, limit }: { skip: number; limit: number }): KeptRow[] {
  const { query, wanted, forms } = search;
  const { sql, values } = whereOf(query);
  if (isDecidedBySQL(search)) {
    const select = `SELECT ${columnNamesOf(query.table).join(", ")} ${sql} ${orderOf(query)} LIMIT ? OFFSET ?`;
    const rows = call.database.all<KeptRow>(select, ...values, limit, skip);
    return rows.map((row) => forms.masked(row, query.table));
  }
  let best: { row: KeptRow; score: number }[] = [];
  const nearestFirst = () => best.sort((one, other) => other.score - one.score).slice(0, skip + limit);
  eachFitting(call, search, (row, score) => {
    best.push({ row, score });
    if (best.length > 2 * (skip + limit) + 10_000) best = nearestFirst();
    return wanted !== undefined || best.length < skip + limit; // without a text they come in their order
  });
  return nearestFirst()
    .slice(skip)
    .map(({ row }) => row);
}

/** Number of all rows that fit. */
export function countRows(call: Searching, search: Search): number {
  const { sql, values } = whereOf(search.query);
  if (isDecidedBySQL(search))
    return call.database.one<{ count: number }>(`SELECT count(*) AS count ${sql}`, ...values)?.count ?? 0;
  let count = 0;
  eachFitting(call, search, () => ++count > 0);
  return count;
}

/** Hands out the rows that fit, in the order of the answer and with how near each is, until `take` returns false. */
function eachFitting(
  { database }: Searching,
  { query, wanted, forms }: Search,
  take: (row: KeptRow, score: number) => boolean,
): void {
  const { table, rest } = query;
  const matches = matcher(rest);
  const vector = wanted === undefined ? undefined : embedding(wanted);
  const { sql, values } = whereOf(query);
  // Only numbers of rows are sorted, which SQLite does in a file when there are very many.
  const ids = database.iterate<{ seq: number }>(`SELECT seq ${sql} ${orderOf(query)}`, ...values);
  const read = database.prepare(`SELECT ${columnNamesOf(table).join(", ")} FROM rows WHERE seq = ?`);
  const work = (): void => {
    for (const { seq } of ids) {
      const row = forms.masked(read.get(seq) as unknown as KeptRow, table); // of these columns
      const document = toStoredForm(row, table);
      if (!matches(document)) continue;
      const score = vector ? similarity(vector, embedding(textOf(document, table.fields.keys()))) : 1;
      if (score > 0 && !take(row, score)) return;
    }
  };
  try {
    const pattern = slowPatternIn(rest);
    if (pattern === undefined) work();
    else {
      const rows = database.one<{ count: number }>("SELECT count(*) AS count FROM rows WHERE table_id = ?", table.id);
      within(baseTimeMs + (rows?.count ?? 0) * timePerRowMs, work, () => tooSlow(pattern));
    }
  } finally {
    ids.return?.(); // also where V8 has stopped the work
  }
}

const orderOf = ({ terms }: RowQuery): string =>
  `ORDER BY ${terms.map(({ column, down }) => `${column.sql}${down ? " DESC" : ""}`).join(", ")}`;

function whereOf(query: RowQuery): { sql: string; values: SQLInputValue[] } {
  const { table, conditions } = query;
  const where = ["table_id = ?", ...conditions.map(({ sql }) => sql)].join(" AND ");
  return {
    sql: `FROM rows INDEXED BY "${indexOf(query)}" WHERE ${where}`,
    values: [table.id, ...conditions.flatMap(({ values }) => values)],
  };
}

/**
 * Chooses the index. A parent's rows are few, equal values of a sort field likewise. What equals a value without index is
 * rare, too: the rows are read in table order, the cheapest one. Else the order decides, so that a page ends early.
 */
function indexOf({ conditions, terms }: RowQuery): string {
  const among = conditions.filter(({ test }) => test === "equal" || test === "among");
  if (among.some(({ column, test }) => column === parentColumn && test === "equal")) return "rows_of_parent";
  const equal = among.find(({ column }) => column?.sort !== undefined)?.column?.sort;
  if (equal !== undefined) return sortIndex(equal);
  if (among.some(({ column }) => column === idColumn || column?.inDocument)) return "rows_of_table";
  const byID = conditions.some(({ column }) => column === idColumn);
  const range = byID ? undefined : conditions.find(({ column }) => column?.sort !== undefined)?.column?.sort;
  const sort = terms[0]?.column.sort ?? range;
  return sort === undefined ? "rows_of_table" : sortIndex(sort);
}

/** The first pattern in filters that repeats or branches, so that it may take long; undefined without any. */
function slowPatternIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(slowPatternIn).find((found) => found !== undefined);
  if (!isObject(value)) return undefined;
  const own = value["$regex"];
  const text = typeof own === "string" ? own : JSON.stringify(own ?? "");
  if (/[+*?{(|\\]/.test(text)) return text;
  return slowPatternIn(Object.values(value));
}

/** Time that patterns may take, in milliseconds: in any case, and for each row that they may be tried on. */
const baseTimeMs = 3000;
const timePerRowMs = 0.25;

const watched = createContext({ work: (): unknown => undefined });
const run = new Script("work()");

/** Does work that V8 itself stops when it takes longer: no pattern of a caller's is to keep a platform for ever. */
function within(milliseconds: number, work: () => void, refusal: () => PlatformError): void {
  try {
    watched["work"] = work;
    run.runInContext(watched, { timeout: Math.ceil(milliseconds) });
  } catch (error) {
    throw isObject(error) && error["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? refusal() : error;
  }
}

const tooSlow = (pattern: string): PlatformError => {
  const shown = pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern;
  return invalid(`optViewFilters: the pattern ${shown} takes too long: make it simpler`);
};

// How the platform embeds text is not documented. This embedding is assumed: words and their beginnings, counted in a
// fixed number of buckets. It is always the same, needs no model, and finds what shares words with the search.

const buckets = 512;

function bucket(text: string): number {
  let hash = 2166136261; // FNV-1a
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return (hash >>> 0) % buckets;
}

/** A text as a vector of length 1, or of zeros when it has no words. */
export function embedding(text: string): Float32Array {
  const vector = new Float32Array(buckets);
  for (const [word] of text
    .normalize("NFKD")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    for (const [part, weight] of [
      [word, 1],
      [word.slice(0, 4), 0.5],
    ] as const) {
      const place = bucket(part);
      vector[place] = (vector[place] ?? 0) + weight;
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Similarity of two vectors, from 0 (nothing in common) to 1. */
export function similarity(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

/** The text of a row that is searched: all texts under its labels. */
export const textOf = (row: Json, labels: Iterable<string>): string =>
  Array.from(labels, (label) => row[label])
    .flat()
    .filter((value) => typeof value === "string")
    .join(" ");
