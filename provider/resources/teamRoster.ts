import { z } from "zod";
import { role } from "../contract/members.ts";
import { email, fraction, id, withoutUndefined } from "../contract/values.ts";
import { formatCount } from "../messages/text.ts";
import { isUser, managing, planRoster, type RosterMember } from "../reconcile/rosters.ts";
import { findDeclared } from "./members/declaredPeople.ts";
import { lastDay, reportEnds } from "./members/ends.ts";
import { membership, staysFound } from "./members/memberships.ts";
import { apply, caller, optionsNow, optionsOf } from "./members/rosterApply.ts";
import { parseFound, sparing, stillFound } from "./members/rosterFound.ts";
import { identify, withRoles, nameOf, observe, toWanted, type Kept, type Members } from "./members/rosterLists.ts";
import { each, names, sentences } from "./members/rosterSentences.ts";
import { stays, type MemberContext } from "./members/teamClaims.ts";
import { invitationTargets } from "./members/users.ts";
import { describeNamed, type NamedResource } from "./model/identities.ts";
import { adopt, common, ResourceError } from "./model/resource.ts";
import { resource } from "./resource.ts";

const userID = z.string().regex(/^[\w-]+$/);
const member = z.union([email, userID], "must be an e-mail address or a user ID");

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team whose members these are.", replaces: true, link: true }),
  members: z.record(member, role).optional().meta({
    description:
      "Roles, admin or member, by e-mail address (an unknown one is invited) or by user ID. Either this or source.",
  }),
  until: z.record(member, lastDay).optional().meta({
    description: "Last days (UTC) of members, by the names that they have in members: after it they count as absent.",
  }),
  source: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "File with the members, from the program's folder, in place of members: CSV with a column email, and as needed " +
        "role, until and team; or JSON, NDJSON or YAML.",
    }),
  team: z.string().min(1).optional().meta({
    description: "The team of source that is meant, where it has a column team.",
  }),
  mode: z.enum(["authoritative", "additive"]).default("authoritative").meta({
    description: "authoritative: also removes members who are not declared. additive: removes nobody.",
  }),
  ignore: z.array(z.string().min(1)).optional().meta({
    description: "Addresses or user IDs of members to leave alone unless they are declared; * stands for any text.",
  }),
  maxRemovals: fraction.default(0.25).meta({
    description: "Largest part of the managed members (from 10 on) that one run may remove, as a fraction of 1.",
    ignoredInDiff: true,
  }),
  minAdmins: z.int().min(0).optional().meta({
    description: "Administrators that must be left. When unset, the last one is neither removed nor demoted.",
    ignoredInDiff: true,
  }),
  keepSelf: z
    .boolean()
    .default(true)
    .meta({
      description:
        "True if the account that makes the calls keeps its place: undeclared it is left alone, by a destroy too; " +
        "dropping it from the members or demoting it is refused.",
      ignoredInDiff: true,
    }),
  ...invitationTargets,
  sensitive: z.boolean().optional().meta({
    description: "The members are secret: messages tell counts and no names. Set by itself when members are a secret.",
    ignoredInDiff: true,
    marksSecret: "members",
  }),
  adopt: adopt.meta({
    description: "Take over a team that has other members or administrators already: they are removed or demoted.",
    ignoredInDiff: true,
  }),
});

const outputs = z.object({
  // Members of a file are no secret of the program, so nothing else marks them.
  members: z.record(z.string(), role).meta({
    description: "Roles of the members by e-mail address or user ID.",
    secretIf: "sensitive",
  }),
  userIDs: z.array(z.string()).meta({ description: "User IDs of the members, in the order of their sorted names." }),
  found: z.record(z.string(), role).optional().meta({
    description:
      "Roles, by user ID, of those who were members before this stack first met them: they stay when they are no longer declared.",
  }),
});

type Given = z.output<typeof inputs>;
type Inputs = Given & { members: Members };

/** The inputs as check completes them. */
function checked(inputs: Given): Inputs {
  const { members } = inputs;
  if (!members) throw new ResourceError("its members are not known. Set members or source, and run up again.");
  return { ...inputs, members };
}

