import type { SQLInputValue } from "node:sqlite";
import { timeOf } from "../../provider/contract/fields.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { forbidden, invalid, type PlatformError } from "../data/platformError.ts";
import { findTable, sortName, type Table } from "../data/tables.ts";
import { findRow, type KeptRow } from "./records.ts";

/** Operators that filters may use. Operators that run code, such as $where, are left out. */
const operators = new Set(
  "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $regex $options $size $all $elemMatch $mod".split(" "),
);

/** Most conditions of one read: SQLite takes an expression of 1,000 levels. */
export const maxConditions = 400;

/** Refuses filters with unknown operators, and too many conditions. */
export function validateFilters(filters: unknown): void {
  const count = countConditions(filters);
  if (count > maxConditions) throw tooMany("optViewFilters", count, "conditions", maxConditions);
}

export const tooMany = (where: string, count: number, what: string, max: number): PlatformError =>
  invalid(`${where}: ${count} ${what} are more than the ${max} that one read takes`);

/** Counts keys and operators at all levels. */
function countConditions(filters: unknown): number {
  let count = 0;
  for (const value of Array.isArray(filters) ? (filters as unknown[]) : [filters]) {
    if (Array.isArray(value)) count += countConditions(value);
    if (!isObject(value)) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key.startsWith("$") && !operators.has(key)) throw invalid(`optViewFilters: operator ${key} is not supported`);
      count += Math.max(1, countConditions(inner));
    }
  }
  return count;
}

export const idColumn: Column = { sql: "id", kind: "text" };
export const parentColumn: Column = { sql: "parent", kind: "text" };

const systemColumns: Record<string, Column> = {
  _id: idColumn,
  embeddingRowID: parentColumn,
  userID: { sql: "creator", kind: "text" },
  parentResourceID: { sql: "table_id", kind: "text" },
  submitted: { sql: "submitted", kind: "time" },
  isLocked: { sql: "locked", kind: "boolean" },
  hasConflict: { sql: "conflict", kind: "boolean" },
};

