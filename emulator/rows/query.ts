import type { ParsedRequestOf } from "../../platform/contract/endpoints.ts";
import { at, isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import type { Table } from "../data/tables.ts";
import * as filters from "./filters.ts";
import { idColumn, type Column, type Condition } from "./filters.ts";
import { fieldByID, hint, remarkOnFilters } from "./remarks.ts";

type Remarking = Pick<CallContext, "remark">;
type Request = ParsedRequestOf<"microappdata">;

/** Conditions and order of a read. */
export interface RowQuery {
  table: Table;
  /** Conditions that SQL decides. */
  conditions: Condition[];
  /** Filters that only the documents can decide. */
  rest: Json[];
  /** Order of the answer; it ends with the row's ID. */
  terms: Term[];
}

export function queryOf(request: Request, table: Table, call: CallContext): RowQuery {
  const { optViewFilters = [], searchFilter = [] } = request;
  filters.validateFilters(optViewFilters);
  remarkOnFilters(call, table, optViewFilters);
  const all = [...optViewFilters, ...searchFilters(request, table, call)];
  const { conditions, rest } = filters.splitFilters(table, all, isTyped(call));
  conditions.push(...filters.toVisibleCondition(call));
  const terms = order(request, table, call);
  if (searchFilter.some(({ skip = 0 }) => skip > 0) && !terms.some(({ asked }) => asked))
    call.remark("searchFilter: skip without a sort may repeat rows and miss others");
  // An order that changes: the shuffle of one answer would leave pages with the same rows.
  if (isUnordered(request, call)) terms.forEach((term) => (term.down = Math.random() < 0.5));
  return { table, conditions, rest, terms };
}

/** True if rows come in another order each time: nobody sorts them. */
export const isUnordered = ({ optViewSort, searchFilter = [] }: Request, { habits }: CallContext): boolean =>
  habits.rowOrder === "changing" &&
  viewSorts(optViewSort).length === 0 &&
  searchFilter.every(({ field }) => field === undefined);

/** True if fields hold values of their own type alone. */
const isTyped = ({ habits }: CallContext): boolean => habits.wrongValues !== "kept";

/** Equality on fields by ID, as filters: a link equals the ID of the row it links, a list anything that is in it (assumed). */
function searchFilters(request: Request, table: Table, call: CallContext): Json[] {
  const { optSearchFilters = [] } = request;
  if (optSearchFilters.length > filters.maxConditions) {
    throw filters.tooMany("optSearchFilters", optSearchFilters.length, "filters", filters.maxConditions);
  }
  return optSearchFilters
    .map((filter, index) => ({ ...filter, where: `optSearchFilters.${index}.fieldID` }))
    .filter(({ resourceID, where }) => isMeant(table, resourceID, where.replace("fieldID", "resourceID"), call))
    .map(({ fieldID, value, where }) => {
      const field = fieldByID(call, table, fieldID, where);
      if (!field) call.remark(`${where}: ${table.name} has no field of the ID ${fieldID}, so no row fits`);
      if (!field) return { _id: { $in: [] } };
      if (field.type !== "linked") return { [field.label]: { $eq: value ?? null } };
      return { [`${field.label}.crossAppRowID`]: { $eq: at(value, "crossAppRowID") ?? value ?? null } };
    });
}

/** True if an entry is about the table that is read; else it is left out, which is remarked. */
function isMeant(table: Table, resourceID: string | undefined, where: string, { remark }: Remarking): boolean {
  if (resourceID === undefined || resourceID === table.id) return true;
  remark(`${where}: ${resourceID} is not the table that is read, ${table.id}: the entry counts for nothing`);
  return false;
}

export interface Term {
  column: Column;
  down: boolean;
  /** True if the request names it. */
  asked?: boolean;
}

/** Most sort entries of one read. */
const maxSorts = 100;

/** Order of the answer: view sorts, then numbered sort fields, then the row ID, so that it is always the same. */
function order(request: Request, table: Table, call: Remarking): Term[] {
  const { remark } = call;
  const sorts: [Column | undefined, unknown][] = [
    ...viewSorts(request.optViewSort).map(([key, way]): [Column | undefined, unknown] => {
      const column = filters.sortColumnOf(table, key);
      if (!column) remark(`optViewSort: no row of ${table.name} has ${key}${hint(key, table.fields.keys())}`);
      return [column, way];
    }),
    ...(request.searchFilter ?? [])
      .filter(({ resourceID }, at) => isMeant(table, resourceID, `searchFilter.${at}.resourceID`, call))
      .map(({ field, order }): [Column | undefined, unknown] => {
        const sorted = table.sorted.find(({ sort }) => String(sort) === field);
        if (field !== undefined && !sorted) remark(`searchFilter: ${field} is no sort field of ${table.name}`);
        return [sorted && { sql: `sort${sorted.sort}`, kind: "text", sort: sorted.sort }, order];
      }),
  ];
  const where = request.optViewSort === undefined ? "searchFilter" : "optViewSort";
  if (sorts.length > maxSorts) throw filters.tooMany(where, sorts.length, "sort entries", maxSorts);
  const terms: Term[] = [];
  let down = false;
  for (const [column, way] of sorts) {
    if (!column) continue; // a key that no row has sorts nothing
    down = way === -1 || way === "-1" || way === "desc" || way === "descending";
    terms.push({ column, down, asked: true });
    if (column === idColumn) return terms;
  }
  return [...terms, { column: idColumn, down }];
}

/** Keys with their direction, from an object or from a list of objects or pairs. */
function viewSorts(sort: Request["optViewSort"] = {}): [string, unknown][] {
  if (!Array.isArray(sort)) return Object.entries(sort);
  return sort.flatMap((part): [string, unknown][] => {
    if (Array.isArray(part)) return [[String(part[0]), part[1]]];
    return isObject(part) ? Object.entries(part) : [];
  });
}