/** The members of a team as one list. Who was added or removed by hand is drift, and is put right. */
export const teamRoster = resource({
  name: "TeamRoster",
  summary: "The members of a team as one list, with guards against removing too many.",
  example: {
    name: "crewRoster",
    inputs: { teamID: "${crew.id}", members: { "ada@example.com": "admin", "grace@example.com": "member" } },
  },
  importedBy: { id: "<teamID>" },
  inputs,
  outputs,

  check: async (context, { inputs: stated, unknown }, old) => {
    const { claims, report } = context;
    const isOpen = ["members", "until", "source", "team"].some((name) => unknown.has(name));
    const declared = isOpen ? undefined : await findDeclared(stated, context);
    if (declared && declared.problems.length > 0) {
      claims.forget(stated.resourceUrn);
      return { inputs: stated, problems: declared.problems };
    }
    const inputs = declared ? { ...stated, members: declared.members } : stated;
    const { resourceUrn, teamID, members, mode = "authoritative", ignore = [], minAdmins = 0, keepSelf } = inputs;
    const wasMember = (name: string): boolean => Object.hasOwn(old.members ?? {}, name);
    if (declared) reportEnds(report, declared.ends, inputs.sensitive ?? false, wasMember);
    const wanted = toWanted(members ?? {});
    const problems = planRoster(wanted, [], { mode, minAdmins: 0 }).refusals.map((refusal) => {
      return { property: "members", reason: inputs.sensitive ? "somebody is declared twice. Keep one" : refusal };
    });
    const admins = wanted.filter(({ role }) => role === "admin").length + (keepSelf ? 1 : 0);
    if (members && mode === "authoritative" && ignore.length === 0 && admins < minAdmins) {
      const reason = `asks for ${minAdmins} administrators, and there would be ${admins} at most. Give more members the role admin`;
      problems.push({ property: "minAdmins", reason });
    }
    if (resourceUrn !== undefined && teamID !== undefined) {
      const all = mode === "authoritative" ? { ignore } : {};
      problems.push(...claims.claim(resourceUrn, { kind: "TeamRoster", teamID, people: wanted, ...all }));
    } else claims.forget(resourceUrn);
    return { inputs, problems };
  },

  diff: (context, change, old, { inputs, unknown }) => {
    const { report, account } = context;
    const wanted = toWanted(inputs.members ?? {}, old);
    const own = toWanted(old.members, old).filter(({ userID = "" }) => !old.found?.[userID]);
    const findings = {
      ...(change.replaces.length === 0 ? { people: wanted } : {}),
      own: own.flatMap((one) => membership(old.teamID, one)),
    };
    // An address that differs in letter case alone is the same user's.
    const respelt = inputs.members !== undefined && same(old.members, inputs.members);
    const changed = change.changed.filter((name) => !(name === "members" && respelt));
    if (old.found && inputs.adopt) changed.push("adopt");
    if (changed.length > 0 && change.replaces.length === 0 && unknown.size === 0) {
      const declaration = inputs as Inputs; // nothing is unknown
      // The last known members: as they were applied, or as a refresh saw them.
      const known = toWanted(old.members, old).map((one) => ({ ...one, userID: one.userID ?? "" }));
      const { stay, options } = sparing(declaration, old, optionsOf(declaration, account), known);
      const plan = planRoster(toWanted(declaration.members, old), known, options);
      const roles = plan.changeRole.map(({ member }) => member);
      const counts = Object.entries({ add: plan.add, "give another role": roles, remove: plan.remove });
      const parts = counts.flatMap(([what, who]) =>
        who.length > 0 ? [`${who.length} to ${what} (${names(who, declaration)})`] : [],
      );
      const found = stay.length > 0 ? [`${stay.length} found, ${stay.length === 1 ? "stays" : "they stay"}`] : [];
      report.forecast(`members: ${[...parts, `${plan.unchanged} unchanged`, ...found].join(", ")}`);
      if (decidesOnMore(declaration, old)) {
        report.forecast(
          "whom the roster left alone until now it may remove as well: who that is shows only the update",
        );
      }
      if (plan.refusals.length > 0) throw new ResourceError(plan.refusals.join("\n"));
    }
    return Promise.resolve({ ...change, changed, findings });
  },

  create: async (context, inputs) => {
    const replaced = context.identities.replaced(inputs.resourceUrn);
    // In a forced replacement, the team's members are those of the replaced roster.
    const ours = replaced?.inputs["teamID"] === inputs.teamID ? { found: parseFound(replaced.found) } : undefined;
    return { id: inputs.teamID, outputs: await apply(context, checked(inputs), undefined, ours) };
  },

  read: async (context, id, state) => {
    const listed = await context.members.list(id);
    if (!listed) return undefined;
    const live = await withRoles(context, id, listed);
    const defaults = { mode: "authoritative", maxRemovals: 0.25, keepSelf: true } as const;
    const declaration: Inputs = { ...defaults, ...state, teamID: id, members: state.members ?? {} };
    const wanted = await identify(context, toWanted(declaration.members, state), live);
    // An import shows everybody, the caller too.
    const now = state.members ? await optionsNow(context, declaration, live, state) : declaration;
    const found = stillFound(context, declaration, state.found, live);
    const { options } = sparing(declaration, { found }, { ...now, mode: declaration.mode }, live);
    const outputs = { ...declaration, ...observe(live, wanted, options), ...withoutUndefined({ found }) };
    for (const one of state.members ? toWanted(outputs.members, outputs) : []) {
      if (!state.found?.[one.userID ?? ""]) context.made.saved(state.resourceUrn, membership(id, one));
    }
    return { id, outputs };
  },

  update: (context, _id, old, inputs) => apply(context, checked(inputs), old),

  delete: async (context, id, state) => {
    const live = await context.members.list(id, { fresh: true });
    if (!live) return;
    const self = state.keepSelf ? await caller(context) : undefined;
    const ours = live.filter(managing(toWanted(state.members, state), state));
    const own = self && ours.find((member) => isUser(self, member));
    const met = stillFound(context, state, state.found, live) ?? {};
    const stay = ours.filter((member) => met[member.userID] && member !== own);
    if (stay.length > 0) context.report.info(staysFound(state.sensitive ? stay.length : stay.map(nameOf), id));
    const others = ours.filter((member) => member !== own && !stay.includes(member));
    const leaving = notDecidedOn(context, id, state, others);
    if (leaving.length > 0) context.report.info(`removes ${formatCount(leaving.length, "person")}`);
    if (own) context.report.info(`${nameOf(own)} stays a member: its account makes these calls`);
    const failures = await each(leaving, (member) => context.members.remove(id, member));
    for (const member of leaving) {
      if (!failures.has(member)) context.made.removed(state.resourceUrn, membership(id, member));
    }
    if (failures.size > 0) throw new ResourceError(sentences("not removed", failures, state).join("\n"));
  },
});

