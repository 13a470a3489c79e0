import { endpoints, type EndpointName, type RequestOf } from "../contract/endpoints.ts";
import { isRefusal } from "../contract/wire.ts";
import { completeDialect, type Habits } from "../profile/profile.ts";
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
  const microappdata = inAnyPages(caller, dialect.habits);
  const client = { ...Object.fromEntries(methods), microappdata, ...own } as Client; // one method for each name
  return dialect.habits.teamParameter === "teamID" ? { ...client, ...oneTeamEach(client) } : client;
}

/** A form of pages: the most rows of one, and whether its numbers are texts. */
const pageForm = (most: number, asTexts = false) => ({ most, asTexts });

/** Reads of tables in smaller pages, or with numbers as texts, on a platform that refuses others; kept once one is taken. */
function inAnyPages(caller: Caller, { skipForm }: Habits): Client["microappdata"] {
  const first = pageForm(10_000, skipForm === "text");
  const others = [pageForm(1_000), pageForm(500), pageForm(100), pageForm(1_000, true)];
  let kept = first;
  const send = (
    { most, asTexts }: typeof first,
    { searchFilter = [], ...request }: RequestOf<"microappdata">,
    options?: CallOptions,
  ) => {
    const pages = searchFilter.map(({ limit, ...page }) =>
      limit === undefined ? page : { ...page, limit: Math.min(Number(limit), most) },
    );
    return asTexts
      ? caller.call("microappdata", request, options, { searchFilter: pages.map(withTexts) })
      : caller.call("microappdata", { ...request, searchFilter: pages }, options);
  };
  return async (request, options) => {
    if (request.searchFilter === undefined) return caller.call("microappdata", request, options);
    const isOpen = kept === first && request.optViewFilters === undefined && request.optSearchFilters === undefined;
    let refusal: unknown;
    for (const form of isOpen ? [first, ...others] : [kept]) {
      try {
        const answer = await send(form, request, options);
        kept = form;
        return answer;
      } catch (error) {
        if (!isRefusal(error) || error.status === undefined) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  };
}

/** A page as JSON with its place as texts, as older clients send it. */
const withTexts = (page: object): string =>
  JSON.stringify(page, (key, value: unknown) => (key === "skip" || key === "limit" ? String(value) : value));

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
