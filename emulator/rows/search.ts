import type { SQLInputValue } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../machine/failures.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid } from "../data/platformError.ts";
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
  const words = wanted === undefined ? undefined : wordsOf(wanted);
  const { sql, values } = whereOf(query);
  // Only numbers of rows are sorted, which SQLite does in a file when there are very many.
  const ids = database.iterate<{ seq: number }>(`SELECT seq ${sql} ${orderOf(query)}`, ...values);
  const read = database.prepare(`SELECT ${columnNamesOf(table).join(", ")} FROM rows WHERE seq = ?`);
  try {
    for (const { seq } of ids) {
      const row = forms.masked(read.get(seq) as unknown as KeptRow, table); // of these columns
      const document = toStoredForm(row, table);
      if (!matches(document)) continue;
      const score = words ? nearness(words, wordsOf(textOf(document, table.fields.keys()))) : 1;
      if (score > 0 && !take(row, score)) return;
    }
  } finally {
    ids.return?.();
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

// How the platform embeds text is not documented. It is assumed that rows are near which share words with the search.

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .normalize("NFKD")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu),
  );

/** The part of a text's words that a search has; those that only begin as one of it count a tenth. */
function nearness(wanted: ReadonlySet<string>, words: ReadonlySet<string>): number {
  const beginnings = new Set(Array.from(wanted, (word) => word.slice(0, 4)));
  const scores = Array.from(words, (word) => (wanted.has(word) ? 1 : beginnings.has(word.slice(0, 4)) ? 0.1 : 0));
  return scores.reduce<number>((sum, score) => sum + score, 0) / Math.max(1, words.size);
}

/** The text of a row that is searched: all texts under its labels. */
const textOf = (row: Json, labels: Iterable<string>): string =>
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
