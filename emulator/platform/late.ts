import { textsIn, at, isObject } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { notFound } from "../data/platformError.ts";

/** The tables of things, with the columns of their IDs and of when they were made. */
const things = [
  ["Row", "rows", "id", "submitted"],
  ["Organization", "organizations", "id", "created"],
  ["Team", "teams", "id", "created"],
  ["Child", "children", "id", "created"],
] as const;

/** Parameters that name things. */
const named = ["rowID", "embeddingRowID", "appID", "organizationID", "teamID", "teamIDs", "childID"];

/** Answers as a copy does that is brought up to date so many milliseconds later: what was made since is not found. */
export function asSeenBefore(
  { database, now }: { database: Database; now: number },
  milliseconds: number,
  request: unknown,
  answer: () => unknown,
): unknown {
  if (milliseconds === 0) return answer();
  refuseLate(database, now - milliseconds, request);
  return withoutLate(database, now - milliseconds, answer());
}

/** Throws for a request that names a thing which was made after `since`. */
function refuseLate(database: Database, since: number, request: unknown): void {
  if (!isObject(request)) return;
  const parts = [request, request["teamInfo"]].filter(isObject);
  for (const id of textsIn(parts.map((part) => named.map((name) => part[name])))) {
    for (const [what, table, key, made] of things) {
      if (database.one(`SELECT 1 FROM ${table} WHERE ${key} = ? AND ${made} > ?`, id, since)) throw notFound(what, id);
    }
  }
}

/** An answer without the rows, members and child records that were made after `since`. */
function withoutLate(database: Database, since: number, answer: unknown): unknown {
  const body = at(answer, "body");
  if (!isObject(answer) || !isObject(body)) return answer;
  const left = { ...body };
  for (const [list, table] of lists) {
    const items = left[list];
    if (!Array.isArray(items)) continue;
    const isLate = (item: unknown): boolean => {
      const id = idOf(item);
      const made = table === "rows" ? "submitted" : "created";
      return id !== undefined && !!database.one(`SELECT 1 FROM ${table} WHERE id = ? AND ${made} > ?`, id, since);
    };
    left[list] = (items as unknown[]).filter((item) => !isLate(item));
  }
  return { ...answer, body: left };
}

const lists = [
  ["microAppRows", "rows"],
  ["teamMembers", "members"],
  ["childItems", "children"],
] as const;

function idOf(item: unknown): string | undefined {
  const id = isObject(item) ? item["_id"] : undefined;
  return typeof id === "string" ? id : undefined;
}
