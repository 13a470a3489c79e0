import { z } from "zod";
import { role } from "../contract/members.ts";
import { email, id } from "../contract/values.ts";
import { isUser, managing, planRoster } from "../reconcile/rosters.ts";
import { invitationTargets } from "./invitations.ts";
import { adopt, common, resource, ResourceError } from "./resource.ts";
import { apply, caller, each, names, optionsNow, optionsOf, sentences } from "./rosterApply.ts";
import { identified, withRoles, nameOf, observed, wantedOf, type Members } from "./rosterLists.ts";

const userID = z.string().regex(/^[\w-]+$/);
const member = z.union([email, userID], "must be an e-mail address or a user ID");

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team whose members these are.", replaces: true }),
  members: z.record(member, role).meta({
    description: "Roles, admin or member, by e-mail address (an unknown one is invited) or by user ID.",
  }),
  mode: z.enum(["authoritative", "additive"]).default("authoritative").meta({
    description: "authoritative: also removes members who are not declared. additive: removes nobody.",
  }),
  ignore: z.array(z.string().min(1)).optional().meta({
    description: "Addresses or user IDs of members to leave alone unless they are declared; * stands for any text.",
  }),
  maxRemovals: z.number().min(0).default(0.25).meta({
    description: "Largest part of the managed members (from 10 on) that one run may remove, as a fraction of 1.",
    settles: "silently",
  }),
  minAdmins: z.int().min(0).optional().meta({
    description: "Administrators that must be left. When unset, the last one is neither removed nor demoted.",
    settles: "silently",
  }),
  keepSelf: z
    .boolean()
    .default(true)
    .meta({
      description:
        "Whether the account that makes the calls keeps its place: undeclared it is left alone, by a destroy too; " +
        "dropping it from the members or demoting it is refused.",
      settles: "silently",
    }),
  ...invitationTargets,
  sensitive: z.boolean().optional().meta({
    description: "The members are secret: messages tell counts and no names. Set by itself when members are a secret.",
    settles: "silently",
    secrecyOf: "members",
  }),
  adopt: adopt.meta({
    description: "Take over a team that has other members or administrators already: they are removed or demoted.",
    settles: "silently",
  }),
});

const outputs = z.object({
  userIDs: z.array(z.string()).meta({ description: "User IDs of the members, in the order of their sorted names." }),
});

type Inputs = z.output<typeof inputs>;

/** The members of a team as one list. Who was added or removed by hand is drift, and is put right. */
export const teamRoster = resource({
  name: "TeamRoster",
  summary: "The members of a team as one list, with guards against removing too many.",
  example: {
    name: "crewRoster",
    inputs: { teamID: "${crew.id}", members: { "ada@example.com": "admin", "grace@example.com": "member" } },
  },
  inputs,
  outputs,

  check: ({ claims }, { inputs }) => {
    const { resourceUrn, teamID, members, mode = "authoritative", ignore = [], minAdmins = 0, keepSelf } = inputs;
    const wanted = wantedOf(members ?? {});
    const problems = planRoster(wanted, [], { mode, minAdmins: 0 }).refusals.map((refusal) => {
      return { property: "members", reason: inputs.sensitive ? "somebody is declared twice. Keep one" : refusal };
    });
    const admins = wanted.filter(({ role }) => role === "admin").length + (keepSelf ? 1 : 0);
    if (members && mode === "authoritative" && ignore.length === 0 && admins < minAdmins) {
      const reason = `asks for ${minAdmins} administrators, and there would be ${admins} at most. Give more members the role admin`;
      problems.push({ property: "minAdmins", reason });
    }
    if (resourceUrn !== undefined && teamID !== undefined) {
      const decidesOn = managing(wanted, { mode, ignore });
      problems.push(...claims.claim(resourceUrn, { kind: "TeamRoster", teamID, decidesOn }));
    } else claims.forget(resourceUrn);
    return Promise.resolve({ inputs, problems });
  },

  diff: ({ report, account }, change, old, { inputs, unknown }) => {
    // An address that differs in letter case alone is the same user's.
    const respelt = inputs.members !== undefined && same(old.members, inputs.members);
    const changed = change.changed.filter((name) => !(name === "members" && respelt));
    if (changed.length > 0 && change.replaces.length === 0 && unknown.size === 0) {
      const declaration = inputs as Inputs; // nothing is unknown
      // The last known members: as they were applied, or as a refresh saw them.
      const known = wantedOf(old.members, old).map((one) => ({ ...one, userID: one.userID ?? "" }));
      const plan = planRoster(wantedOf(declaration.members, old), known, optionsOf(declaration, account));
      const roles = plan.changeRole.map(({ member }) => member);
      const counts = Object.entries({ add: plan.add, "give another role": roles, remove: plan.remove });
      const parts = counts.flatMap(([what, who]) =>
        who.length > 0 ? [`${who.length} to ${what} (${names(who, declaration)})`] : [],
      );
      report.info(`members: ${[...parts, `${plan.unchanged} unchanged`].join(", ")}`);
      if (decidesOnMore(declaration, old)) {
        report.info("whom the roster left alone until now it may remove as well: who that is shows only the update");
      }
      if (plan.refusals.length > 0) throw new ResourceError(plan.refusals.join("\n"));
    }
    return Promise.resolve({ ...change, changed });
  },

  create: async (context, inputs) => ({ id: inputs.teamID, outputs: await apply(context, inputs) }),

  read: async (context, id, state) => {
    const listed = await context.members.of(id);
    if (!listed) return undefined;
    const live = await withRoles(context, id, listed);
    const defaults = { mode: "authoritative", maxRemovals: 0.25, keepSelf: true } as const;
    const declaration: Inputs = { ...defaults, ...state, teamID: id, members: state.members ?? {} };
    const wanted = await identified(context, wantedOf(declaration.members, state), live);
    // An import shows everybody, the caller too.
    const options = state.members ? await optionsNow(context, declaration, live, state) : declaration;
    return { id, outputs: { ...declaration, ...observed(live, wanted, options) } };
  },

  update: (context, _id, old, inputs) => apply(context, inputs, old),

  delete: async (context, id, state) => {
    const live = await context.members.anew(id);
    if (!live) return;
    const self = state.keepSelf ? await caller(context) : undefined;
    const ours = live.filter(managing(wantedOf(state.members, state), state));
    const leaving = ours.filter((member) => {
      const stays = self && isUser(self, member);
      if (stays) context.report.info(`${nameOf(member)} stays a member: its account makes these calls`);
      // A TeamMember that took over in this run was created before.
      return !stays && context.claims.successor("TeamRoster", id, member) === undefined;
    });
    const failures = await each(leaving, (member) => context.members.remove(id, member));
    if (failures.size > 0) throw new ResourceError(sentences("not removed", failures, state).join("\n"));
  },
});

/** Whether there may be members whom the last run left alone and this one does not; the state does not know them. */
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
