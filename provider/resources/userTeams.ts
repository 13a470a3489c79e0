import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { id, withoutUndefined } from "../contract/values.ts";
import { isUser } from "../reconcile/rosters.ts";
import { hasEnded } from "./members/declaredPeople.ts";
import { ending, reportEnds, splitEnds } from "./members/ends.ts";
import { membership, staysFound } from "./members/memberships.ts";
import { nameOf } from "./members/rosterLists.ts";
import { describeExpulsion, findStaying, type StayingTeams } from "./members/stayingTeams.ts";
import { stays, type TeamClaims, type MemberContext } from "./members/teamClaims.ts";
import { leaveInTurn } from "./members/turns.ts";
import { exceptSpelling, checkNamedOnce, user, userFound, userIDAt } from "./members/users.ts";
import { describeNamed } from "./model/identities.ts";
import { isFound } from "./model/made.ts";
import { adopt, common, PartialFailure, type Given, type InputProblem } from "./model/resource.ts";
import { resource, type State } from "./resource.ts";

const inputs = z.object({
  ...common,
  ...user,
  teamIDs: z.array(id).meta({
    description: "The teams that the user is in: of all others the user is taken out.",
  }),
  organizationID: id.optional().meta({
    description: "Keeps it to the teams of this organization: what the user is in elsewhere stays.",
  }),
  ...ending,
  adopt: adopt.meta({
    description: "Own the memberships that were there already: they go with the declaration.",
    ignoredInDiff: true,
  }),
});

const outputs = z.object({
  ...userFound,
  found: z.array(id).optional().meta({
    description:
      "Teams that the user was in before this stack first met them: they stay in when it is no longer declared.",
  }),
});

type Inputs = z.output<typeof inputs>;
type Kept = State<typeof inputs, typeof outputs>;

/**
 * A user's teams, all of them. The platform does not tell which teams a user is in, so what is read back is in which of
 * the declared ones; a team that somebody else adds is taken away by the next change alone. A destroy takes the user
 * out of the declared teams, which could not be deleted otherwise.
 */
export const userTeams = resource({
  name: "UserTeams",
  summary: "The teams of one user: exactly these.",
  example: {
    name: "teamsOfAlan",
    inputs: { email: "alan@example.com", teamIDs: ["${crew.id}"], organizationID: "${acme.id}" },
  },
  importedBy: { id: "<userID or e-mail address>/<teamID>,<teamID>" },
  inputs,
  outputs,

  check: ({ report, claims, day }, { inputs: { ended: _, ...stated }, unknown }, old) => {
    const ended = hasEnded(stated, day);
    const inputs = ended ? { ...stated, ended } : stated;
    const problems = checkNamedOnce({ inputs, unknown });
    const { until } = inputs;
    if (until !== undefined) {
      const ends = splitEnds([{ name: nameOf(inputs), until }], day);
      reportEnds(report, ends, false, () => old.teamIDs !== undefined && !old.ended);
    }
    if (ended) {
      claims.forget(inputs.resourceUrn);
      return Promise.resolve({ inputs, problems });
    }
    problems.push(...claimed(claims, { inputs, unknown }, old));
    const scope = inputs.organizationID === undefined ? "" : ` of organization ${inputs.organizationID}`;
    if (old.teamIDs === undefined) report.forecast(`takes the user out of all teams${scope} that are not declared`);
    return Promise.resolve({ inputs, problems });
  },

  diff: (_context, change, old, { inputs, unknown }) => {
    const { changed, replaces } = exceptSpelling(change, old, { inputs, unknown });
    // Somebody who comes back may have another user ID.
    if (old.ended && !inputs.ended && replaces.length === 0) replaces.push("ended");
    const same = isDeepStrictEqual(new Set(old.teamIDs), new Set(inputs.teamIDs));
    if (old.found && inputs.adopt) changed.push("adopt");
    const member = { email: old.email, userID: old.memberUserID };
    const own = old.ended ? [] : old.teamIDs.filter((teamID) => !old.found?.includes(teamID));
    const findings = {
      ...(replaces.length === 0 && !inputs.ended ? { people: [{ userID: old.memberUserID }] } : {}),
      own: own.flatMap((teamID) => membership(teamID, member)),
    };
    const reordered = !unknown.has("teamIDs") && same;
    const meant = changed.filter((name) => !(name === "teamIDs" && reordered));
    return Promise.resolve({ changed: meant, replaces, findings });
  },

  create: async (context, inputs) => {
    if (inputs.ended) return { id: nameOf(inputs), outputs: { ...inputs, memberUserID: nameOf(inputs) } };
    const replaced = context.identities.replaced(inputs.resourceUrn);
    // Where the last day had passed, nothing is known of who is in a team since.
    const isKnown = replaced !== undefined && replaced.inputs["ended"] !== true;
    const met = isKnown ? declaredTeams(replaced.found) : await teamsMet(context, inputs);
    const { elsewhere } = await enforce(context, inputs);
    const userID = await userIDOf(context, inputs);
    context.claims.found(inputs.resourceUrn, [{ userID }]);
    const outputs = { ...inputs, memberUserID: userID, found: met };
    return { id: userID, outputs: await confirmed(context, userID, outputs, { left: [], elsewhere }) };
  },

  read: async (context, id, state) => {
    const imported = state.teamIDs === undefined;
    const [name = "", list = ""] = imported ? id.split("/") : [];
    const looked = state.teamIDs ?? list.split(",").filter((teamID) => teamID !== "");
    const named = imported ? (name.includes("@") ? { email: name } : { userID: name }) : {};
    if (imported && looked.length === 0) {
      context.report.warning(
        `the platform does not tell which teams ${name} is in, so none is imported: name the teams to look at, ${name}/<teamID>,<teamID>`,
      );
    }
    const userID = imported ? await userIDOf(context, { ...named, teamIDs: looked }) : id;
    const lists = await Promise.all(looked.map((teamID) => context.members.list(teamID)));
    if (looked.length > 0 && lists.every((members) => members === undefined)) return undefined;
    if (state.ended) return { id, outputs: { ...state, teamIDs: looked, memberUserID: state.memberUserID ?? id } };
    const teamIDs = looked.filter((_, i) => lists[i]?.some((member) => member.userID === userID));
    const met = teamIDs.filter((teamID) => isMet(context, teamID, id, state));
    const own = imported ? [] : teamIDs.filter((teamID) => !state.found?.includes(teamID));
    context.made.saved(
      state.resourceUrn,
      own.flatMap((teamID) => membership(teamID, { email: state.email, userID })),
    );
    const found = met.length > 0 ? met : undefined;
    return { id: userID, outputs: { ...state, ...named, teamIDs, memberUserID: userID, found } };
  },

  update: async (context, id, old, inputs) => {
    if (inputs.ended) {
      if (!old.ended) await leaveInTurn(context, inputs.resourceUrn, () => leave(context, id, old));
      return { ...inputs, memberUserID: old.memberUserID, found: old.found };
    }
    const found = await teamsMet(context, inputs, old);
    const { kept, elsewhere } = await enforce(context, inputs, id);
    // It does not cover teams of other organizations.
    const left = inputs.organizationID === undefined ? old.teamIDs.filter((teamID) => !kept.includes(teamID)) : [];
    return confirmed(context, id, { ...inputs, memberUserID: id, found }, { left, elsewhere });
  },

  delete: (context, id, state) => (state.ended ? Promise.resolve() : leave(context, id, state)),
});

