import { z } from "zod";
import type { CallOptions } from "../client/http/call.ts";
import type { ListedMember } from "../client/lists/memberLists.ts";
import { orUndefinedIfNotFound } from "../contract/errors.ts";
import { role } from "../contract/members.ts";
import { id } from "../contract/values.ts";
import { quoted } from "../messages/text.ts";
import { invitationTargets } from "./members/invitations.ts";
import { nameOf } from "./members/rosterLists.ts";
import { stays, type MemberContext } from "./members/teamClaims.ts";
import { joining } from "./members/turns.ts";
import { exceptSpelling, namedOnce, user, userFound, userIDAt } from "./members/users.ts";
import { uncancellable } from "./model/creation.ts";
import { calledBy } from "./model/identities.ts";
import { adopt, common, ResourceError } from "./model/resource.ts";
import { resource } from "./resource.ts";

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true, link: true }),
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
  importedBy: { id: "<teamID>/<userID or e-mail address>" },
  inputs,
  outputs,
  identity: {
    stays: ({ teamID, email, memberUserID }, keeper) => stays([email ?? memberUserID], [teamID], keeper),
  },

  check: ({ claims }, { inputs, unknown }) => {
    const problems = namedOnce({ inputs, unknown });
    const { resourceUrn, teamID } = inputs;
    if (resourceUrn !== undefined && teamID !== undefined) {
      problems.push(...claims.claim(resourceUrn, { kind: "TeamMember", teamIDs: [teamID], people: [inputs] }));
    } else claims.forget(resourceUrn);
    return Promise.resolve({ inputs, problems });
  },

  diff: ({ claims, report }, change, old, news) => {
    const spelt = exceptSpelling(change, old, news);
    if (spelt.replaces.length > 0) return Promise.resolve(spelt);
    const member = { userID: old.memberUserID, email: old.email };
    const meant = { ...spelt, findings: { people: [member] } };
    const taker = claims.taking(old.teamID, member);
    if (!taker || meant.changed.length > 0) return Promise.resolve(meant);
    report.forecast(`is kept in the team, out of which ${calledBy(taker)} takes who is not declared`);
    return Promise.resolve({ ...meant, changed: ["teamID"] });
  },

  create: (context, inputs) => joining(context, inputs.resourceUrn, () => join(context, inputs)),

  read: async (context, id, state) => {
    const { teamID, userID: named } = parts(id);
    const found = await memberCalled(context, teamID, named);
    if (!found) return undefined;
    const { userID } = found;
    const imported = state.teamID === undefined;
    const who = imported ? (found.email === undefined ? { userID } : { email: found.email }) : {};
    const managed = imported || state.role !== undefined ? await roleOf(context, teamID, found) : {};
    return { id: `${teamID}/${userID}`, outputs: { ...state, ...who, ...managed, teamID, memberUserID: userID } };
  },

  update: (context, id, old, inputs) =>
    joining(context, inputs.resourceUrn, async () => {
      const { teamID, userID } = parts(id);
      const member = { userID, email: old.email };
      if (context.claims.taking(teamID, member)) await context.members.add(teamID, invitation(inputs));
      return sync(context, inputs, (await context.members.find(teamID, userID)) ?? { userID });
    }),

  delete: async (context, id, state) => {
    const { teamID, userID } = parts(id);
    const member = { userID, email: state.email };
    if (context.claims.deciding(teamID, member)) {
      const keeper = context.claims.declaring(teamID, member);
      if (keeper) context.report.info(stays([nameOf(member)], [teamID], keeper));
      return;
    }
    await orUndefinedIfNotFound(context.members.remove(teamID, member));
  },
});

/** Makes the user a member, or goes on with the membership that is there. */
async function join(context: MemberContext, inputs: Inputs) {
  const { claims, identities, members, report } = context;
  const { teamID, resourceUrn: urn, role, adopt } = inputs;
  const who = nameOf(inputs);
  const replaced = identities.replaced(urn);
  const { member, existed } = await members.add(teamID, invitation(inputs));
  const id = `${teamID}/${member.userID}`;
  if (urn !== undefined) {
    const other = identities.other(urn, id);
    if (other)
      throw new ResourceError(
        `${calledBy(other)} declares ${who} a member of team ${teamID} as well. Keep one of them.`,
      );
    identities.has(urn, id);
  }
  claims.found(urn, [member]);
  if (existed && role !== undefined && member.role !== undefined && member.role !== role) {
    // A plain member may be one that we added before an interruption and did not promote yet; an administrator is not.
    const ours = adopt === true || (replaced !== undefined && replaced.inputs["teamID"] === teamID);
    if (member.role === "admin" && !ours) {
      throw new ResourceError(
        `${who} is already an administrator of team ${teamID}. Set adopt: true to make them a plain member.`,
      );
    }
    report.info(`${who} was already a member of the team: going on with that membership`);
  }
  return { id, outputs: await sync(context, inputs, member, uncancellable(context)) };
}

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(
      `${quoted(id)} is no membership: it has the form <teamID>/<userID> or <teamID>/<e-mail address>`,
    );
  }
  return { teamID, userID };
}

/** The member with this user ID, or with this e-mail address, by which it may be imported. */
async function memberCalled(context: MemberContext, teamID: string, name: string) {
  const { members } = context;
  const found = await members.find(teamID, name);
  if (found || !name.includes("@") || !(await members.list(teamID))) return found;
  // The list may have user IDs alone.
  const userID = await userIDAt(context, name);
  return userID === undefined ? undefined : members.find(teamID, userID);
}

const invitation = ({ email, userID, targetRoute, targetInitialApp, targetInitialScreen }: Inputs) => ({
  email,
  userID,
  targets: { targetRoute, targetInitialApp, targetInitialScreen },
});

/** The role of a member; the list of a team may lack it, then the member is read. */
async function roleOf(
  { members }: MemberContext,
  teamID: string,
  { userID, role: listed }: ListedMember,
  call?: CallOptions,
): Promise<{ role?: "admin" | "member" }> {
  const found = role.safeParse(listed ?? (await members.roleOf(teamID, userID, call)));
  return found.success ? { role: found.data } : {};
}

/** Gives a member as it is listed the declared role; `call` for those who have just been added. */
async function sync(
  context: MemberContext,
  inputs: Inputs,
  member: ListedMember,
  call?: CallOptions,
): Promise<Inputs & { memberUserID: string }> {
  const { teamID, role } = inputs;
  if (role !== undefined && (await roleOf(context, teamID, member, call)).role !== role) {
    await context.members.setRole(teamID, member, role, call);
  }
  return { ...inputs, memberUserID: member.userID };
}
