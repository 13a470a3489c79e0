import type { SQLInputValue } from "node:sqlite";
import { setImmediate as others } from "node:timers/promises";
import type { Database } from "../../data/database.ts";
import { sortIndex } from "../../data/tables.ts";
import { never, type Condition } from "../access.ts";
import { idColumn, parentColumn } from "../filters.ts";
import type { RowQuery } from "../query.ts";
import { columnsOf, type KeptRow } from "../records.ts";
import { Moment } from "./moment.ts";

// A read of a large table must not keep other callers waiting: it goes through the table in slices, along an index, and
// lets others in between. What they change is in the answer as it was when the read began.

/** A row, with the values that its place in the answer goes by. */
export type WalkedRow = KeptRow & Record<`key${number}`, unknown>;

/** The way of a read through its table. */
export interface Walk {
  /** Sort field whose index is followed; without it, the order of row IDs. */
  sort: number | undefined;
  /** Condition that the followed index answers. */
  inside: readonly Condition[];
  /** Conditions that each row is tried by. */
  outside: readonly Condition[];
  /** True if rows come in the order of the answer. */
  ordered: boolean;
  down: boolean;
  /** Clause that names index and table. */
  from: string;
}

/**
 * Chooses the way. A parent's rows are few, equal values of a sort field likewise. What equals a value without index is
 * rare, too: the rows are read in table order, the cheapest one. Else the order decides, so that a page ends early.
 */
export function walkOf({ table, conditions, terms }: RowQuery): Walk {
  const among = conditions.filter(({ test }) => test === "equal" || test === "among");
  const sortOf = (some: readonly Condition[]) => some.find(({ column }) => column?.sort !== undefined)?.column?.sort;
  const ofTable = `table_id = '${table.id}'`;
  const chosen = ({ sort, parent = false }: { sort?: number | undefined; parent?: boolean }): Walk => {
    const column = parent ? parentColumn : idColumn;
    const isInside = (condition: Condition) =>
      sort === undefined ? condition.column === column : condition.column?.sort === sort;
    const inside = conditions.filter(isInside);
    const fixed = inside.some(({ test }) => test === "equal");
    // A column with one value throughout cannot order anything.
    const left = terms.filter(({ column }) => !(fixed && column.sort !== undefined && column.sort === sort));
    const followed = fixed || sort === undefined ? [idColumn.sql] : [`sort${sort}`, idColumn.sql];
    const [{ down } = { down: false }] = left;
    const ordered =
      left.length === followed.length &&
      left.every((term, place) => term.column.sql === followed[place] && term.down === down);
    const index = sort === undefined ? "" : `INDEXED BY "${sortIndex(sort, table.generation)}" `;
    return {
      sort: fixed ? undefined : sort,
      inside,
      outside: conditions.filter((condition) => !isInside(condition)),
      ordered,
      down: ordered && down,
      from: `FROM rows ${index}WHERE ${parent ? "+" : ""}${ofTable}`,
    };
  };
  if (conditions.some(({ column, test }) => column === parentColumn && test === "equal"))
    return chosen({ parent: true });
  const equalSort = sortOf(among);
  if (equalSort !== undefined) return chosen({ sort: equalSort });
  if (among.some(({ column }) => column === idColumn || column?.inDocument)) return chosen({});
  const byID = conditions.some(({ column }) => column === idColumn);
  return chosen({ sort: terms[0]?.column.sort ?? (byID ? undefined : sortOf(conditions)) });
}

/** Where a walk stands: behind the row of this ID and sort value, among rows without a sort value or with one. */
interface Place {
  sorted: boolean;
  after: [SQLInputValue, string] | undefined;
}

/** Rows that one slice looks at, and rows that one slice passes over. */
const sliceRows = 1000;
const passedRows = 20_000;

/**
 * Goes through the rows that fulfil the conditions of a query, slice by slice, as they are when it begins. The first
 * `skip` rows are passed over: only where each row that the index has is one of the answer.
 */
export async function* slices(
  database: Database,
  query: RowQuery,
  walk: Walk,
  { skip = 0, size = sliceRows }: { skip?: number; size?: number } = {},
): AsyncGenerator<WalkedRow[]> {
  if (query.conditions.includes(never)) return;
  let moment: Moment | undefined;
  let rows: WalkedRow[] = [];
  let left = skip;
  let passes = skip > 0;
  try {
    for (const place of placesOf(walk)) {
      for (;;) {
        const step = passes ? Math.min(left, passedRows) : size;
        const end = behind(database, walk, place, step);
        const passed = passes ? countIn({ database, query, walk, place, end, moment }, step) : 0;
        if (passed > left) {
          passes = false; // rows that were there when it began: the end of what is passed over is among them
          continue;
        }
        if (!passes) {
          const found = rowsIn({ database, query, walk, place, end, moment });
          rows.push(...found.slice(left));
          left = Math.max(0, left - found.length);
        } else left -= passed;
        passes &&= left > 0;
        if (!end) break;
        place.after = end;
        moment ??= new Moment(database);
        if (rows.length > 0) yield rows;
        rows = [];
        await others();
      }
    }
    if (rows.length > 0) yield rows;
  } finally {
    moment?.end();
  }
}

