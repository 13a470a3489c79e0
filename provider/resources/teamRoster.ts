import { z } from "zod";
import { isOutcomeUnknown, isUndocumented, type ApiError } from "../../platform/contract/errors.ts";
import { role } from "../../platform/contract/members.ts";
import { email, fraction, id } from "../../platform/contract/values.ts";
import { formatCount, formatCounts } from "../../platform/messages/text.ts";
import type { Invitation, ListedMember } from "../people/members.ts";
import {
  caller,
  changeRoles,
  describeMisplaced,
  findLacking,
  identify,
  membersOf,
  names,
  refuseUnknown,
  sentences,
  takeOut,
  unlisted,
  withRoles,
  type MemberContext,
} from "./memberships.ts";
import { describeNamed, type NamedResource } from "./model/identities.ts";
import { common, PartialFailure, ResourceError } from "./model/resource.ts";
import {
  findDeclared,
  invitationTargets,
  isManaged,
  isSame,
  lastDay,
  managedFromNowOn,
  nameOf,
  People,
  planMembers,
  reportEnds,
  toPerson,
  type LiveMember,
  type Members,
  type MembershipPlan,
  type Person,
  type PlanOptions,
  type Role,
  type RoleChange,
  type Wanted,
} from "./people.ts";
import { resource } from "./resource.ts";
import { stays } from "./run.ts";

const userID = z.string().regex(/^[\w-]+$/);
const member = z.union([email, userID], "must be an e-mail address or a user ID");

const inputs = z.object({
  ...common,
  teamID: id.meta({ description: "Team whose members these are.", replaces: true, link: true }),
  members: z.record(member, role).optional().meta({
    description:
      "Roles, admin or member, by e-mail address (an unknown one is invited) or by user ID. Either this or source.",
    secretIf: "sensitive",
  }),
  until: z.record(member, lastDay).optional().meta({
    description: "Last days (UTC) of members, by the names that they have in members: after it they count as absent.",
    secretIf: "sensitive",
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
    description:
      "authoritative: also removes members who were never declared. additive: leaves them alone. Who is declared no longer leaves the team in both.",
  }),
  ignore: z.array(z.string().min(1)).optional().meta({
    description: "Addresses or user IDs of members to leave alone unless they are declared; * stands for any text.",
  }),
  maxRemovals: fraction.default(0.25).meta({
    description:
      "Largest part of the managed members (from 10 on; in a team that had members before the roster, from the first on) that one run may remove, as a fraction of 1.",
  }),
  minAdmins: z.int().min(0).optional().meta({
    description: "Administrators that must be left. When unset, the last one is neither removed nor demoted.",
  }),
  keepSelf: z
    .boolean()
    .default(true)
    .meta({
      description:
        "True if the account that makes the calls keeps its place: undeclared it is left alone, by a destroy too; " +
        "dropping it from the members or demoting it is refused.",
    }),
  ...invitationTargets,
  sensitive: z.boolean().optional().meta({
    description: "The members are secret: messages tell counts and no names. Set by itself when members are a secret.",
    marksSecret: "members",
  }),
});

const outputs = z.object({
  // Members of a file are no secret of the program, so nothing else marks them.
  members: z.record(z.string(), role).meta({
    description: "Roles of the members by e-mail address or user ID.",
    secretIf: "sensitive",
  }),
  userIDs: z.array(z.string()).meta({ description: "User IDs of the members, in the order of their sorted names." }),
});

type Given = z.output<typeof inputs>;
type Inputs = Given & { members: Members };

