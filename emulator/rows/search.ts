import { Context } from "mingo/core";
import * as query from "mingo/operators/query";
import { Query } from "mingo/query";
import type { SQLInputValue } from "node:sqlite";
import { messageOf } from "../../machine/failures.ts";
import type { Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid } from "../data/platformError.ts";
import { sortIndex } from "../data/tables.ts";
import { idColumn, parentColumn } from "./filters.ts";
import { toStoredForm } from "./forms.ts";
import type { RowQuery } from "./query.ts";
import { columnNamesOf, type KeptRow } from "./records.ts";

// A read follows an index where one has the order or the filter, and keeps no more rows than the page and what it skips:
// where SQL decides it all, it is one statement; what SQL can't decide is tried row by row, in the order of the answer.

/** What a read looks for beside its query. */
export interface Search {
  query: RowQuery;
  /** Text that rows are to be near to; all are equally near without it. */
  wanted?: string | undefined;
}

type Searching = Pick<CallContext, "database">;

const isDecidedBySQL = ({ query, wanted }: Search): boolean => query.rest.length === 0 && wanted === undefined;

/** The rows of one page. */
export function findRows(call: Searching, search: Search, { skip, limit }: { skip: number; limit: number }): KeptRow[] {
  const { query, wanted } = search;
  const { sql, values } = whereOf(query);
  if (isDecidedBySQL(search)) {
    const select = `SELECT ${columnNamesOf(query.table).join(", ")} ${sql} ${orderOf(query)} LIMIT ? OFFSET ?`;
    return call.database.all<KeptRow>(select, ...values, limit, skip);
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
  { query, wanted }: Search,
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
      const row = read.get(seq) as unknown as KeptRow; // of these columns
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

/** The part of a text's words that a search has. */
const nearness = (wanted: ReadonlySet<string>, words: ReadonlySet<string>): number =>
  [...words].filter((word) => wanted.has(word)).length / Math.max(1, words.size);

/** The text of a row that is searched: all texts under its labels. */
const textOf = (row: Json, labels: Iterable<string>): string =>
  Array.from(labels, (label) => row[label])
    .flat()
    .filter((value) => typeof value === "string")
    .join(" ");

const context = Context.init({ query });

/** Returns a predicate over stored rows. validateFilters has checked the operators. */
export function matcher(filters: readonly Json[]): (document: Json) => boolean {
  const refused = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw invalid(`optViewFilters: ${messageOf(error)}`);
    }
  };
  const queries = refused(() => filters.map((filter) => new Query(filter, { context })));
  return (document) => refused(() => queries.every((each) => each.test(document)));
}
