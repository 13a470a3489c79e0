import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { role } from "../../platform/contract/members.ts";
import { id } from "../../platform/contract/values.ts";
import { quote } from "../../platform/messages/text.ts";
import { type ListedMember, memberAt } from "../people/members.ts";
import {
  caller,
  changeRoles,
  describeMisplaced,
  findLacking,
  findRole,
  membersOf,
  refuseUnknown,
  sentences,
  takeOut,
  unlisted,
  type MemberContext,
} from "./memberships.ts";
import { describeNamed } from "./model/identities.ts";
import { uncancellable } from "./model/lifecycle.ts";
import { common, PartialFailure, ResourceError } from "./model/resource.ts";
import {
  checkNamedOnce,
  ending,
  exceptSpelling,
  hasEnded,
  invitationTargets,
  isSame,
  managedFromNowOn,
  nameOf,
  planMembers,
  reportEnds,
  splitEnds,
  toPerson,
  user,
  userFound,
  type Person,
  type Role,
} from "./people.ts";
import { resource, type State } from "./resource.ts";
import { stays } from "./run.ts";

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true, link: true }),
  ...user,
  role: role.optional().meta({ description: "Left alone when unset; a new member is a plain member." }),
  ...ending,
  ...invitationTargets,
});

const outputs = z.object({
  ...userFound,
  unseen: z.literal(true).optional().meta({
    description: "True where the user was added with success and no list has shown them yet.",
    internal: true,
  }),
});

type Inputs = z.output<typeof inputs>;
type Kept = State<typeof inputs, typeof outputs>;

/**
 * One membership, which is owned by being declared: whoever made it, it goes with its declaration. It touches no other
 * member; many members of one team belong in one TeamRoster.
 */
export const teamMember = resource({
  name: "TeamMember",
  summary: "A user's membership of a team.",
  example: { name: "ada", inputs: { teamID: "${crew.id}", email: "ada@example.com", role: "admin" } },
  importedBy: { id: "<teamID>/<userID or e-mail address>" },
  inputs,
  outputs,
  identity: { stays: ({ teamID, email, memberUserID }, owner) => stays([email ?? memberUserID], [teamID], owner) },

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

  diff: ({ report }, change, old, news) => {
    const spelt = exceptSpelling(change, old, news);
    // Somebody who comes back may have another user ID.
    if (old.ended && !news.inputs.ended && spelt.replaces.length === 0) spelt.replaces.push("ended");
    if ("found" in old && old.found !== undefined) {
      report.forecast(managedFromNowOn(1));
      spelt.changed.push("found");
    }
    // A refresh takes from the engine what it knew of the failure.
    if (old.unseen) spelt.changed.push("unseen");
    if (spelt.replaces.length > 0) return Promise.resolve(spelt);
    const role = old.role === news.inputs.role ? old.role : undefined;
    const people = news.inputs.ended ? [] : [{ userID: old.memberUserID, email: old.email, role }];
    return Promise.resolve({ ...spelt, findings: { people } });
  },

  create: async (context, inputs) => {
    if (!inputs.ended) return ensure(context, inputs);
    const memberUserID = nameOf(inputs);
    return { id: `${inputs.teamID}/${memberUserID}`, outputs: { ...inputs, memberUserID } };
  },

  read: async (context, id, state) => {
    const { teamID, userID: named } = parts(id);
    const who = { ...state, ...toPerson(named) };
    if (state.unseen) await context.members.awaits(teamID, [who]);
    const list = await membersOf(context, teamID);
    if (!list) return undefined;
    if ("found" in state && state.found !== undefined) context.report.info(managedFromNowOn(1));
    if (state.ended) return { id, outputs: { ...state, teamID, memberUserID: state.memberUserID ?? named } };
    const found = await memberIn(context, list, who);
    // Who is not seen yet is not known to be gone.
    if (!found) return state.unseen && { id, outputs: { ...state, teamID, memberUserID: state.memberUserID ?? named } };
    const { userID } = found;
    const imported = state.teamID === undefined;
    const name = imported ? (found.email === undefined ? { userID } : { email: found.email }) : {};
    const isManaged = imported || state.role !== undefined;
    // A platform that shows no role has the one that was set, as far as anybody knows.
    const managed = isManaged ? { role: declarable((await findRole(context, teamID, found)) ?? state.role) } : {};
    const { found: _, unseen: _unseen, ...rest } = { found: undefined, unseen: undefined, ...state };
    return { id: `${teamID}/${userID}`, outputs: { ...rest, ...name, ...managed, teamID, memberUserID: userID } };
  },

  update: async (context, id, old, inputs) => {
    if (!inputs.ended) return (await ensure(context, inputs, id)).outputs;
    if (!old.ended) await leave(context, id, old);
    return { ...inputs, memberUserID: old.memberUserID };
  },

  delete: (context, id, state) => (state.ended ? Promise.resolve() : leave(context, id, state)),
});

const declarable = (found: unknown): Role | undefined => role.safeParse(found).data;

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(
      `${quote(id)} is no membership: it has the form <teamID>/<userID> or <teamID>/<e-mail address>`,
    );
  }
  return { teamID, userID };
}

