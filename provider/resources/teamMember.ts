import { z } from "zod";
import { role } from "../contract/members.ts";
import { id } from "../contract/values.ts";
import { isUser, type RosterMember } from "../reconcile/rosters.ts";
import { invitationTargets } from "./invitations.ts";
import { adopt, common, resource, ResourceError, type Context } from "./resource.ts";
import { gone } from "./settling.ts";
import { exceptSpelling, namedOnce, user, userFound, userIDAt } from "./users.ts";

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true }),
  ...user,
  role: role.optional().meta({ description: "Left alone when unset; a new member is a plain member." }),
  ...invitationTargets,
  adopt,
});

const outputs = z.object(userFound);

type Inputs = z.output<typeof inputs>;

/** One membership. It touches no other member; many members of one team belong in one TeamRoster. */
export const teamMember = resource({
  name: "TeamMember",
  summary: "A user's membership of a team.",
  example: { name: "ada", inputs: { teamID: "${crew.id}", email: "ada@example.com", role: "admin" } },
  inputs,
  outputs,
  // Both would be the same membership when only the spelling of the user changes.
  deleteBeforeReplace: true,

  check: ({ claims }, { inputs, unknown }) => {
    const problems = namedOnce({ inputs, unknown });
    const { resourceUrn, teamID } = inputs;
    if (resourceUrn !== undefined && teamID !== undefined) {
      const decidesOn = (member: RosterMember): boolean => isUser(inputs, member);
      problems.push(...claims.claim(resourceUrn, { kind: "TeamMember", teamID, decidesOn }));
    } else claims.forget(resourceUrn);
    return Promise.resolve({ inputs, problems });
  },

  diff: (_context, change, old, given) => Promise.resolve(exceptSpelling(change, old, given)),

  create: async (context, inputs) => {
    const who = inputs.email ?? inputs.userID ?? "";
    const { member, existed } = await context.members.add(inputs.teamID, invitation(inputs));
    if (existed && inputs.role !== undefined && member.role !== undefined && member.role !== inputs.role) {
      // A plain member may be one that we added before an interruption and did not promote yet; an administrator is not.
      if (member.role === "admin" && !inputs.adopt) {
        throw new ResourceError(
          `${who} is already an administrator of team ${inputs.teamID}. Set adopt: true to make them a plain member.`,
        );
      }
      context.report.info(`${who} was already a member of the team: going on with that membership`);
    }
    return { id: `${inputs.teamID}/${member.userID}`, outputs: await sync(context, inputs, member.userID) };
  },

  read: async (context, id, state) => {
    const { teamID, userID: named } = parts(id);
    const found = await memberCalled(context, teamID, named);
    if (!found) return undefined;
    const { userID } = found;
    const imported = state.teamID === undefined;
    const who = imported ? (found.email === undefined ? { userID } : { email: found.email }) : {};
    const managed = imported || state.role !== undefined ? await roleOf(context, teamID, userID) : {};
    return { id: `${teamID}/${userID}`, outputs: { ...state, ...who, ...managed, teamID, memberUserID: userID } };
  },

  update: (context, id, _old, inputs) => sync(context, inputs, parts(id).userID),

  delete: async (context, id, state) => {
    const { teamID, userID } = parts(id);
    const member = { userID, email: state.email };
    const roster = context.claims.successor("TeamMember", teamID, member);
    if (roster !== undefined) {
      context.report.info(`stays a member of team ${teamID}: TeamRoster "${roster}" decides on that now`);
      return;
    }
    try {
      await context.members.remove(teamID, member);
    } catch (error) {
      if (!gone(error)) throw error;
    }
  },
});

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(`"${id}" is no membership: it has the form <teamID>/<userID> or <teamID>/<e-mail address>`);
  }
  return { teamID, userID };
}

/** The member with this user ID, or with this e-mail address, by which it may be imported. */
async function memberCalled(context: Context, teamID: string, name: string) {
  const members = await context.members.of(teamID);
  const found = members?.find(({ userID, email }) => userID === name || email?.toLowerCase() === name.toLowerCase());
  if (found || !members || !name.includes("@")) return found;
  // The list may have user IDs alone.
  const userID = await userIDAt(context, name);
  return members.find((member) => member.userID === userID);
}

const invitation = ({ email, userID, targetRoute, targetInitialApp, targetInitialScreen }: Inputs) => ({
  email,
  userID,
  targets: { targetRoute, targetInitialApp, targetInitialScreen },
});

/** The role of a member; the list of a team may lack it, then the member is read. */
async function roleOf(context: Context, teamID: string, userID: string): Promise<{ role?: "admin" | "member" }> {
  const found = role.safeParse(await context.members.roleOf(teamID, userID));
  return found.success ? { role: found.data } : {};
}

async function sync(context: Context, inputs: Inputs, userID: string): Promise<Inputs & { memberUserID: string }> {
  if (inputs.role !== undefined && (await roleOf(context, inputs.teamID, userID)).role !== inputs.role) {
    const member = (await context.members.find(inputs.teamID, userID)) ?? { userID };
    await context.members.setRole(inputs.teamID, member, inputs.role);
  }
  return { ...inputs, memberUserID: userID };
}
