import { z } from "zod";
import { role } from "../contract/members.ts";
import { email, id } from "../contract/values.ts";
import { adopt, common, resource, ResourceError, type Context } from "./resource.ts";
import { gone } from "./settling.ts";

const onInvitation = "Acts when the user is invited.";

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true }),
  email: email.optional().meta({
    description: "The user's e-mail address; an unknown one is invited. Either this or userID.",
    replaces: true,
  }),
  userID: id.optional().meta({ description: "The user's ID. Either this or email.", replaces: true }),
  role: role.optional().meta({ description: "Left alone when unset; a new member is a plain member." }),
  targetRoute: z
    .enum(["app", "go"])
    .optional()
    .meta({
      description: `Where the invitation leads. ${onInvitation}`,
      settles: "silently",
    }),
  targetInitialApp: id.optional().meta({
    description: `App that the invitation opens. ${onInvitation}`,
    settles: "silently",
  }),
  targetInitialScreen: id.optional().meta({
    description: `Screen that the invitation opens. ${onInvitation}`,
    settles: "silently",
  }),
  adopt,
});

const outputs = z.object({
  memberUserID: id.meta({ description: "ID of the user, also of one who was named by address.", stable: true }),
});

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

  check: (_context, { inputs, unknown }) => {
    const named = [inputs.email, inputs.userID].filter((value) => value !== undefined).length;
    const problems =
      unknown.has("email") || unknown.has("userID") || named === 1
        ? []
        : [{ property: "email", reason: named === 0 ? "set email or userID" : "set either email or userID, not both" }];
    return Promise.resolve({ inputs, problems });
  },

  diff: (_context, change, old, { inputs }) => {
    // An address that differs in letter case alone is the same user's.
    const sameAddress = old.email !== undefined && old.email.toLowerCase() === inputs.email?.toLowerCase();
    const meant = (name: string): boolean => !(name === "email" && sameAddress);
    return Promise.resolve({ changed: change.changed.filter(meant), replaces: change.replaces.filter(meant) });
  },

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
    const { teamID, userID } = parts(id);
    const members = await context.members.of(teamID);
    const found = members?.find((member) => member.userID === userID);
    if (!found) return undefined;
    const imported = state.teamID === undefined;
    const named = imported ? (found.email === undefined ? { userID } : { email: found.email }) : {};
    const managed = imported || state.role !== undefined ? await roleOf(context, teamID, userID) : {};
    return { id, outputs: { ...state, ...named, ...managed, teamID, memberUserID: userID } };
  },

  update: (context, id, _old, inputs) => sync(context, inputs, parts(id).userID),

  delete: async (context, id) => {
    const { teamID, userID } = parts(id);
    try {
      await context.members.remove(teamID, { userID });
    } catch (error) {
      if (!gone(error)) throw error;
    }
  },
});

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(`"${id}" is no membership: it has the form <teamID>/<userID>`);
  }
  return { teamID, userID };
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
    await context.members.setRole(inputs.teamID, userID, inputs.role);
  }
  return { ...inputs, memberUserID: userID };
}