/** The members on whom no other resource of this run decides; reports the owners of the others. */
function notDecidedOn<Live extends RosterMember>(
  { claims, made, report }: MemberContext,
  teamID: string,
  state: Kept & { members: Members; sensitive?: boolean | undefined; resourceUrn?: string | undefined },
  members: readonly Live[],
): Live[] {
  const addresses = new Map(toWanted(state.members, state).map(({ userID, email }) => [userID, email]));
  const kept: { owner: NamedResource; name: string }[] = [];
  const left = members.filter((member) => {
    const person = { ...member, email: member.email ?? addresses.get(member.userID) };
    const owner = claims.declaring(teamID, person);
    if (owner) {
      kept.push({ owner, name: nameOf(person) });
      made.handed(state.resourceUrn, membership(teamID, person));
    }
    return !claims.deciding(teamID, person);
  });
  for (const ones of Map.groupBy(kept, ({ owner }) => describeNamed(owner)).values()) {
    const [{ owner }] = ones as [(typeof kept)[number]]; // a group has one
    report.info(stays(state.sensitive ? ones.length : ones.map(({ name }) => name), [teamID], owner));
  }
  return left;
}

/** True when there may be members whom the last run left alone and this one does not; the state does not know them. */
const decidesOnMore = (now: Inputs, old: Inputs): boolean =>
  now.mode === "authoritative" &&
  (old.mode === "additive" ||
    (old.keepSelf && !now.keepSelf) ||
    (old.ignore ?? []).some((pattern) => !now.ignore?.includes(pattern)));

function same(old: Members, now: Members): boolean {
  const roles = new Map(Object.entries(old).map(([name, role]) => [name.toLowerCase(), role]));
  const entries = Object.entries(now);
  return entries.length === roles.size && entries.every(([name, role]) => roles.get(name.toLowerCase()) === role);
}
