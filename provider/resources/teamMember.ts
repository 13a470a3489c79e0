import { z } from "zod";
import type { ListedMember } from "../client/members/memberLists.ts";
import { orUndefinedIfNotFound } from "../contract/errors.ts";
import { role } from "../contract/members.ts";
import { id } from "../contract/values.ts";
import { quote } from "../messages/text.ts";
import type { Role } from "../reconcile/rosters.ts";
import { hasEnded } from "./members/declaredPeople.ts";
import { ending, reportEnds, splitEnds } from "./members/ends.ts";
import { explainLack, findRole, isAbsent, membership, staysFound } from "./members/memberships.ts";
import { nameOf } from "./members/rosterLists.ts";
import { stays, type MemberContext } from "./members/teamClaims.ts";
import { checkNamedOnce, exceptSpelling, invitationTargets, user, userFound, userIDAt } from "./members/users.ts";
import { uncancellable } from "./model/creation.ts";
import { describeNamed, type Replaced } from "./model/identities.ts";
import { isFound, mayBeMade } from "./model/made.ts";
import { adopt, common, PartialFailure, ResourceError } from "./model/resource.ts";
import { resource, type State } from "./resource.ts";

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true, link: true }),
  ...user,
  role: role.optional().meta({ description: "Left alone when unset; a new member is a plain member." }),
  ...ending,
  ...invitationTargets,
  adopt,
});

const outputs = z.object({
  ...userFound,
  found: role.optional().meta({
    description:
      "The role of a user who was a member before this stack first met them: they stay, with it, when the declaration goes.",
  }),
});

type Inputs = z.output<typeof inputs>;
type Kept = State<typeof inputs, typeof outputs>;

/** One membership. It touches no other member; many members of one team belong in one TeamRoster. */
export const teamMember = resource({
  name: "TeamMember",
  summary: "A user's membership of a team.",
  example: { name: "ada", inputs: { teamID: "${crew.id}", email: "ada@example.com", role: "admin" } },
  importedBy: { id: "<teamID>/<userID or e-mail address>" },
  inputs,
  outputs,
  identity: {
    stays: ({ teamID, email, memberUserID }, owner) => stays([email ?? memberUserID], [teamID], owner),
    letGo: ({ made }, { teamID, email, memberUserID, found, resourceUrn }) => {
      if (found === undefined) made.handed(resourceUrn, membership(teamID, { email, userID: memberUserID }));
      return Promise.resolve();
    },
  },

  check: ({ claims, report, day }, { inputs: { ended: _, ...stated }, unknown }, old) => {
    const ended = hasEnded(stated, day);
    const inputs = ended ? { ...stated, ended } : stated;
    const problems = checkNamedOnce({ inputs, unknown });
    const { resourceUrn, teamID, until } = inputs;
    const name = nameOf(inputs);
    if (until !== undefined)
      reportEnds(report, splitEnds([{ name, until }], day), false, () => old.teamID !== undefined && !old.ended);
    if (resourceUrn !== undefined && teamID !== undefined && !ended) {
      problems.push(...claims.claim(resourceUrn, { kind: "TeamMember", teamID, people: [inputs] }));
    } else claims.forget(resourceUrn);
    return Promise.resolve({ inputs, problems });
  },

  diff: (_context, change, old, news) => {
    const spelt = exceptSpelling(change, old, news);
    const member = { userID: old.memberUserID, email: old.email };
    const own = old.found === undefined && !old.ended ? membership(old.teamID, member) : [];
    // Somebody who comes back may have another user ID.
    if (old.ended && !news.inputs.ended && spelt.replaces.length === 0) spelt.replaces.push("ended");
    if (old.found !== undefined && news.inputs.adopt) spelt.changed.push("adopt");
    if (spelt.replaces.length > 0) return Promise.resolve({ ...spelt, findings: { own } });
    return Promise.resolve({ ...spelt, findings: { people: news.inputs.ended ? [] : [member], own } });
  },

  create: async (context, inputs) => {
    if (inputs.ended) return absent(inputs);
    const names = membership(inputs.teamID, invitation(inputs));
    try {
      return await join(context, inputs, names);
    } catch (error) {
      // A saved or refused person's result is known; after any other failure, this stack began to add them.
      if (error instanceof PartialFailure || !mayBeMade(error)) context.made.settled(inputs.resourceUrn, names, false);
      throw error;
    }
  },

  read: async (context, id, state) => {
    const { teamID, userID: named } = parts(id);
    if (state.ended) {
      const isThere = (await context.members.list(teamID)) !== undefined;
      return isThere ? { id, outputs: { ...state, teamID, memberUserID: state.memberUserID ?? named } } : undefined;
    }
    const found = await memberCalled(context, teamID, named);
    if (!found) return undefined;
    const { userID } = found;
    const imported = state.teamID === undefined;
    const who = imported ? (found.email === undefined ? { userID } : { email: found.email }) : {};
    const managed =
      imported || state.role !== undefined ? { role: declarable(await findRole(context, teamID, found)) } : {};
    const names = membership(teamID, { ...state, userID });
    const met = isFound(context, state, names) ? state.found : undefined;
    if (state.found === undefined && !imported) context.made.saved(state.resourceUrn, names);
    const outputs = { ...state, ...who, ...managed, teamID, memberUserID: userID, found: met };
    return { id: `${teamID}/${userID}`, outputs };
  },

  update: async (context, id, old, inputs) => {
    const { teamID, userID } = parts(id);
    if (inputs.ended) {
      if (!old.ended) await leave(context, id, old);
      return { ...inputs, memberUserID: old.memberUserID, found: old.found };
    }
    const found = inputs.adopt ? undefined : old.found;
    return sync(context, inputs, (await context.members.find(teamID, userID)) ?? { userID }, found);
  },

  delete: (context, id, state) => (state.ended ? Promise.resolve() : leave(context, id, state)),
});

