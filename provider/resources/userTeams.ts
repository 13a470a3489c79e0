import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { id, withoutUndefined } from "../contract/values.ts";
import { isUser } from "../reconcile/rosters.ts";
import { nameOf } from "./members/rosterLists.ts";
import { stays, type TeamClaims, type MemberContext } from "./members/teamClaims.ts";
import { leaving } from "./members/turns.ts";
import { exceptSpelling, namedOnce, user, userFound, userIDAt } from "./members/users.ts";
import { calledBy } from "./model/identities.ts";
import { common, PartialFailure, type Given, type Problem } from "./model/resource.ts";
import { resource } from "./resource.ts";

const inputs = z.object({
  ...common,
  ...user,
  teamIDs: z.array(id).meta({
    description: "The teams that the user is in: of all others the user is taken out.",
  }),
  organizationID: id.optional().meta({
    description: "Keeps it to the teams of this organization: what the user is in elsewhere stays.",
  }),
});

const outputs = z.object(userFound);

type Inputs = z.output<typeof inputs>;

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

  check: ({ report, claims }, { inputs, unknown }, old) => {
    const problems = namedOnce({ inputs, unknown });
    problems.push(...claimed(claims, { inputs, unknown }, old));
    const scope = inputs.organizationID === undefined ? "" : ` of organization ${inputs.organizationID}`;
    if (old.teamIDs === undefined) report.forecast(`takes the user out of all teams${scope} that are not declared`);
    return Promise.resolve({ inputs, problems });
  },

  diff: (_context, change, old, { inputs, unknown }) => {
    const { changed, replaces } = exceptSpelling(change, old, { inputs, unknown });
    const same = isDeepStrictEqual(new Set(old.teamIDs), new Set(inputs.teamIDs));
    const findings = replaces.length === 0 ? { people: [{ userID: old.memberUserID }] } : {};
    const reordered = !unknown.has("teamIDs") && same;
    const meant = changed.filter((name) => !(name === "teamIDs" && reordered));
    return Promise.resolve({ changed: meant, replaces, findings });
  },

  create: async (context, inputs) => {
    await enforce(context, inputs);
    const userID = await userIDOf(context, inputs);
    context.claims.found(inputs.resourceUrn, [{ userID }]);
    return { id: userID, outputs: await confirmed(context, userID, inputs) };
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
    const teamIDs = looked.filter((_, i) => lists[i]?.some((member) => member.userID === userID));
    return { id: userID, outputs: { ...state, ...named, teamIDs, memberUserID: userID } };
  },

  update: async (context, id, _old, inputs) => {
    await enforce(context, inputs, id);
    return confirmed(context, id, inputs);
  },

  delete: async (context, id, state) => {
    const member = { userID: id, email: state.email };
    const leaving = state.teamIDs.filter((teamID) => !context.claims.deciding(teamID, member));
    const kept = state.teamIDs.flatMap((teamID) => {
      const keeper = context.claims.declaring(teamID, member);
      return keeper ? [{ teamID, keeper }] : [];
    });
    for (const ones of Map.groupBy(kept, ({ keeper }) => calledBy(keeper)).values()) {
      const teamIDs = ones.map(({ teamID }) => teamID);
      for (const { keeper } of ones.slice(0, 1)) context.report.info(stays([nameOf(member)], teamIDs, keeper));
    }
    await Promise.all(leaving.map((teamID) => context.members.remove(teamID, member)));
  },
});

/** Notes in which teams the user is, and out of which they are taken, as far as that is known before. */
function claimed(claims: TeamClaims, { inputs, unknown }: Given<Inputs>, old: Partial<Inputs>): Problem[] {
  const { resourceUrn, email, userID, teamIDs = [], organizationID: scope } = inputs;
  const people = [{ email, userID }];
  if (resourceUrn === undefined || unknown.has("organizationID") || (email ?? userID) === undefined) {
    claims.forget(resourceUrn);
    return [];
  }
  const leaves = unknown.has("teamIDs") ? {} : { leaves: old.teamIDs ?? ("all" as const) };
  return claims.claim(resourceUrn, { kind: "UserTeams", teamIDs, people, scope, ...leaves });
}

/** Takes the user out of all teams but the declared ones and those in which other resources of this run declare them. */
const enforce = (context: MemberContext, inputs: Inputs, id?: string): Promise<void> =>
  leaving(context, inputs.resourceUrn, async () => {
    const { teamIDs, email, userID, organizationID } = inputs;
    const kept = await declaredElsewhere(context, inputs, id ?? userID);
    await context.members.enforce({
      teamIDs: [...new Set([...teamIDs, ...kept])],
      ...withoutUndefined({ email, userID, organizationID }),
    });
  });

/** The other teams of the user, which another resource of this run declares. */
async function declaredElsewhere(
  context: MemberContext,
  inputs: Inputs,
  userID: string | undefined,
): Promise<string[]> {
  const { email, organizationID, teamIDs } = inputs;
  const claimed = context.claims.teamsOf({ email, userID: userID ?? "" }, "UserTeams");
  const others = [...claimed].filter(([teamID]) => !teamIDs.includes(teamID));
  if (others.length === 0) return [];
  const known = userID ?? (email === undefined ? undefined : await userIDAt(context, email));
  const kept = await Promise.all(
    others.map(async ([teamID, keeper]) => {
      const there = (await context.members.list(teamID, { fresh: true }))?.some((member) =>
        isUser({ email, userID: known }, member),
      );
      if (!there) return []; // who is not there yet joins when it is their turn
      const team = organizationID === undefined ? undefined : await context.client.readteam({ teamID }, context);
      if (team && team.team?.organizationID !== organizationID) return [];
      context.report.info(stays([nameOf(inputs)], [teamID], keeper));
      return [teamID];
    }),
  );
  return kept.flat();
}

/** ID of a user, who may be known to the lists of the teams alone: looking addresses up is not enabled everywhere. */
async function userIDOf(context: MemberContext, { email, userID, teamIDs }: Inputs): Promise<string> {
  if (userID !== undefined) return userID;
  const address = email?.toLowerCase();
  const [first] = teamIDs;
  const members = first === undefined ? undefined : await context.members.list(first);
  const member = members?.find((one) => one.email?.toLowerCase() === address);
  return member?.userID ?? (await context.client.userid({ email: email ?? "" }, context)).userID;
}

/** The outputs once the user is seen to be in every declared team. */
async function confirmed(
  context: MemberContext,
  userID: string,
  inputs: Inputs,
): Promise<Inputs & z.output<typeof outputs>> {
  const lists = await Promise.all(inputs.teamIDs.map((teamID) => context.members.list(teamID)));
  const teamIDs = inputs.teamIDs.filter((_, i) => lists[i]?.some((member) => member.userID === userID));
  if (teamIDs.length === inputs.teamIDs.length) return { ...inputs, memberUserID: userID };
  const missing = inputs.teamIDs.filter((teamID) => !teamIDs.includes(teamID));
  const message =
    `${inputs.email ?? userID} was put into ${inputs.teamIDs.length} teams and is not in the list of: ${missing.join(", ")}. ` +
    `Check on the platform whether the user may be a member there, then run up again.`;
  throw new PartialFailure(message, userID, { ...inputs, teamIDs, memberUserID: userID });
}
