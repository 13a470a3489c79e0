import type { SQLInputValue } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { createContext, Script } from "node:vm";
import { messageOf } from "../../machine/failures.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid, type PlatformError } from "../data/platformError.ts";
import { sortIndex } from "../data/tables.ts";
import { idColumn, parentColumn } from "./filters.ts";
import { type RowForms, toStoredForm } from "./forms.ts";
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

// Queries as document databases understand them. A path that leads through lists has several values, and a missing one
// has undefined alone. No key means what JavaScript adds to values, such as a text's length.

type Test = (value: unknown) => boolean;
type Condition = (values: readonly unknown[]) => boolean;

/** Returns a predicate over stored rows. validateFilters has checked the operators. */
export function matcher(filters: readonly Json[]): Test {
  try {
    const tests = filters.map(testOf);
    return (document) => tests.every((test) => test(document));
  } catch (error) {
    throw invalid(`optViewFilters: ${messageOf(error)}`);
  }
}

function testOf(filter: unknown): Test {
  if (!isObject(filter)) throw new Error("a filter must be an object");
  const tests = Object.entries(filter).map(([key, wanted]): Test => {
    if (!key.startsWith("$")) {
      const [path, condition] = [key.split("."), conditionOf(wanted)];
      return (document) => condition(valuesAt(document, path));
    }
    const parts = listOf(key, wanted).map(testOf);
    if (key === "$and") return (document) => parts.every((test) => test(document));
    if (key === "$or") return (document) => parts.some((test) => test(document));
    if (key === "$nor") return (document) => !parts.some((test) => test(document));
    throw new Error(`${key} stands below a key`);
  });
  return (document) => tests.every((test) => test(document));
}

function listOf(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} needs a list`);
  return value as unknown[];
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (isObject(value)) return Object.hasOwn(value, step) ? valuesAt(value[step], rest) : [undefined];
  if (!Array.isArray(value)) return [undefined];
  const found = value.filter(isObject).flatMap((item) => valuesAt(item, [step, ...rest]));
  if (/^\d+$/.test(step) && Number(step) < value.length) found.push(...valuesAt(value[Number(step)], rest));
  return found.length === 0 ? [undefined] : found;
}

const hasOperators = (value: unknown): value is Json =>
  isObject(value) && Object.keys(value).some((key) => key.startsWith("$"));

function conditionOf(wanted: unknown): Condition {
  if (!hasOperators(wanted)) return equals(wanted);
  const all = Object.entries(wanted).map(([name, operand]) => {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (!operator) throw new Error(`${name} does not stand below a key`);
    return operator(operand, wanted);
  });
  return (values) => all.every((condition) => condition(values));
}

/** One of the values fits, or something in a list that is one. */
const some =
  (fits: Test): Condition =>
  (values) =>
    values.some((value) => fits(value) || (Array.isArray(value) && value.some(fits)));

const not =
  (condition: Condition): Condition =>
  (values) =>
    !condition(values);

/** Nothing equals null. */
const isEqual = (one: unknown, other: unknown): boolean =>
  (one ?? null) === (other ?? null) || (typeof one === "object" && isDeepStrictEqual(one, other));
const equals = (wanted: unknown): Condition => some((value) => isEqual(value, wanted));
const isAmong = (name: string, wanted: unknown): Condition => {
  const list = listOf(name, wanted);
  return some((value) => list.some((item) => isEqual(value, item)));
};

/** Compares values of the same type, texts by code points. */
const ordered =
  (fits: (order: number) => boolean) =>
  (wanted: unknown): Condition =>
    some((value) => {
      if (typeof value === "string" && typeof wanted === "string") return fits(compareTexts(value, wanted));
      if (typeof value === "number" && typeof wanted === "number") return fits(value - wanted);
      if (typeof value === "boolean" && typeof wanted === "boolean") return fits(Number(value) - Number(wanted));
      return value === null && wanted === null && fits(0);
    });

const operators: Readonly<Record<string, (operand: unknown, condition: Json) => Condition>> = {
  $eq: equals,
  $ne: (wanted) => not(equals(wanted)),
  $in: (list) => isAmong("$in", list),
  $nin: (list) => not(isAmong("$nin", list)),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
  $not: (inner) => not(conditionOf(inner)),
  $exists: (wanted) => (values) => values.some((value) => value !== undefined) === Boolean(wanted),
  $regex: (pattern, { $options }) => {
    const expression = new RegExp(String(pattern), typeof $options === "string" ? $options.replace("g", "") : "");
    return some((value) => typeof value === "string" && expression.test(value));
  },
  $options: () => () => true, // of $regex
  $size: (size) => (values) => values.some((value) => Array.isArray(value) && value.length === size),
  /** Each must be the value or something in its list; none at all fits nothing. */
  $all: (list) => {
    const parts = listOf("$all", list).map(conditionOf);
    return (values) => parts.length > 0 && parts.every((condition) => condition(values));
  },
  $elemMatch: (inner) => {
    const condition = hasOperators(inner) ? conditionOf(inner) : undefined;
    const test = condition ? (item: unknown) => condition([item]) : testOf(inner);
    return (values) => values.some((value) => Array.isArray(value) && value.some(test));
  },
  $mod: (divided) => {
    const [by, left] = listOf("$mod", divided);
    return some((value) => typeof value === "number" && Math.trunc(value) % Number(by) === Number(left));
  },
};

// UTF-16 puts the surrogates of the highest code points before U+E000 to U+FFFF; SQLite and MongoDB compare UTF-8.
const place = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Compares texts by their code points, as their bytes in UTF-8 compare: below 0, 0 or above 0. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return place(a) - place(b);
  }
  return one.length - other.length;
}