/** Rows without a sort value come first, or last when it goes down. */
function placesOf({ sort, inside, down }: Walk): Place[] {
  if (sort === undefined || inside.length > 0) return [{ sorted: true, after: undefined }];
  const stages = [false, true].map((sorted): Place => ({ sorted, after: undefined }));
  return down ? stages.reverse() : stages;
}

/** The condition of being behind a place, and not behind the end. */
function between(walk: Walk, { sorted, after }: Place, end?: [SQLInputValue, string]): Condition {
  const [follows, ends] = walk.down ? ["<", ">="] : [">", "<="];
  const bySort = walk.sort !== undefined && sorted;
  const parts: [string, SQLInputValue[]][] = walk.inside.map(({ sql, values }) => [sql, values]);
  if (walk.sort !== undefined && !sorted) parts.push([`sort${walk.sort} IS NULL`, []]);
  // Nothing sorts before it but what has no value. Beside an end below, SQLite would take it for the bound and go on to it.
  if (bySort && !after && !(walk.down && end) && walk.inside.length === 0)
    parts.push([`sort${walk.sort ?? 0} >= -9e999`, []]);
  for (const [sign, key] of [
    [follows, after],
    [ends, end],
  ] as const) {
    if (!key) continue;
    if (bySort) parts.push([`(sort${walk.sort ?? 0}, id) ${sign} (?, ?)`, key]);
    else parts.push([`id ${sign} ?`, [key[1]]]);
  }
  return { sql: parts.map(([sql]) => ` AND ${sql}`).join(""), values: parts.flatMap(([, values]) => values) };
}

const orderOf = ({ sort, down }: Walk): string => {
  const way = down ? " DESC" : "";
  return `${sort === undefined ? "" : `sort${sort}${way}, `}id${way}`;
};

/** The last row of the next `count` rows, found by the index alone; undefined when there are fewer. */
function behind(database: Database, walk: Walk, place: Place, count: number): [SQLInputValue, string] | undefined {
  const { sql, values } = between(walk, place);
  const sort = walk.sort === undefined ? "NULL" : `sort${walk.sort}`;
  const found = database.one<{ sort: SQLInputValue; id: string }>(
    `SELECT ${sort} AS sort, id ${walk.from}${sql} ORDER BY ${orderOf(walk)} LIMIT 1 OFFSET ?`,
    ...[...values, count - 1],
  );
  return found && [found.sort, found.id];
}

/** A part of a walk: from a place to its end, or without one to the last row. */
interface Slice {
  database: Database;
  query: RowQuery;
  walk: Walk;
  place: Place;
  end: [SQLInputValue, string] | undefined;
  moment: Moment | undefined;
}

/** Sources of a slice: rows that are as they were, and the changed ones as they were. */
function sourcesOf({ walk, place, end, moment, query: { table } }: Slice): [string, SQLInputValue[]][] {
  const { sql, values } = between(walk, place, end);
  if (!moment?.hasChanges()) return [[`${walk.from}${sql}`, values]];
  const [unchanged, reader] = moment.unchanged;
  const [before, ofTable] = moment.before(table.id);
  return [
    [`${walk.from}${sql}${unchanged}`, [...values, ...reader]],
    [`${before}${sql}`, [...ofTable, ...values]],
  ];
}

/** Number of rows in a slice, whose end is `step` rows away. */
function countIn(slice: Slice, step: number): number {
  const sources = sourcesOf(slice);
  if (slice.end && sources.length === 1) return step;
  const count = ([from, values]: [string, SQLInputValue[]]) =>
    slice.database.one<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0;
  return sources.reduce((sum, source) => sum + count(source), 0);
}

function rowsIn(slice: Slice): WalkedRow[] {
  const { database, query, walk } = slice;
  const { table, terms } = query;
  const keys = walk.ordered ? "" : terms.map(({ column }, at) => `, ${column.sql} AS key${at}`).join("");
  const where = walk.outside.map((condition) => ` AND ${condition.sql}`).join("");
  const sources = sourcesOf(slice);
  const selects = sources.map(([from]) => `SELECT ${columnsOf(table)}${keys} ${from}${where}`);
  return database.all<WalkedRow>(
    `${selects.join(" UNION ALL ")} ORDER BY ${orderOf(walk)}`,
    ...sources.flatMap(([, values]) => [...values, ...walk.outside.flatMap((condition) => condition.values)]),
  );
}