/** The result for somebody whose last day has passed: nobody is added. */
function absent(inputs: Inputs) {
  const memberUserID = nameOf(inputs);
  return { id: `${inputs.teamID}/${memberUserID}`, outputs: { ...inputs, memberUserID } };
}

/** Takes the user out of the team, or leaves those who were there before, or whom another resource declares. */
async function leave(context: MemberContext, id: string, state: Kept): Promise<void> {
  const { teamID, userID } = parts(id);
  const member = { userID, email: state.email };
  const names = membership(teamID, member);
  const met = isFound(context, state, names) ? state.found : undefined;
  if (context.claims.deciding(teamID, member)) {
    const owner = context.claims.declaring(teamID, member);
    if (owner) context.report.info(stays([nameOf(member)], [teamID], owner));
    if (owner && met === undefined) context.made.handed(state.resourceUrn, names);
    return;
  }
  if (met !== undefined) {
    if (state.role !== undefined && state.role !== met) await giveBack(context, teamID, member, met);
    context.report.info(staysFound([nameOf(member)], teamID));
    return;
  }
  if (!(await isAbsent(context, teamID, member))) await orUndefinedIfNotFound(context.members.remove(teamID, member));
  context.made.removed(state.resourceUrn, names);
}

/** Makes the user a member, or goes on with the membership that is there. */
async function join(context: MemberContext, inputs: Inputs, names: readonly string[]) {
  const { claims, identities, made, members, report } = context;
  const { teamID, resourceUrn: urn, role, adopt } = inputs;
  const who = nameOf(inputs);
  const replaced = identities.replaced(urn);
  const { member, existed } = await members.add(teamID, invitation(inputs), () => made.begin(urn, names));
  const id = `${teamID}/${member.userID}`;
  if (urn !== undefined) {
    const other = identities.other(urn, id);
    if (other)
      throw new ResourceError(
        `${describeNamed(other)} declares ${who} a member of team ${teamID} as well. Keep one of them.`,
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
  const isMet = existed && adopt !== true && !members.isMade(teamID);
  const met = isMet ? await foundRole(context, inputs, { member, names, replaced }) : undefined;
  const after = uncancellable(context);
  try {
    return { id, outputs: await sync(after, inputs, member, met) };
  } catch (error) {
    if (error instanceof PartialFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const outputs = { ...inputs, role: declarable(member.role), memberUserID: member.userID, found: met };
    throw new PartialFailure(`${who} is a member of team ${teamID}, but: ${reason}`, id, outputs);
  } finally {
    made.settled(urn, [...names, ...membership(teamID, member)], met === undefined);
  }
}

interface Met {
  member: ListedMember;
  names: readonly string[];
  replaced: Replaced | undefined;
}

/** The role of somebody whom this stack found in the team; undefined for one whom it put there. */
async function foundRole(
  context: MemberContext,
  inputs: Inputs,
  { member, names, replaced }: Met,
): Promise<Role | undefined> {
  const { teamID, email, userID, resourceUrn: urn } = inputs;
  const before = replaced?.inputs;
  const isSame =
    before?.["teamID"] === teamID &&
    (replaced?.id === `${teamID}/${member.userID}` ||
      (before["userID"] === userID && String(before["email"]).toLowerCase() === String(email).toLowerCase()));
  // In a replacement by order, the found role and its owner are those of the predecessor.
  if (isSame) return declarable(replaced?.found);
  if (context.made.isMade(urn, [...names, ...membership(teamID, member)])) return undefined;
  return declarable(await findRole(context, teamID, member)) ?? "member";
}

const declarable = (found: unknown): Role | undefined => role.safeParse(found).data;

/** Gives somebody who stays the role that they had before. */
async function giveBack(context: MemberContext, teamID: string, member: ListedMember, met: Role): Promise<void> {
  if (!(await context.members.find(teamID, member.userID))) return;
  await context.members.setRole(teamID, member, met);
  const lacked = await explainLack(context, teamID, member, met);
  if (lacked) throw new ResourceError(`${nameOf(member)} was ${met} before this stack, and ${lacked.reason}.`);
}

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(
      `${quote(id)} is no membership: it has the form <teamID>/<userID> or <teamID>/<e-mail address>`,
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

/** Gives a listed member the declared role, and reads it back. */
async function sync(context: MemberContext, inputs: Inputs, member: ListedMember, met?: Role): Promise<Kept> {
  const { teamID, role } = inputs;
  const outputs = { ...inputs, memberUserID: member.userID, found: met };
  if (role === undefined || (await findRole(context, teamID, member, context)) === role) return outputs;
  await context.members.setRole(teamID, member, role, context);
  const lacked = await explainLack(context, teamID, member, role);
  if (!lacked) return outputs;
  const message = `${nameOf(inputs)} was not given the role ${role} in team ${teamID}: ${lacked.reason}.`;
  throw new PartialFailure(message, `${teamID}/${member.userID}`, { ...outputs, role: declarable(lacked.role) });
}
