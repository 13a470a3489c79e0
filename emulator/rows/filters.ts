import type { SQLInputValue } from "node:sqlite";
import { timeOf } from "../../provider/contract/fields.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import { invalid } from "../data/platformError.ts";
import { sortName, type Table } from "../data/tables.ts";
import type { Column, Condition } from "./access.ts";

/** Operators that filters may use. Operators that run code, such as $where, are left out. */
const operators = new Set(
  "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $regex $options $size $all $elemMatch $mod".split(" "),
);

/** Refuses filters with unknown operators. */
export function validateFilters(filters: unknown): void {
  for (const value of Array.isArray(filters) ? (filters as unknown[]) : [filters]) {
    if (!isObject(value)) {
      if (Array.isArray(value)) validateFilters(value);
      continue;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (key.startsWith("$") && !operators.has(key)) throw invalid(`optViewFilters: operator ${key} is not supported`);
      validateFilters(inner);
    }
  }
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
    return { sql: `sort${sort}`, kind, sort };
  }
  const field = table.fields.get(key);
  // Without strictness anything may stand in a field.
  if (!field || !strict || (field.type !== "text" && field.type !== "number")) return undefined;
  // The sort value of a text or number is the value itself, and has an index.
  if (field.sort !== null) return { sql: `sort${field.sort}`, kind: field.type, sort: field.sort };
  if (/["\\']/.test(key)) return undefined; // a quotation mark can't be written in a path
  return { sql: `json_extract(data, '$."${key}"')`, kind: field.type, inDocument: true };
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
      const condition = conditionOf(table, key, value, strict);
      if (condition) result.conditions.push(condition);
      else result.rest.push(Object.fromEntries([[key, value]]));
    }
  }
  return result;
}

const maxAlternatives = 100;

function conditionOf(table: Table, key: string, value: unknown, strict: boolean): Condition | undefined {
  if (key === "$and" || key === "$or") {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxAlternatives) return undefined;
    const parts = (value as unknown[]).map((part) => wholeInSQL(table, part, strict));
    return parts.every((part) => part !== undefined) ? joined(parts, key === "$or" ? " OR " : " AND ") : undefined;
  }
  const column = columnOf(table, key, strict);
  if (!column) return undefined;
  if (!isObject(value)) return compare(column, "$eq", value);
  const entries = Object.entries(value);
  if (entries.length === 0) return undefined;
  const parts = entries.map(([operator, operand]) => compare(column, operator, operand));
  return parts.every((part) => part !== undefined) ? joined(parts, " AND ") : undefined;
}

function wholeInSQL(table: Table, filter: unknown, strict: boolean): Condition | undefined {
  if (!isObject(filter) || Object.keys(filter).length === 0) return undefined;
  const { conditions, rest } = splitFilters(table, [filter], strict);
  return rest.length === 0 ? joined(conditions, " AND ") : undefined;
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
  return { sql: `${sql} ${sign} ?`, values: [value], column, test: operator === "$eq" ? "equal" : "range" };
}

/** An operand as its column holds it; undefined when the documents must decide. */
function comparable(kind: Column["kind"], value: unknown): SQLInputValue | undefined {
  if (kind === "boolean") return typeof value === "boolean" ? Number(value) : undefined;
  if (kind === "time") return timeOf(value);
  if (kind === "text") return typeof value === "string" ? value : undefined;
  return typeof value === "number" ? value : undefined;
}
