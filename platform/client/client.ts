import { endpoints, type EndpointName, type RequestOf } from "../contract/endpoints.ts";
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
  const microappdata = inPagesOf(caller, dialect.limits.maximumLimit);
  const client = { ...Object.fromEntries(methods), microappdata, ...own } as Client; // one method for each name
  return dialect.habits.teamParameter === "teamID" ? { ...client, ...oneTeamEach(client) } : client;
}

/** Reads of tables whose pages are no larger than the platform's profile says that they can be. */
function inPagesOf(caller: Caller, most = Infinity): Client["microappdata"] {
  return ({ searchFilter, ...request }, options) => {
    const pages = searchFilter?.map(({ limit, ...page }) =>
      limit === undefined ? page : { ...page, limit: Math.min(Number(limit), most) },
    );
    return caller.call("microappdata", { ...request, ...(pages && { searchFilter: pages }) }, options);
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