/** Where the values of a stored key are; undefined for those that SQL can't compare as the documents do. */
export function columnOf(table: Table, key: string, strict: boolean): Column | undefined {
  if (Object.hasOwn(systemColumns, key)) return systemColumns[key];
  for (const { sort, type } of table.sorted) {
    if (key !== sortName(sort) && key !== `sortVal${sort}`) continue;
    if (type === "linked") return undefined; // of either type
    const kind = type === "number" ? "number" : type === "checkbox" ? "boolean" : type === "date" ? "time" : "text";
    return { sql: `sort${sort}`, kind, sort, mixed: !strict };
  }
  const field = table.fields.get(key);
  // Without strictness anything may stand in a field.
  if (!field || !strict || (field.type !== "text" && field.type !== "number")) return undefined;
  // The sort value of a text or number is the value itself, and has an index.
  if (field.sort !== null) return { sql: `sort${field.sort}`, kind: field.type, sort: field.sort };
  if (/["\\'\0]/.test(key)) return undefined; // none of them can be written in a path
  return { sql: `json_extract(data, '$."${key}"')`, kind: field.type, inDocument: true };
}

/**
 * The column that a sort key means: the one of a stored key, of a field's sort value, or the value in the document.
 * Undefined for a key that no row has.
 */
export function sortColumnOf(table: Table, key: string): Column | undefined {
  if (Object.hasOwn(systemColumns, key)) return systemColumns[key];
  const field =
    table.sorted.find(({ sort }) => key === sortName(sort) || key === `sortVal${sort}`) ?? table.fields.get(key);
  if (!field) return undefined;
  if (field.sort !== null) return { sql: `sort${field.sort}`, kind: "text", sort: field.sort };
  const inside = { linked: ".value.value", location: ".address.formattedAddress" } as Record<string, string>;
  if (/["\\'\0]/.test(key)) return undefined; // none of them can be written in a path
  return { sql: `json_extract(data, '$."${key}"${inside[field.type] ?? ""}')`, kind: "text", inDocument: true };
}

/** Filters in two parts: conditions that SQL decides, and those left for the documents. */
export interface Filters {
  conditions: Condition[];
  rest: Json[];
}

/** Moves to SQL whatever means the same there; the rest is matched by documents. */
export function splitFilters(table: Table, filters: readonly Json[], strict: boolean): Filters {
  const result: Filters = { conditions: [], rest: [] };
  for (const filter of filters) {
    for (const [key, value] of Object.entries(filter)) {
      const conditions = conditionsOf(table, key, value, strict);
      if (conditions) result.conditions.push(...conditions);
      else result.rest.push(Object.fromEntries([[key, value]]));
    }
  }
  return result;
}

const maxAlternatives = 100;

/** Conditions that all hold; apart from each other, so that each may find an index. Undefined when documents decide. */
function conditionsOf(table: Table, key: string, value: unknown, strict: boolean): Condition[] | undefined {
  if (key === "$and" || key === "$or") {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxAlternatives) return undefined;
    const parts = (value as unknown[]).map((part) => allInSQL(table, part, strict));
    if (!parts.every((part) => part !== undefined)) return undefined;
    return key === "$and"
      ? parts.flat()
      : [
          joined(
            parts.map((part) => joined(part, " AND ")),
            " OR ",
          ),
        ];
  }
  const column = columnOf(table, key, strict);
  if (!column) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [["$eq", value] as const];
  if (entries.length === 0) return undefined;
  const parts = entries.map(([operator, operand]) => compare(column, operator, operand));
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

function allInSQL(table: Table, filter: unknown, strict: boolean): Condition[] | undefined {
  if (!isObject(filter) || Object.keys(filter).length === 0) return undefined;
  const { conditions, rest } = splitFilters(table, [filter], strict);
  return rest.length === 0 ? conditions : undefined;
}

function joined(parts: readonly Condition[], by: " AND " | " OR "): Condition {
  const [only, ...others] = parts;
  if (only && others.length === 0) return only;
  return { sql: `(${parts.map(({ sql }) => sql).join(by)})`, values: parts.flatMap(({ values }) => values) };
}

const signs: Record<string, string> = { $eq: "=", $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

function compare(column: Column, operator: string, operand: unknown): Condition | undefined {
  const { sql, kind } = column;
  if (operator === "$in" || operator === "$nin") {
    const values = Array.isArray(operand) ? operand.map((item) => comparable(kind, item)) : [undefined];
    if (values.includes(undefined)) return undefined;
    const list = JSON.stringify(values);
    const among = `${sql} IN (SELECT value FROM json_each(?))`;
    if (operator === "$in") return { sql: among, values: [list], column, test: "among" };
    return { sql: `(${sql} IS NULL OR NOT ${among})`, values: [list] };
  }
  const value = comparable(kind, operand);
  if (value === undefined) return undefined;
  if (operator === "$ne") return { sql: `(${sql} IS NULL OR ${sql} <> ?)`, values: [value] };
  const sign = Object.hasOwn(signs, operator) ? signs[operator] : undefined;
  if (sign === undefined) return undefined;
  if (operator === "$eq") return { sql: `${sql} = ?`, values: [value], column, test: "equal" };
  const types = typeof value === "string" ? "'text'" : "'integer', 'real'";
  const bracket = column.mixed === true ? ` AND typeof(${sql}) IN (${types})` : "";
  return { sql: `(${sql} ${sign} ?${bracket})`, values: [value], column, test: "range" };
}

/** An operand as its column holds it; undefined when the documents must decide. */
function comparable(kind: Column["kind"], value: unknown): SQLInputValue | undefined {
  if (kind === "boolean") return typeof value === "boolean" ? Number(value) : undefined;
  if (kind === "time") return timeOf(value);
  if (kind === "text") return typeof value === "string" ? value : undefined;
  return typeof value === "number" ? value : undefined;
}

/** Where SQL finds the values of a key, and what they are. */
export interface Column {
  sql: string;
  kind: "text" | "number" | "boolean" | "time";
  /** Number of the sort field whose index has the column. */
  sort?: number;
  /** True if values of another type may stand beside those of `kind`: a range leaves them out. */
  mixed?: boolean;
  /** The value is read out of the row's document, which no index has. */
  inDocument?: boolean;
}

/** A condition in SQL with the values of its question marks. */
export interface Condition {
  sql: string;
  values: SQLInputValue[];
  /** The column that it narrows down; left out when an index on one column can't help. */
  column?: Column;
  /** How it narrows the column down: to one value, to several, or to a range. */
  test?: "equal" | "among" | "range";
}

/** No row fulfils it. */
export const never: Condition = { sql: "0", values: [] };

type Asking = Pick<CallContext, "user" | "database">;

/**
 * The rows of a table that a user may see: all without viewers, those whose viewers or team viewers they are among, and
 * their own; of a sub-table those whose parent they may see. That platform administrators see everything, and that who
 * sees a row may write it, is assumed.
 */
export function toVisibleCondition(call: Asking, table: Table): Condition | undefined {
  const { user, database } = call;
  if (user.admin) return undefined;
  let condition = "";
  const chain: string[] = [];
  const seen = new Set<string>();
  for (
    let at: Table | undefined = table;
    at && !seen.has(at.id);
    at = at.parent ? findTable(database, at.parent) : undefined
  ) {
    seen.add(at.id);
    chain.push(chain.length === 0 ? "rows" : `parent${chain.length}`);
  }
  for (const [level, row] of [...chain.entries()].reverse()) {
    const above = chain[level + 1];
    const parent =
      above === undefined
        ? ""
        : `AND EXISTS (SELECT 1 FROM rows ${above} WHERE ${above}.id = ${row}.parent AND ${condition})`;
    condition = `${mayRead(row)} ${parent}`;
  }
  return { sql: `(${condition})`, values: chain.flatMap(() => [user.id, user.id, user.id]) };
}

const mayRead = (row: string): string =>
  `(${row}.viewers IS NULL AND ${row}.team_viewers IS NULL OR ${row}.creator = ?
    OR EXISTS (SELECT 1 FROM json_each(${row}.viewers) v WHERE v.value = ?)
    OR EXISTS (SELECT 1 FROM json_each(${row}.team_viewers) v JOIN members m ON m.team_id = v.value WHERE m.user_id = ?))`;

/** True if a user may see a row, and the rows above it. */
export function isVisible({ user, database }: Asking, row: KeptRow): boolean {
  if (user.admin) return true;
  for (let at: KeptRow | undefined = row; at; at = at.parent === null ? undefined : findRow(database, at.parent)) {
    if (at.viewers === null && at.team_viewers === null) continue;
    const seen = `SELECT 1 FROM rows WHERE id = ? AND ${mayRead("rows")}`;
    if (!database.one(seen, at.id, user.id, user.id, user.id)) return false;
  }
  return true;
}

export function requireVisible(call: Asking, row: KeptRow): void {
  if (!isVisible(call, row)) throw forbidden("Only the row's viewers can see it");
}

/** A locked row is changed by nobody but platform administrators (assumed). */
export function requireWritable(call: Asking, row: KeptRow): void {
  requireVisible(call, row);
  if (row.locked === 1 && !call.user.admin) throw forbidden("The row is locked");
}
