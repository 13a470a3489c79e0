import type { SQLInputValue } from "node:sqlite";
import { timeOf } from "../../platform/contract/values.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { forbidden, invalid, type PlatformError } from "../data/platformError.ts";
import { sortName, type Table } from "../data/tables.ts";
import type { KeptRow } from "./records.ts";

/** Where SQL finds the values of a key, and what they are. */
export interface Column {
  sql: string;
  kind: "text" | "number" | "boolean" | "time";
  /** Number of the sort field whose index has the column. */
  sort?: number;
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

/** Operators that filters may use. Operators that run code, such as $where, are left out. */
const operators = new Set(
  "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $regex $options $size $all $elemMatch $mod".split(" "),
);

/** Most conditions of one read: SQLite takes an expression of 1,000 levels. */
export const maxConditions = 400;

export const tooMany = (where: string, count: number, what: string, max: number): PlatformError =>
  invalid(`${where}: ${count} ${what} are more than the ${max} that one read takes`);

/** Refuses filters with unknown operators, and too many conditions: keys and operators at all levels. */
export function validateFilters(filters: unknown): void {
  const count = countConditions(filters);
  if (count > maxConditions) throw tooMany("optViewFilters", count, "conditions", maxConditions);
}

function countConditions(filters: unknown): number {
  if (Array.isArray(filters)) return filters.reduce<number>((sum, value) => sum + countConditions(value), 0);
  if (!isObject(filters)) return 0;
  return Object.entries(filters).reduce((sum, [key, inner]) => {
    if (key.startsWith("$") && !operators.has(key)) throw invalid(`optViewFilters: operator ${key} is not supported`);
    return sum + Math.max(1, countConditions(inner));
  }, 0);
}

export const idColumn: Column = { sql: "id", kind: "text" };
export const parentColumn: Column = { sql: "parent", kind: "text" };

const systemColumns: Readonly<Record<string, Column>> = {
  _id: idColumn,
  embeddingRowID: parentColumn,
  userID: { sql: "creator", kind: "text" },
  parentResourceID: { sql: "table_id", kind: "text" },
  submitted: { sql: "submitted", kind: "time" },
  isLocked: { sql: "locked", kind: "boolean" },
  hasConflict: { sql: "conflict", kind: "boolean" },
};

const sortField = ({ sorted }: Table, key: string): Table["sorted"][number] | undefined =>
  sorted.find(({ sort }) => key === sortName(sort) || key === `sortVal${sort}`);

/** The value of a label in a row's document; undefined for a label that can't be written in a path. */
const inDocument = (label: string, kind: Column["kind"], inside = ""): Column | undefined =>
  /["\\'\0]/.test(label) ? undefined : { sql: `json_extract(data, '$."${label}"${inside}')`, kind, inDocument: true };

/** Where the values of a stored key are; undefined for those that SQL can't compare as the documents do. */
function columnOf(table: Table, key: string, strict: boolean): Column | undefined {
  if (Object.hasOwn(systemColumns, key)) return systemColumns[key];
  if (!strict) return undefined; // anything may stand in a field
  const sorted = sortField(table, key);
  if (sorted) {
    const { sort, type } = sorted;
    if (type === "linked" || type === "checkbox") return undefined; // of either type, or a boolean
    return { sql: `sort${sort}`, kind: type === "number" ? "number" : type === "date" ? "time" : "text", sort };
  }
  const field = table.fields.get(key);
  if (field?.type !== "text" && field?.type !== "number") return undefined;
  // The sort value of a text or number is the value itself, and has an index.
  return field.sort === null
    ? inDocument(key, field.type)
    : { sql: `sort${field.sort}`, kind: field.type, sort: field.sort };
}

/** The column that a sort key means; undefined for a key that no row has. */
export function sortColumnOf(table: Table, key: string): Column | undefined {
  if (Object.hasOwn(systemColumns, key)) return systemColumns[key];
  const field = sortField(table, key) ?? table.fields.get(key);
  if (!field) return undefined;
  if (field.sort !== null) return { sql: `sort${field.sort}`, kind: "text", sort: field.sort };
  const inside: Readonly<Record<string, string>> = { linked: ".value.value", location: ".address.formattedAddress" };
  return inDocument(key, "text", inside[field.type]);
}

/** Filters in two parts: conditions that SQL decides, and those left for the documents. */
interface Filters {
  conditions: Condition[];
  rest: Json[];
}

/** Moves to SQL whatever means the same there; the rest is matched by documents. */
export function splitFilters(table: Table, filters: readonly Json[], strict: boolean): Filters {
  const result: Filters = { conditions: [], rest: [] };
  for (const [key, value] of filters.flatMap(Object.entries<unknown>)) {
    const conditions = conditionsOf(table, key, value, strict);
    if (conditions) result.conditions.push(...conditions);
    else result.rest.push(Object.fromEntries([[key, value]]));
  }
  return result;
}

/** Conditions on a key that all hold; apart from each other, so that each may find an index. Undefined when documents decide. */
function conditionsOf(table: Table, key: string, value: unknown, strict: boolean): Condition[] | undefined {
  const column = columnOf(table, key, strict);
  const entries = isObject(value) ? Object.entries(value) : [["$eq", value] as const];
  if (!column || entries.length === 0) return undefined;
  const parts = entries.map(([operator, operand]) => compare(column, operator, operand));
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

const signs: Readonly<Record<string, string>> = { $eq: "=", $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

function compare(column: Column, operator: string, operand: unknown): Condition | undefined {
  const { sql, kind } = column;
  if (operator === "$in") {
    const values = Array.isArray(operand) ? operand.map((item) => comparable(kind, item)) : [undefined];
    if (values.includes(undefined)) return undefined;
    const among = `${sql} IN (SELECT value FROM json_each(?))`;
    return { sql: among, values: [JSON.stringify(values)], column, test: "among" };
  }
  const value = comparable(kind, operand);
  const sign = Object.hasOwn(signs, operator) ? signs[operator] : undefined;
  if (value === undefined) return undefined;
  if (operator === "$eq") return { sql: `${sql} = ?`, values: [value], column, test: "equal" };
  if (sign === undefined) return undefined;
  return { sql: `${sql} ${sign} ?`, values: [value], column, test: "range" };
}

/** An operand as its column holds it; undefined when the documents must decide. */
function comparable(kind: Column["kind"], value: unknown): SQLInputValue | undefined {
  if (kind === "time") return timeOf(value);
  if (kind === "text") return typeof value === "string" ? value : undefined;
  return kind === "number" && typeof value === "number" ? value : undefined;
}

type Asking = Pick<CallContext, "user" | "database">;

const mayRead = `(viewers IS NULL AND team_viewers IS NULL OR creator = ?
  OR EXISTS (SELECT 1 FROM json_each(viewers) v WHERE v.value = ?)
  OR EXISTS (SELECT 1 FROM json_each(team_viewers) v JOIN members m ON m.team_id = v.value WHERE m.user_id = ?))`;

/**
 * The rows that a user may see: all without viewers, those whose viewers or team viewers they are among, and their own.
 * That platform administrators see everything, and that who sees a row may write it, is assumed.
 */
export const toVisibleCondition = ({ user }: Asking): Condition[] =>
  user.admin ? [] : [{ sql: mayRead, values: [user.id, user.id, user.id] }];

/** True if a user may see a row. */
export const isVisible = ({ user, database }: Asking, { id }: KeptRow): boolean =>
  user.admin ||
  database.one(`SELECT 1 FROM rows WHERE id = ? AND ${mayRead}`, id, user.id, user.id, user.id) !== undefined;

export function requireVisible(call: Asking, row: KeptRow): void {
  if (!isVisible(call, row)) throw forbidden("Only the row's viewers can see it");
}

/** A locked row is changed by nobody but platform administrators (assumed). */
export function requireWritable(call: Asking, row: KeptRow): void {
  requireVisible(call, row);
  if (row.locked === 1 && !call.user.admin) throw forbidden("The row is locked");
}
