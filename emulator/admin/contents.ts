import { isObject, type Json } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import type { CallFilter, LoggedCall } from "../data/callLog.ts";
import { allUsers, membersOf, teamsOf } from "../data/people.ts";
import { invalid } from "../data/platformError.ts";
import { findShownField, findTable, requireTable, sortName, type TableField } from "../data/tables.ts";
import { countFound, readRows } from "../endpoints/rowReads.ts";
import type { Platform } from "../platform/platform.ts";

// Contents of a platform for the console. Nothing here changes the platform or is logged as a call.

/** Enough for an export in one answer. */
const maxRows = 100_000;

/** Tables with their fields and the number of their rows. */
export function tableList({ database }: Platform) {
  const tables = [];
  for (const { id } of database.all<{ id: string }>("SELECT id FROM tables ORDER BY position")) {
    const rows =
      database.one<{ count: number }>("SELECT count(*) AS count FROM rows WHERE table_id = ?", id)?.count ?? 0;
    const { name, parent, fields } = requireTable(database, id);
    const shown = [...fields.values()].map((field) => {
      const { id, label, type, sort } = field;
      return { id, label, type, sort, target: targetOf(database, field) };
    });
    tables.push({ id, name, parent, rows, fields: shown });
  }
  return tables;
}

/** Where a linked field leads: a table, and the label of its field that stands for a row. */
function targetOf(database: Platform["database"], { targetTable, targetField }: TableField) {
  const table = targetTable === null ? undefined : findTable(database, targetTable);
  const shown = table && findShownField(table, targetField);
  return shown ? { table: table.id, field: shown.label } : null;
}

/**
 * One page of a table's rows: 50 by default, 100,000 at most. `filter` is a view filter, or a list that all must fit.
 */
export function rowPage(platform: Platform, query: URLSearchParams) {
  const microAppID = query.get("table") ?? "";
  const limit = Math.min(wholeIn(query, "limit", 50), maxRows);
  const filter = query.get("filter");
  const sort = query.get("sort");
  const request = {
    microAppID,
    searchFilter: [{ skip: wholeIn(query, "skip", 0), limit: limit + 1 }],
    ...(filter === null ? {} : { optViewFilters: filtersIn(filter) }),
    ...(sort === null
      ? {}
      : { optViewSort: { [keyOf(platform, microAppID, sort)]: Number(query.get("direction") ?? 1) } }),
  };
  const call = onlooker(platform);
  const rows = readRows(request, call);
  const skipped = request.searchFilter[0]?.skip ?? 0;
  const more = rows.length > limit;
  const ended = !more && (rows.length > 0 || skipped === 0);
  const total = ended ? skipped + rows.length : countFound(request, call);
  return { rows: rows.slice(0, limit), more, total };
}

/** A sort field goes by its stored value, which has an index. */
function keyOf({ database }: Platform, tableID: string, label: string): string {
  const sort = requireTable(database, tableID).fields.get(label)?.sort ?? null;
  return sort === null ? label : sortName(sort);
}

function wholeIn(query: URLSearchParams, name: string, otherwise: number): number {
  const value = Number(query.get(name) ?? otherwise);
  if (!Number.isSafeInteger(value) || value < 0) throw invalid(`${name} must be a whole number`);
  return value;
}

function filtersIn(text: string): Json[] {
  try {
    const value: unknown = JSON.parse(text);
    const filters: unknown[] = Array.isArray(value) ? value : [value];
    if (filters.length > 0 && filters.every(isObject)) return filters;
  } catch {
    // Text that is not JSON gets the error below.
  }
  throw invalid("filter must be a JSON object, or a list of them");
}

function onlooker(platform: Platform): CallContext {
  const { database, dialect } = platform;
  const user = { id: "", email: "", admin: true, invited: false };
  const newID = () => "";
  const nothing = { token: undefined, fetched: undefined, otherForms: [], remark: () => undefined };
  return { database, ...dialect, now: platform.now(), newID, url: "", user, ...nothing };
}

/** Organizations with teams, members and roles. */
export function organizationTree({ database }: Platform) {
  const kept = database.all<{ id: string; name: string; description: string | null }>(
    "SELECT id, name, description FROM organizations ORDER BY name",
  );
  return kept.map((organization) => ({
    ...organization,
    teams: teamsOf(database, organization.id).map(({ id, name, description, isAllMembers }) => ({
      id,
      name,
      description,
      isAllMembers: isAllMembers === 1,
      members: membersOf(database, id).map(({ userID, email, role }) => ({ userID, email, role })),
    })),
  }));
}

/** Most calls that one answer has. */
const maxListed = 10_000;

/** Logged calls with the addresses of their callers, 10,000 at most, and the number of the newest call. */
export function callList(platform: Platform, filter: CallFilter) {
  const emails = new Map(allUsers(platform.database).map(({ id, email }) => [id, email]));
  const emailOf = ({ userID, request }: LoggedCall): string | null => {
    if (userID !== null) return emails.get(userID) ?? null;
    return typeof request["email"] === "string" ? request["email"] : null; // a login names its user
  };
  const limit = Math.min(filter.limit ?? maxListed, maxListed);
  const listed = platform.calls({ ...filter, limit });
  return { calls: listed.map((call) => ({ ...call, email: emailOf(call) })), last: platform.lastCall() };
}
