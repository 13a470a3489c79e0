import type { RequestOf } from "../contract/endpoints.ts";
import type { CallOptions } from "./http/call.ts";
import type { Client } from "./options.ts";

/** The methods of a client that take several calls on a platform of its habits. */
export function adaptMethods(client: Client): Partial<Client> {
  const { teamParameter, enforceBy, nullDescription } = client.dialect.habits;
  return {
    ...(teamParameter === "teamID" ? oneTeamEach(client) : {}),
    ...(enforceBy === "userID" ? byID(client) : {}),
    ...(nullDescription === "ignored" ? emptied(client) : {}),
  };
}

/** Requests of several teams, one after the other. */
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

/** Asks for the ID of a user who is named by an address. */
const byID = (client: Client): Partial<Client> => ({
  enforceteammembership: async ({ email, ...request }: RequestOf<"enforceteammembership">, options?: CallOptions) => {
    const userID = request.userID ?? (await client.userid({ email: email ?? "" }, options)).userID;
    return client.enforceteammembership({ ...request, userID }, options);
  },
});

/** Clears a description with an empty text. */
const emptied = (client: Client): Partial<Client> => ({
  updateorganization: ({ organizationInfo, ...request }, options) =>
    client.updateorganization({ ...request, organizationInfo: withEmpty(organizationInfo) }, options),
  updateteam: ({ teamInfo, ...request }, options) =>
    client.updateteam({ ...request, teamInfo: withEmpty(teamInfo) }, options),
});

const withEmpty = <Info extends { description?: string | null | undefined }>(info: Info): Info =>
  info.description === null ? { ...info, description: "" } : info;