/** A roster as the state has it. */
interface Kept {
  members?: Members | undefined;
  /** In the order of the sorted names of the members. */
  userIDs?: string[] | undefined;
}

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
    const problems = planMembers(wanted, [], { mode, minAdmins: 0 }).refusals.map((refusal) => {
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
    const findings = change.replaces.length === 0 ? { people: toWanted(inputs.members ?? {}, old) } : {};
    // An address that differs in letter case alone is the same user's.
    const respelt = inputs.members !== undefined && same(old.members, inputs.members);
    const changed = change.changed.filter((name) => !(name === "members" && respelt));
    const count = countFound(old);
    if (count > 0) {
      report.forecast(managedFromNowOn(count));
      changed.push("found");
    }
    // A refresh takes from the engine what it knew of the failure.
    if (unseenIn(old).length > 0) changed.push("userIDs");
    if (inputs.sensitive === true && old.sensitive !== true)
      report.forecast("the members are secret from now on, in the state too: nobody joins or leaves for that");
    if (changed.length > 0 && change.replaces.length === 0 && unknown.size === 0) {
      const declaration = inputs as Inputs; // nothing is unknown
      // The last known members: as they were applied, or as a refresh saw them.
      const known = toWanted(old.members, old).map((one) => ({ ...one, userID: one.userID || nameOf(one) }));
      const plan = planMembers(toWanted(declaration.members, old), known, optionsOf(declaration, account, known));
      const roles = plan.change.map(({ member }) => member);
      const counts = Object.entries({ add: plan.add, "give another role": roles, remove: plan.remove });
      const parts = counts.flatMap(([what, who]) =>
        who.length > 0 ? [`${who.length} to ${what} (${names(who, declaration.sensitive)})`] : [],
      );
      report.forecast(`members: ${[...parts, `${plan.unchanged} unchanged`].join(", ")}`);
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
    const isFirst = replaced?.inputs["teamID"] !== inputs.teamID && !context.members.isMade(inputs.teamID);
    return { id: inputs.teamID, outputs: await apply(context, checked(inputs), { isFirst }) };
  },

  read: async (context, id, state) => {
    await context.members.awaits(id, unseenIn(state));
    const listed = await membersOf(context, id);
    if (!listed) return undefined;
    const count = countFound(state);
    if (count > 0) context.report.info(managedFromNowOn(count));
    const live = await withRoles(context, id, listed);
    const defaults = { mode: "authoritative", maxRemovals: 0.25, keepSelf: true } as const;
    const { found: _, ...rest } = { found: undefined, ...state };
    const declaration: Inputs = { ...defaults, ...rest, teamID: id, members: state.members ?? {} };
    const wanted = await identify(context, toWanted(declaration.members, state), live);
    // An import shows everybody, the caller too.
    const self = state.members && declaration.keepSelf ? await caller(context) : undefined;
    const there = observe(live, wanted, declaration, self);
    // Who is not seen yet is not known to be gone.
    const unseen = unseenIn(state).flatMap((one): [string, Role][] => {
      const name = nameOf(one);
      return Object.hasOwn(there.members, name) ? [] : [[name, declaration.members[name] ?? "member"]];
    });
    return { id, outputs: { ...declaration, ...withUnseen(there, unseen) } };
  },

  update: (context, _id, old, inputs) => apply(context, checked(inputs), { old }),

  delete: async (context, id, state) => {
    await context.members.awaits(id, unseenIn(state));
    const listed = await membersOf(context, id, (one) => context.members.list(one, { fresh: true }));
    if (!listed) return;
    const owned = await identify(context, toWanted(state.members, state), listed);
    const spared = new Spared(context, id, owned);
    const [self, isOwned] = [await caller(context), new People(owned)];
    const own = state.keepSelf ? listed.find((one) => isOwned.has(one) && isSame(self, one)) : undefined;
    const teams = context.identities.holders(id);
    const isLeaving = (one: ListedMember): boolean =>
      one !== own &&
      isOwned.has(one) &&
      !spared.has(one) &&
      context.claims.administered(teams, one.userID) === undefined;
    // The last state knows the roles of those who leave; each of the others may be an administrator.
    const left = await withRoles(
      context,
      id,
      listed.filter((one) => !isLeaving(one)),
    );
    const leaving = listed.filter(isLeaving).map((one) => ({ ...one, role: one.role ?? isOwned.find(one)?.role }));
    const { maxRemovals, minAdmins, sensitive } = state;
    const plan = planMembers([], [...left, ...leaving], {
      ...{ mode: "additive", owned, maxRemovals, minAdmins },
      spares: (one) => !leaving.some(({ userID }) => userID === one.userID),
    });
    if (plan.refusals.length > 0)
      throw new ResourceError(
        `nobody was removed from team ${id}: ${plan.refusals.join(" ")} Run up with that first, then remove the roster.`,
      );
    if (own) context.report.info(`${nameOf(own)} stays a member: its account makes these calls`);
    spared.report(sensitive);
    if (leaving.length > 0) context.report.info(`removes ${formatCount(leaving.length, "person")}`);
    const unseen = await unlisted(context, unseenIn(state), listed, refuseUnknown);
    const failures = await takeOut(context, id, [...plan.remove, ...unseen.filter((one) => !spared.has(one))]);
    if (failures.size > 0) throw new ResourceError(sentences("not removed", failures, sensitive).join("\n"));
  },
});