/** Takes the user out of the declared teams, but for those of before, and those in which another resource declares them. */
async function leave(context: MemberContext, id: string, state: Kept): Promise<void> {
  const member = { userID: id, email: state.email };
  const left = state.teamIDs.filter((teamID) => !context.claims.deciding(teamID, member));
  const met = left.filter((teamID) => isMet(context, teamID, id, state));
  for (const teamID of met) context.report.info(staysFound([nameOf(member)], teamID));
  const leaving = left.filter((teamID) => !met.includes(teamID));
  const kept = state.teamIDs.flatMap((teamID) => {
    const owner = context.claims.declaring(teamID, member);
    if (owner && !isMet(context, teamID, id, state)) {
      context.made.handed(state.resourceUrn, membership(teamID, member));
    }
    return owner ? [{ teamID, owner }] : [];
  });
  for (const ones of Map.groupBy(kept, ({ owner }) => describeNamed(owner)).values()) {
    const teamIDs = ones.map(({ teamID }) => teamID);
    for (const { owner } of ones.slice(0, 1)) context.report.info(stays([nameOf(member)], teamIDs, owner));
  }
  await Promise.all(leaving.map((teamID) => context.members.remove(teamID, member)));
  context.made.removed(
    state.resourceUrn,
    leaving.flatMap((teamID) => membership(teamID, member)),
  );
}

const declaredTeams = (value: unknown): string[] | undefined => z.array(z.string()).safeParse(value).data;

/** True when the user was found in a team, and the membership is not this stack's own by now. */
const isMet = (context: MemberContext, teamID: string, userID: string, state: Partial<Kept>): boolean => {
  const found = state.found?.includes(teamID) ? true : undefined;
  return isFound(context, { ...state, found }, membership(teamID, { email: state.email, userID }));
};

/** Notes in which teams the user is, and out of which they are taken, as far as that is known before. */
function claimed(claims: TeamClaims, { inputs, unknown }: Given<Inputs>, old: Partial<Inputs>): InputProblem[] {
  const { resourceUrn, email, userID, teamIDs = [], organizationID: scope } = inputs;
  const people = [{ email, userID }];
  if (resourceUrn === undefined || unknown.has("organizationID") || (email ?? userID) === undefined) {
    claims.forget(resourceUrn);
    return [];
  }
  const leaves = unknown.has("teamIDs") ? {} : { leaves: old.teamIDs ?? ("all" as const) };
  return claims.claim(resourceUrn, { kind: "UserTeams", teamIDs, people, scope, ...leaves });
}

