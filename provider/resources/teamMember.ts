import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { role } from "../../platform/contract/people.ts";
import { email as address, id } from "../../platform/contract/values.ts";
import { formatCount, quote } from "../../platform/messages/text.ts";
import {
  nameOf,
  namesOf,
  planMembers,
  toPerson,
  type Person,
  type Role,
  hasEnded,
  lastDay,
  reportEnds,
  splitEnds,
  type ListedMember,
} from "../people/people.ts";
import { describeNamed } from "../pulumi/names.ts";
import { common, PartialFailure, ResourceError, type InputProblem } from "./common.ts";
import { uncancellable, resource } from "./lifecycle.ts";
import {
  changeRoles,
  describeMisplaced,
  findKnown,
  findRole,
  identify,
  leave,
  membersOf,
  proveRole,
} from "./memberships.ts";
import type { Context, Diff, Given, State } from "./resource.ts";
import { stays } from "./run.ts";

const user = {
  email: address.optional().meta({
    description: "The user's e-mail address; an unknown one is invited. Either this or userID.",
    replaces: true,
  }),
  userID: id.optional().meta({ description: "The user's ID. Either this or email.", replaces: true }),
};

/** Output with the user's ID. */
const userFound = {
  memberUserID: id.meta({ description: "ID of the user, also of one who was named by address.", stable: true }),
};

const onInvitation = "Acts when a user is invited.";

/** Inputs for the target of an invitation. */
export const invitationTargets = {
  targetRoute: z
    .enum(["app", "go"])
    .optional()
    .meta({
      description: `Where the invitation leads. ${onInvitation}`,
      ignoredInDiff: true,
    }),
  targetInitialApp: id.optional().meta({
    description: `App that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
    link: true,
  }),
  targetInitialScreen: id.optional().meta({
    description: `Screen that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
  }),
};

/** Inputs of a resource that declares one person. */
const ending = {
  until: lastDay.optional().meta({
    description: "Last day (UTC) of the membership. After it, the member counts as not declared.",
  }),
  ended: z.boolean().optional().meta({
    description: "True once the last day has passed.",
    computed: true,
    internal: true,
  }),
};

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team that the user is a member of.", replaces: true, link: true }),
  ...user,
  role: role.optional().meta({ description: "Not changed if unset; a new member is a plain member." }),
  ...ending,
  ...invitationTargets,
});

const outputs = z.object({
  ...userFound,
  unseen: z.literal(true).optional().meta({
    description: "True if the user was added, and no list has shown them yet.",
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
    const [known = who] = await identify(context, [who], list);
    const found = findKnown(list, known);
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
    if (!old.ended) await depart(context, id, old);
    return { ...inputs, memberUserID: old.memberUserID };
  },

  delete: (context, id, state) => (state.ended ? Promise.resolve() : depart(context, id, state)),
});

const declarable = (found: unknown): Role | undefined => role.safeParse(found).data;

function parts(id: string): { teamID: string; userID: string } {
  const [teamID, userID, ...rest] = id.split("/");
  if (!teamID || !userID || rest.length > 0) {
    throw new ResourceError(
      `${quote(id)} is not a membership's ID, which has the form <teamID>/<userID> or <teamID>/<e-mail address>`,
    );
  }
  return { teamID, userID };
}

/** Makes the user a member with the declared role, or goes on with the membership that is there. */
async function ensure(context: Context, inputs: Inputs, present?: string) {
  const { claims, identities, members, report } = context;
  const { teamID, resourceUrn: urn, email, userID, targetRoute, targetInitialApp, targetInitialScreen } = inputs;
  const who = nameOf(inputs);
  const targets = { targetRoute, targetInitialApp, targetInitialScreen };
  const { member, existed, isUnlisted, reason } = await members.add(teamID, { email, userID, targets });
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
  if (isUnlisted) {
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
async function withRole(context: Context, outputs: Kept, member: ListedMember): Promise<Kept> {
  const { teamID, role, resourceUrn: urn } = outputs;
  const { claims, members } = context;
  const id = `${teamID}/${member.userID}`;
  const there = { ...member, role: await findRole(context, teamID, member, context) };
  const [change] = planMembers([{ ...member, role }], [there], { mode: "additive" }).change;
  let list = members.known(teamID);
  if (change) {
    for (const reason of (await changeRoles(context, teamID, [change])).values()) throw reason;
    const proof = await proveRole(context, teamID, change);
    list = proof.list;
    if (proof.lack) {
      const message = `${nameOf(outputs)} was not given the role ${change.role} in team ${teamID}: ${proof.lack.reason}.`;
      throw new PartialFailure(message, id, { ...outputs, role: declarable(proof.lack.role) });
    }
  }
  claims.found(urn, [{ userID: member.userID, email: member.email ?? outputs.email, role }]);
  const [taken] = describeMisplaced(claims.misplaced(teamID, list ?? []), false);
  if (taken !== undefined)
    throw new PartialFailure(`${nameOf(outputs)} is a member of team ${teamID}, but ${taken}.`, id, outputs);
  return outputs;
}

/** Takes the user out of the team. */
function depart(context: Context, id: string, state: Kept): Promise<void> {
  const { teamID, userID } = parts(id);
  const email = state.email ?? toPerson(userID).email;
  // Whom no list has shown may be known by address alone.
  const person = { email, userID: state.memberUserID === email ? undefined : state.memberUserID };
  const unseen = state.unseen ? [person] : [];
  // A membership that is declared by another name now takes the place of the one by address.
  const goesOn = context.claims.isOn(teamID, state.resourceUrn);
  return leave(context, teamID, { people: [person], unseen, keepSelf: true, goesOn });
}

/** Why the inputs do not name exactly one user. */
function checkNamedOnce({ inputs, unknown }: Given<Person>): InputProblem[] {
  const named = [inputs.email, inputs.userID].filter((value) => value !== undefined).length;
  if (unknown.has("email") || unknown.has("userID") || named === 1) return [];
  return [{ property: "email", reason: named === 0 ? "set email or userID" : "set either email or userID, not both" }];
}

/** The change without that of an address in letter case alone: it is the same user's. */
export function exceptSpelling(change: Diff, old: Person, { inputs }: Given<Person>): Diff {
  const [was] = namesOf({ email: old.email });
  const meant = (name: string): boolean => !(name === "email" && was !== undefined && namesOf(inputs).includes(was));
  return { changed: change.changed.filter(meant), replaces: change.replaces.filter(meant) };
}

/** That people of a state were members before it, in one sentence; version 0.1.0 left them in the team. */
export const managedFromNowOn = (count: number): string =>
  `${formatCount(count, "person")} ${count === 1 ? "was found there and is" : "were found there and are"} managed from now on`;