/** The declared members, with user IDs as far as the state knows them: whoever gets another address stays the same. */
export function toWanted(members: Members, { members: kept = {}, userIDs = [] }: Kept = {}): Wanted[] {
  const known = new Map(sortedNames(kept).map((name, index) => [name.toLowerCase(), userIDs[index]]));
  return Object.entries(members).map(([name, role]) => {
    const one = toPerson(name);
    const userID = known.get(name.toLowerCase());
    return one.email === undefined || !userID ? { ...one, role } : { ...one, userID, role };
  });
}

/** Those of a state whom no list has shown yet: they have no user ID in it. */
const unseenIn = ({ members = {}, userIDs = [] }: Kept = {}): Person[] =>
  sortedNames(members)
    .filter((_, at) => userIDs[at] === "")
    .map(toPerson);

const sortedNames = (members: Members): string[] => Object.keys(members).toSorted();

/** How many people of a state of an earlier version were members before it. */
const countFound = (state: object): number => {
  const found = z.object({ found: z.record(z.string(), z.unknown()) }).safeParse(state);
  return Object.keys(found.data?.found ?? {}).length;
};

/** True when there may be members whom the last run left alone and this one does not; the state does not know them. */
const decidesOnMore = (now: Inputs, old: Given): boolean =>
  now.mode === "authoritative" &&
  (old.mode === "additive" ||
    (old.keepSelf && !now.keepSelf) ||
    (old.ignore ?? []).some((pattern) => !now.ignore?.includes(pattern)));

function same(old: Members, now: Members): boolean {
  const roles = new Map(Object.entries(old).map(([name, role]) => [name.toLowerCase(), role]));
  const entries = Object.entries(now);
  return entries.length === roles.size && entries.every(([name, role]) => roles.get(name.toLowerCase()) === role);
}

const optionsOf = (
  { mode, ignore, maxRemovals, minAdmins, keepSelf }: Inputs,
  self: Person,
  owned: readonly Wanted[],
): PlanOptions => ({ mode, ignore, maxRemovals, minAdmins, owned, keepSelf: keepSelf ? self : undefined });

/** Those of a roster's people whom other resources of this run decide on. */
class Spared {
  readonly #context: MemberContext;
  readonly #teamID: string;
  readonly #owned: People<Wanted>;
  readonly #urn: string | undefined;
  readonly #kept = new Map<string, NamedResource>();

  /** `urn` is of a roster that goes on: what it declares now is no reason to spare anybody. */
  constructor(context: MemberContext, teamID: string, owned: readonly Wanted[], urn?: string) {
    this.#context = context;
    this.#teamID = teamID;
    this.#owned = new People(owned);
    this.#urn = urn;
  }