/** Takes the user out of all teams but those that stay: the declared ones and those in which other resources of this run declare them. */
const enforce = (context: MemberContext, inputs: Inputs, id?: string): Promise<StayingTeams> =>
  leaveInTurn(context, inputs.resourceUrn, async () => {
    const { teamIDs, email, userID, organizationID } = inputs;
    const { kept, elsewhere } = await findStaying(context, inputs, id ?? userID);
    const all = [...new Set([...teamIDs, ...kept])];
    await context.members.enforce({ teamIDs: all, ...withoutUndefined({ email, userID, organizationID }) });
    return { kept: all, elsewhere };
  });

/** ID of a user, who may be known to the lists of the teams alone: looking addresses up is not enabled everywhere. */
async function userIDOf(context: MemberContext, { email, userID, teamIDs }: Inputs): Promise<string> {
  if (userID !== undefined) return userID;
  const [first] = teamIDs;
  const member = first === undefined || email === undefined ? undefined : await context.members.find(first, email);
  return member?.userID ?? (await context.client.userid({ email: email ?? "" }, context)).userID;
}

/** The declared teams in which the user is already, and that this stack did not put them into. */
async function teamsMet(context: MemberContext, inputs: Inputs, old?: Kept): Promise<string[] | undefined> {
  const { email, adopt, resourceUrn: urn } = inputs;
  if (adopt) return undefined;
  // Where the stack put them, or where nobody was before this run, nobody was found.
  const isOpen = (teamID: string): boolean =>
    !context.members.isMade(teamID) &&
    (old === undefined || !old.teamIDs.includes(teamID) || !!old.found?.includes(teamID));
  const open = inputs.teamIDs.filter(isOpen);
  const lists = new Map(
    await Promise.all(open.map(async (teamID) => [teamID, await context.members.list(teamID)] as const)),
  );
  const isShown = [...lists.values()].every((list) => list?.every((one) => one.email !== undefined) ?? true);
  const known = inputs.userID ?? old?.memberUserID;
  const userID = known ?? (isShown || email === undefined ? undefined : await userIDAt(context, email));
  const person = { email, userID };
  const met = open.filter((teamID) => {
    const there = lists.get(teamID)?.find((member) => isUser(person, member));
    if (!there) return false;
    return old?.found?.includes(teamID) || !context.made.isMade(urn, membership(teamID, { ...person, ...there }));
  });
  const others = inputs.teamIDs.filter((teamID) => !met.includes(teamID));
  context.made.begin(
    urn,
    others.flatMap((teamID) => membership(teamID, person)),
  );
  return met.length > 0 ? met : undefined;
}

/** The outputs once the user is seen to be in every declared team, in none that they left, and in those of other organizations. */
async function confirmed(
  context: MemberContext,
  userID: string,
  outputs: Kept,
  { left, elsewhere }: { left: readonly string[]; elsewhere: readonly string[] },
): Promise<Kept> {
  const read = async (teamID: string) =>
    (await context.members.proved(teamID))?.some((member) => member.userID === userID) ?? false;
  const isIn = new Map(
    await Promise.all(
      [...outputs.teamIDs, ...left, ...elsewhere].map(async (teamID) => [teamID, await read(teamID)] as const),
    ),
  );
  const missing = outputs.teamIDs.filter((teamID) => !isIn.get(teamID));
  // Another resource of the run may have put the user back meanwhile.
  const member = { email: outputs.email, userID };
  const staying = left.filter((teamID) => isIn.get(teamID) && !context.claims.declaring(teamID, member));
  const names = outputs.teamIDs.flatMap((teamID) => membership(teamID, member).map((name) => ({ name, teamID })));
  const own = names.filter(({ teamID }) => isIn.get(teamID) && !outputs.found?.includes(teamID));
  context.made.settled(
    outputs.resourceUrn,
    own.map(({ name }) => name),
  );
  const expelled = elsewhere.filter((teamID) => !isIn.get(teamID));
  if (missing.length + staying.length + expelled.length === 0) return outputs;
  const who = outputs.email ?? userID;
  const problems = [
    missing.length > 0
      ? `${who} was put into ${outputs.teamIDs.length} teams and is not in the list of: ${missing.join(", ")}.`
      : "",
    staying.length > 0 ? `${who} was taken out of teams and is in the list of: ${staying.join(", ")}.` : "",
  ];
  const check =
    missing.length + staying.length > 0
      ? "Check on the platform whether the user may be a member there, then run up again."
      : "";
  const message = [...problems, check, describeExpulsion(who, expelled)].filter((text) => text !== "").join(" ");
  const teamIDs = [...outputs.teamIDs.filter((teamID) => isIn.get(teamID)), ...staying];
  throw new PartialFailure(message, userID, { ...outputs, teamIDs });
}
