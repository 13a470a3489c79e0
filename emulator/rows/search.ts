import type { SQLInputValue } from "node:sqlite";
import { createContext, Script } from "node:vm";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid, type PlatformError } from "../data/platformError.ts";
import { sortIndex } from "../data/tables.ts";
import { idColumn, parentColumn } from "./filters.ts";
import { type RowForms, toStoredForm } from "./forms.ts";
import { matcher } from "./matching.ts";
import type { RowQuery } from "./query.ts";
import { columnNamesOf, type KeptRow } from "./records.ts";

// A read is one statement of SQLite, which follows an index where one has the order or the filter, and keeps no more rows
// than the page and what it skips. What SQL can't decide is decided by the function `row_score`, row by row.

/** What a read looks for beside its query. */
export interface Search {
  query: RowQuery;
  /** Text that rows are to be near to; all are equally near without it. */
  wanted?: string | undefined;
  forms: RowForms;
}

type Searching = Pick<CallContext, "database">;

/** The rows of one page. */
export function findRows(call: Searching, search: Search, { skip, limit }: { skip: number; limit: number }): KeptRow[] {
  const { query, wanted, forms } = search;
  const { table, terms } = query;
  const columns = columnNamesOf(table);
  const order = terms.map(({ column, down }) => `${column.sql}${down ? " DESC" : ""}`);
  if (wanted !== undefined) order.unshift(`${scoreOf(columns)} DESC`);
  const { sql, values } = whereOf(search);
  return decided(call, search, () =>
    call.database.all<KeptRow>(
      `SELECT ${columns.join(", ")} ${sql} ORDER BY ${order.join(", ")} LIMIT ? OFFSET ?`,
      ...[...values, limit, skip],
    ),
  ).map((row) => forms.masked(row, table));
}

/** Number of all rows that fit. */
export function countRows(call: Searching, search: Search): number {
  const { sql, values } = whereOf(search);
  const select = `SELECT count(*) AS count ${sql}`;
  return decided(call, search, () => call.database.one<{ count: number }>(select, ...values)?.count ?? 0);
}

const scoreOf = (columns: readonly string[]): string => `row_score(${columns.join(", ")})`;

const isDecidedBySQL = ({ query, wanted }: Search): boolean => query.rest.length === 0 && wanted === undefined;

function whereOf(search: Search): { sql: string; values: SQLInputValue[] } {
  const { table, conditions } = search.query;
  const parts = ["table_id = ?", ...conditions.map(({ sql }) => sql)];
  if (!isDecidedBySQL(search)) parts.push(`${scoreOf(columnNamesOf(table))} > 0`);
  return {
    sql: `FROM rows INDEXED BY "${indexOf(search.query)}" WHERE ${parts.join(" AND ")}`,
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

/** Carries a statement out that asks `row_score`, where it does. */
function decided<Result>({ database }: Searching, search: Search, work: () => Result): Result {
  if (isDecidedBySQL(search)) return work();
  const { query, wanted, forms } = search;
  const { table, rest } = query;
  const matches = matcher(rest);
  const vector = wanted === undefined ? undefined : embedding(wanted);
  const columns = columnNamesOf(table);
  let last: { id: unknown; score: number } | undefined; // it is asked again for the order
  const score = (values: unknown[]): number => {
    if (last !== undefined && last.id === values[0]) return last.score;
    const row = Object.fromEntries(columns.map((name, at) => [name, values[at]])) as unknown as KeptRow; // of these columns
    const document = toStoredForm(forms.masked(row, table), table);
    const near = vector ? similarity(vector, embedding(textOf(document, table.fields.keys()))) : 1;
    const found = matches(document) ? near : 0;
    last = { id: values[0], score: found };
    return found;
  };
  return database.scoring(score, () => {
    const pattern = slowPatternIn(rest);
    if (pattern === undefined) return work();
    const rows = database.one<{ count: number }>("SELECT count(*) AS count FROM rows WHERE table_id = ?", table.id);
    return within(baseTimeMs + (rows?.count ?? 0) * timePerRowMs, work, () => tooSlow(pattern));
  });
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
function within<Result>(milliseconds: number, work: () => Result, refusal: () => PlatformError): Result {
  try {
    watched["work"] = work;
    return run.runInContext(watched, { timeout: Math.ceil(milliseconds) }) as Result;
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