  has(member: LiveMember): boolean {
    const own = this.#owned.find(member);
    if (!own) return false;
    const person = { ...member, email: member.email ?? own.email };
    const owner = this.#context.claims.declaring(this.#teamID, person, this.#urn);
    if (owner) this.#kept.set(nameOf(person), owner);
    return this.#context.claims.deciding(this.#teamID, person, this.#urn) !== undefined;
  }

  /** Reports who stays, by whom else they are declared. */
  report(isHidden: boolean | undefined): void {
    for (const ones of Map.groupBy(this.#kept, ([, owner]) => describeNamed(owner)).values()) {
      const people = ones.map(([name]) => name);
      for (const [, owner] of ones.slice(0, 1))
        this.#context.report.info(stays(isHidden ? people.length : people, [this.#teamID], owner));
    }
  }
}

/** The members that a roster decides on, as the state keeps them: those that are declared by their declared names. */
function observe(
  live: readonly ListedMember[],
  wanted: readonly Wanted[],
  { mode, ignore }: Pick<Inputs, "mode" | "ignore">,
  self?: Person,
): { members: Members; userIDs: string[] } {
  const declared = new People(wanted);
  const isDecidedOn = isManaged(ignore);
  const found = live.flatMap((member) => {
    const one = declared.find(member);
    const isSelf = self !== undefined && isSame(self, member);
    if (!one && (mode === "additive" || isSelf || !isDecidedOn(member))) return [];
    // A role of another word can't be declared, and is not the declared one; one that nobody shows is believed.
    const other = one?.role === "member" ? "admin" : "member";
    const shown: Role = role.safeParse(member.role).data ?? (member.role === undefined ? (one?.role ?? other) : other);
    return [[one ? nameOf(one) : nameOf(member), shown, member.userID] as const];
  });
  return toKept(found);
}

function toKept(people: readonly (readonly [name: string, role: Role, userID: string])[]) {
  const ids = new Map(people.map(([name, , userID]) => [name, userID]));
  const members = Object.fromEntries(people.map(([name, role]) => [name, role]));
  return { members, userIDs: sortedNames(members).map((name) => ids.get(name) ?? "") };
}

/** The members of a team before a run, and the plan for them. */
interface Start {
  before: readonly ListedMember[];
  wanted: readonly Wanted[];
  options: PlanOptions;
  plan: MembershipPlan<ListedMember>;
}

/** Brings the team to what is declared: adds, then roles, then removals, which wait while an addition failed. */
async function apply(
  context: MemberContext,
  inputs: Inputs,
  { old, isFirst = false }: { old?: Kept; isFirst?: boolean },
): Promise<Inputs & Required<Kept>> {
  const { teamID, sensitive } = inputs;
  const start = await planned(context, inputs, old, isFirst);
  const reasons = await invite(context, inputs, start.plan);
  for (const reason of reasons.values())
    if (isUndocumented(reason)) throw unknownAnswer(reason, inputs, start, reasons);
  const { rest, after: now } = await replan(context, teamID, start);
  const isBare = now.some(({ email }) => email === undefined);
  const notAdded = new Map<Wanted, unknown>(
    rest.add.map((one) => [
      one,
      reasons.get(nameOf(one)) ?? (isBare && one.userID === undefined ? noUserID : notListed),
    ]),
  );
  const promotions = rest.change.filter(({ role }) => role === "admin");
  const promoted = await changeRoles(context, teamID, promotions);
  const waits = notAdded.size + promoted.size > 0;
  const demotions = waits ? [] : rest.change.filter(({ role }) => role === "member");
  const demoted = await changeRoles(context, teamID, demotions);
  const gone = unseenIn(old).filter((one) => !new People(start.wanted).has(one));
  // An authoritative roster takes out all whom it does not declare, by whatever name.
  const isUnknown = (reason: string): void => {
    if (inputs.mode === "additive") context.report.warning(sensitive ? "somebody may still be in the team" : reason);
  };
  const leaving = waits ? [] : [...rest.remove, ...(await unlisted(context, gone, start.before, isUnknown))];
  const staying = await takeOut(context, teamID, leaving, inputs.resourceUrn);

  // The list proves the result, not the calls' answers.
  const { after, known, rest: left } = await replan(context, teamID, start);
  const sent = [...promotions, ...demotions].filter((change) => !promoted.has(change) && !demoted.has(change));
  const lacking = findLacking(context, after, sent);
  const tried = new Set([...rest.change, ...(waits ? left.change : [])].map(({ member }) => member.userID));
  const showsRoles = after.some((one) => one.role !== undefined);
  const taken = showsRoles ? left.change.filter(({ member }) => !tried.has(member.userID)) : [];
  const failed = (changes: ReadonlyMap<RoleChange<ListedMember>, unknown>, role: Role) =>
    new Map([...changes].flatMap(([one, reason]) => (one.role === role ? [[one.member, reason] as const] : [])));
  const failures = [
    ...sentences("not added", notAdded, sensitive),
    ...sentences("not made an administrator", failed(new Map([...promoted, ...lacking]), "admin"), sensitive),
    ...sentences("not made a plain member", failed(new Map([...demoted, ...lacking]), "member"), sensitive),
    ...sentences("not removed", staying, sensitive),
    ...describeMisplaced([...taken, ...context.claims.misplaced(teamID, after, inputs.resourceUrn)], sensitive),
  ];
  const outputs = { ...inputs, ...kept(inputs, { after, known, reasons, notAdded, start }) };
  if (failures.length > 0) {
    if (waits && rest.remove.length > 0)
      failures.push(`Once that is done, ${formatCount(rest.remove.length, "member")} will be removed.`);
    const count = Object.keys(observe(after, known, inputs).members).length;
    const message = `${count} members of team ${teamID} are there, but:\n${failures.join("\n")}`;
    throw new PartialFailure(message, teamID, outputs);
  }
  context.claims.found(
    inputs.resourceUrn,
    known.map((one) => ({ ...one, userID: one.userID ?? new People(after).find(one)?.userID })),
  );
  // An added member got the declared role by a separate call.
  const before = new Set(start.before.map(({ userID }) => userID));
  const changed = sent.filter(({ member }) => before.has(member.userID)).length;
  report(context, start.plan, rest, changed);
  return outputs;
}

const noUserID =
  "it was added, and nobody can tell whether it is there: the list has user IDs alone, and the platform finds none at " +
  "the address. Declare the user ID in its place";

const notListed = "it was added, and is not in the list yet: the next up looks again";

/** An invitation was answered in a form that is not known: nothing is sent after it, and those who were invited stay known. */
function unknownAnswer(
  reason: ApiError,
  inputs: Inputs,
  start: Start,
  reasons: ReadonlyMap<string, unknown>,
): PartialFailure {
  const { before: after, wanted: known, plan } = start;
  const notAdded = new Map(plan.add.map((one) => [one, reasons.get(nameOf(one))]));
  const outputs = { ...inputs, ...kept(inputs, { after, known, reasons, notAdded, start }) };
  const who = formatCount(plan.add.length, "person");
  return new PartialFailure(
    `whether ${who} joined team ${inputs.teamID} is not known; the next up looks: ${reason.message}`,
    inputs.teamID,
    outputs,
  );
}

/** What the state has to know: also who may be in the team without being listed, and who is still to leave it. */
function kept(
  inputs: Inputs,
  run: {
    after: readonly ListedMember[];
    known: readonly Wanted[];
    reasons: ReadonlyMap<string, unknown>;
    notAdded: ReadonlyMap<Wanted, unknown>;
    start: Start;
  },
): Required<Kept> {
  const { after, known, reasons, notAdded, start } = run;
  const { keepSelf, owned = [], spares } = start.options;
  const declared = new People(known);
  const leaving = owned.filter((one) => !declared.has(one));
  const own = after.filter((one) => declared.has(one) || spares?.(one) !== true);
  const there = observe(own, [...known, ...leaving], inputs, keepSelf);
  const unsure = [...notAdded.keys()].filter((one) => {
    const reason = reasons.get(nameOf(one));
    return reason === undefined || isOutcomeUnknown(reason);
  });
  return withUnseen(
    there,
    unsure.map((one) => [nameOf(one), one.role ?? "member"]),
  );
}

/** Members as the state keeps them, with those whom no list has shown yet: they have no user ID. */
function withUnseen({ members, userIDs }: Required<Kept>, unseen: readonly [string, Role][]): Required<Kept> {
  const people = sortedNames(members).map((name, at) => [name, members[name] ?? "member", userIDs[at] ?? ""] as const);
  return toKept([...people, ...unseen.map(([name, role]) => [name, role, ""] as const)]);
}

/** Reads the team and plans; throws what a program has to decide first. */
async function planned(
  context: MemberContext,
  inputs: Inputs,
  old: Kept | undefined,
  isFirst: boolean,
): Promise<Start> {
  const { teamID, sensitive } = inputs;
  await context.members.awaits(teamID, unseenIn(old));
  const listed = await context.members.list(teamID, { fresh: !context.members.isMade(teamID) });
  if (!listed) throw new ResourceError(`there is no team ${teamID}. If it was deleted, run refresh, then up.`);
  const before = await withRoles(context, teamID, listed);
  const owned = await identify(context, toWanted(old?.members ?? {}, old), before);
  const wanted = await identify(context, toWanted(inputs.members, old), before);
  const [declared, spared] = [new People(wanted), new Spared(context, teamID, owned, inputs.resourceUrn)];
  const teams = context.identities.holders(teamID);
  const spares = (one: LiveMember): boolean =>
    !declared.has(one) && (spared.has(one) || context.claims.administered(teams, one.userID) !== undefined);
  const options = { ...optionsOf(inputs, await caller(context), owned), isFirst, spares };
  const plan = planMembers(wanted, before, options);
  if (plan.refusals.length > 0) {
    const who = isFirst && plan.remove.length > 0 ? `\nNot declared: ${names(plan.remove, sensitive)}.` : "";
    throw new ResourceError(plan.refusals.join("\n") + who);
  }
  spared.report(sensitive);
  return { before, wanted, options, plan };
}

/** Invites the missing people; returns the failures by name. */
async function invite(
  context: MemberContext,
  { teamID, targetRoute, targetInitialApp, targetInitialScreen }: Inputs,
  { add }: MembershipPlan<ListedMember>,
): Promise<Map<string, unknown>> {
  const targets = { targetRoute, targetInitialApp, targetInitialScreen };
  const invitations = add.map(({ email, userID }): Invitation => ({ ...(email ? { email } : { userID }), targets }));
  if (invitations.length > 0)
    context.report.status(`team ${teamID}: adding ${formatCount(invitations.length, "member")}`);
  const failed = await context.members.invite(teamID, invitations);
  return new Map([...failed].map(([invitation, reason]) => [nameOf(invitation), reason]));
}

/** Plans the rest after our calls, by the team's present list. */
async function replan(context: MemberContext, teamID: string, { wanted, options }: Start) {
  const listed = await context.members.proved(teamID);
  if (!listed) throw new ResourceError(`team ${teamID} was deleted meanwhile. Run refresh, then up.`);
  const after = await withRoles(context, teamID, listed);
  const known = await identify(context, wanted, after);
  return { after, known, rest: planMembers(known, after, options) };
}

/** Reports what was done, in one line. */
function report(
  context: MemberContext,
  { add, unchanged }: MembershipPlan<ListedMember>,
  { ignored, others, remove }: MembershipPlan<ListedMember>,
  changed: number,
): void {
  const counts = [
    [add.length, "added"],
    [changed, "given another role"],
    [remove.length, "removed"],
    [unchanged, "unchanged"],
    [ignored, "left alone"],
    [others, "of others"],
  ] as const;
  context.report.info(`members: ${formatCounts(counts)}`);
}