/** Somebody as a team's list has them, which may have user IDs alone. */
async function memberIn(
  { members }: MemberContext,
  list: readonly ListedMember[],
  { userID, email }: Person,
): Promise<ListedMember | undefined> {
  const listed = list.find((one) => one.userID === userID) ?? (email === undefined ? undefined : memberAt(list, email));
  if (listed || email === undefined || list.every((one) => one.email !== undefined)) return listed;
  const known = await members.userIDAt(email);
  return list.find((one) => one.userID === known);
}

/** Makes the user a member with the declared role, or goes on with the membership that is there. */
async function ensure(context: MemberContext, inputs: Inputs, present?: string) {
  const { claims, identities, members, report } = context;
  const { teamID, resourceUrn: urn, email, userID, targetRoute, targetInitialApp, targetInitialScreen } = inputs;
  const who = nameOf(inputs);
  const targets = { targetRoute, targetInitialApp, targetInitialScreen };
  const { member, existed, isUnseen, reason } = await members.add(teamID, { email, userID, targets });
  const id = present ?? `${teamID}/${member.userID}`;
  if (urn !== undefined && present === undefined) {
    const other = identities.other(urn, id);
    if (other)
      throw new ResourceError(
        `${describeNamed(other)} declares ${who} a member of team ${teamID} as well. Keep one of them.`,
      );
    identities.has(urn, id);
  }
  claims.found(urn, [{ userID: member.userID, email: member.email }]);
  const outputs = { ...inputs, memberUserID: member.userID };
  if (isUnseen) {
    const message =
      reason === undefined
        ? `${who} was added to team ${teamID}, and is not in its list yet. Check on the platform whether the user may be a member there; the next up looks again.`
        : `whether ${who} is a member of team ${teamID} is not known; the next up looks again: ${messageOf(reason)}`;
    throw new PartialFailure(message, id, { ...outputs, role: undefined, unseen: true });
  }
  const isKnown = present !== undefined || identities.replaced(urn) !== undefined || members.isMade(teamID);
  if (existed && !isKnown) report.info(`${who} was a member of the team already and is managed from now on`);
  try {
    return { id, outputs: await withRole(uncancellable(context), outputs, member) };
  } catch (error) {
    if (error instanceof PartialFailure) throw error;
    const there = { ...outputs, role: declarable(member.role) };
    throw new PartialFailure(`${who} is a member of team ${teamID}, but: ${messageOf(error)}`, id, there);
  }
}

/** Gives a member the declared role, and reads it back. */
async function withRole(context: MemberContext, outputs: Kept, member: ListedMember): Promise<Kept> {
  const { teamID, role, resourceUrn: urn } = outputs;
  const { claims, members } = context;
  const there = { ...member, role: await findRole(context, teamID, member, context) };
  const { change } = planMembers([{ ...member, role }], [there], { mode: "additive" });
  const failed = await changeRoles(context, teamID, change);
  for (const reason of failed.values()) throw reason;
  const id = `${teamID}/${member.userID}`;
  const list = (change.length > 0 ? await members.proved(teamID) : members.known(teamID)) ?? [];
  if (change.length > 0) {
    const now = list.filter(({ userID }) => userID === member.userID);
    const after = await Promise.all(
      now.map(async (one) => ({ ...one, role: await findRole(context, teamID, one, context) })),
    );
    for (const reason of findLacking(context, after, change).values()) {
      const [found] = after;
      const message = `${nameOf(outputs)} was not given the role ${role ?? ""} in team ${teamID}: ${reason}.`;
      throw new PartialFailure(message, id, { ...outputs, role: declarable(found?.role) });
    }
  }
  claims.found(urn, [{ userID: member.userID, email: member.email ?? outputs.email, role }]);
  const [taken] = describeMisplaced(claims.misplaced(teamID, list), false);
  if (taken !== undefined)
    throw new PartialFailure(`${nameOf(outputs)} is a member of team ${teamID}, but ${taken}.`, id, outputs);
  return outputs;
}

/** Takes the user out of the team, unless another resource decides on them; proved by the list. */
async function leave(context: MemberContext, id: string, state: Kept): Promise<void> {
  const { teamID, userID } = parts(id);
  const email = state.email ?? toPerson(userID).email;
  // Whom no list has shown may be known by address alone.
  const person = { email, userID: state.memberUserID === email ? undefined : state.memberUserID };
  if (state.unseen) await context.members.awaits(teamID, [person]);
  const list = await membersOf(context, teamID);
  if (!list) return;
  // A membership that is declared by another name now takes the place of the one by address.
  const goesOn = context.claims.isOn(teamID, state.resourceUrn);
  const [unseen] = state.unseen
    ? await unlisted(context, [person], list, goesOn ? () => undefined : refuseUnknown)
    : [];
  const member = (await memberIn(context, list, person)) ?? unseen;
  if (!member) return;
  const known = { ...member, email: member.email ?? person.email };
  if (context.claims.deciding(teamID, known)) {
    const owner = context.claims.declaring(teamID, known);
    if (owner) context.report.info(stays([nameOf(known)], [teamID], owner));
    return;
  }
  const team = context.claims.administered(context.identities.holders(teamID), known.userID);
  if (team) {
    context.report.info(`${nameOf(known)} stays a member: ${describeNamed(team)} names them as its adminID`);
    return;
  }
  if (isSame(await caller(context), known)) {
    context.report.info(`${nameOf(known)} stays a member: its account makes these calls`);
    return;
  }
  const failed = await takeOut(context, teamID, [known]);
  if (failed.size > 0) throw new ResourceError(sentences("not removed", failed, false).join("\n"));
}
