import { z } from "zod";
import { inParallel } from "../../platform/client/parallel.ts";
import { id } from "../../platform/contract/values.ts";
import type { ListedMember } from "../people/memberLists.ts";
import type { Context } from "../resources/model/resource.ts";
import { platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";

const member = z.object({
  userID: id.meta({ description: "ID of the user." }),
  email: z.string().optional().meta({ description: "E-mail address, when the platform answers it." }),
  role: z.string().optional().meta({ description: "admin or member, in the platform's own word." }),
});

export const getTeamMembers = platformFunction({
  name: "getTeamMembers",
  summary: "The members of a team, by address, then by ID.",
  example: { inputs: { teamID: "${crew.id}" }, output: "members" },
  inputs: z.object({ teamID: id.meta({ description: "ID of the team." }) }),
  outputs: z.object({
    teamID: id.meta({ description: "ID of the team." }),
    members: z.array(member).meta({ description: "The members." }),
  }),

  invoke: async (context, { teamID }) => {
    const listed = await requireFound("teamID", "team", context.members.list(teamID));
    return { teamID, members: await described(context, teamID, listed) };
  },
});

/**
 * Members one by one in a stable order. A member listed without a role is read alone, which also returns the address.
 */
async function described(
  context: Context,
  teamID: string,
  listed: readonly ListedMember[],
): Promise<z.output<typeof member>[]> {
  const members = new Map(listed.map((one) => [one.userID, one]));
  const bare = listed.filter(({ role }) => role === undefined);
  await inParallel(bare, 16, async ({ userID, teamMemberID }) => {
    const named = { teamID, userID, ...(teamMemberID === undefined ? {} : { teamMemberID }) };
    const { teamMember } = await context.client.readteammember(named, context);
    members.set(userID, { ...teamMember, userID });
  });
  const known = [...members.values()].map(({ userID, email, role }) => ({
    userID,
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
  }));
  const place = ({ email = "", userID }: { email?: string; userID: string }): string => `${email}\n${userID}`;
  return known.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}
