import { endpoints, type EndpointName, type RequestOf } from "../contract/endpoints.ts";
import { isRefusal } from "../contract/wire.ts";
import { completeDialect } from "../profile/profile.ts";
import { Caller } from "./caller.ts";
import type { CallOptions } from "./http/call.ts";
import type { Client, ClientOptions } from "./options.ts";

/**
 * Makes a client of a platform. It sends nothing before the first call, which logs in when credentials are an e-mail
 * address and a password. Every call resolves to its answer or rejects with an `ApiError`. Throws a TypeError for a
 * malformed `endpoint`, and for a key or token that no header can have.
 */
export function createClient(options: ClientOptions): Client {
  const dialect = completeDialect(options.profile);
  const caller = new Caller(options, dialect.habits);
  const names = Object.keys(endpoints) as EndpointName[]; // the keys of a const object
  const methods = names.map((name) => [
    name,
    (request: RequestOf<typeof name>, call?: CallOptions) => caller.call(name, request, call),
  ]);
  const insertWritten: Client["insertWritten"] = (request, rows, call) =>
    caller.call("insertmicroapprows", request, call, { rows });
  const { consistencyMs = 0 } = options;
  const own = { insertWritten, dialect, consistencyMs, callerID: () => caller.callerID(), close: () => caller.close() };
  const microappdata = inAnyPages(caller);
  const client = { ...Object.fromEntries(methods), microappdata, ...own } as Client; // one method for each name
  return dialect.habits.teamParameter === "teamID" ? { ...client, ...oneTeamEach(client) } : client;
}

/** Most rows of a page, from the documented number on; after them the numbers are texts. */
const pageSizes = [10_000, 1_000, 500, 100];

/** Reads of tables in smaller pages, or with numbers as texts, on a platform that refuses others; kept once one is taken. */
function inAnyPages(caller: Caller): Client["microappdata"] {
  let kept = 0;
  const send: typeof caller.call<"microappdata"> = (name, { searchFilter = [], ...request }, options) => {
    const most = pageSizes[kept] ?? 1_000;
    const pages = searchFilter.map(({ limit, ...page }) =>
      limit === undefined ? page : { ...page, limit: Math.min(Number(limit), most) },
    );
    if (kept < pageSizes.length) return caller.call(name, { ...request, searchFilter: pages }, options);
    const texts = pages.map((page) =>
      JSON.stringify(page, (_, value: unknown) => (typeof value === "number" ? String(value) : value)),
    );
    return caller.call(name, request, options, { searchFilter: texts });
  };
  return async (request, options) => {
    if (request.searchFilter === undefined) return caller.call("microappdata", request, options);
    const isOpen = kept === 0 && request.optViewFilters === undefined && request.optSearchFilters === undefined;
    try {
      return await send("microappdata", request, options);
    } catch (error) {
      if (!isOpen || !isRefusal(error) || error.status === undefined) throw error;
      for (kept = 1; kept <= pageSizes.length; kept++) {
        try {
          return await send("microappdata", request, options);
        } catch (again) {
          if (!isRefusal(again)) throw again;
        }
      }
      kept = 0;
      throw error;
    }
  };
}

/** Requests of several teams, one after the other, for a platform that takes one team in a request. */
const oneTeamEach = (client: Client): Partial<Client> => ({
  teammembers: async ({ teamIDs }, options) => {
    const lists = [];
    for (const teamID of teamIDs) lists.push(await client.teammembers({ teamIDs: [teamID] }, options));
    return { teamMembers: lists.flatMap(({ teamMembers }) => teamMembers) };
  },
  insertteammembers: async ({ teamIDs, ...request }, options) => {
    for (const teamID of teamIDs) await client.insertteammembers({ ...request, teamIDs: [teamID] }, options);
    return {};
  },
});
