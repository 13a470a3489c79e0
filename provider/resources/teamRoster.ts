import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { role } from "../../platform/contract/people.ts";
import { email, fraction, id } from "../../platform/contract/values.ts";
import { isOutcomeUnknown, isUndocumented } from "../../platform/contract/wire.ts";
import { formatCount, formatCounts } from "../../platform/messages/text.ts";
import type { Invitation } from "../people/members.ts";
import {
  isManaged,
  isSame,
  nameOf,
  People,
  planMembers,
  toPerson,
  type ListedMember,
  type MembershipPlan,
  type Person,
  type PlanOptions,
  type Role,
  type Wanted,
  findDeclared,
  lastDay,
  reportEnds,
  type Members,
} from "../people/people.ts";
import { common, PartialFailure, ResourceError } from "./common.ts";
import { resource } from "./lifecycle.ts";
import {
  caller,
  changeRoles,
  describeMisplaced,
  findLacking,
  guardFirst,
  identify,
  leave,
  membersOf,
  names,
  sentences,
  Spared,
  takeOut,
  unlisted,
  withRoles,
} from "./memberships.ts";
import type { Context } from "./resource.ts";
import { invitationTargets, managedFromNowOn } from "./teamMember.ts";

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
    description: "Last days (UTC) of members, by their names in members. After it, a member counts as not declared.",
    secretIf: "sensitive",
  }),
  source: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "File with the members, relative to the program's folder, instead of members: CSV with a column email and, if " +
        "needed, role, until and team; or JSON, NDJSON or YAML.",
    }),
  team: z.string().min(1).optional().meta({
    description: "The team in source, if it has a column team.",
  }),
  mode: z.enum(["authoritative", "additive"]).default("authoritative").meta({
    description:
      "authoritative: also removes members who were never declared. additive: leaves them alone. In both, somebody who is no longer declared leaves the team.",
  }),
  ignore: z.array(z.string().min(1)).optional().meta({
    description: "Addresses or user IDs of members to leave alone unless they are declared; * stands for any text.",
  }),
  maxRemovals: fraction.default(0.25).meta({
    description:
      "Largest part of the managed members (from 10 on; in a team that had members before the roster, from the first on) that one run may remove, as a fraction of 1.",
  }),
  minAdmins: z.int().min(0).optional().meta({
    description: "Number of administrators that must remain. If unset, the last one is neither removed nor demoted.",
  }),
  keepSelf: z
    .boolean()
    .default(true)
    .meta({
      description:
        "True if the account that makes the calls keeps its place, even on a destroy. Removing it from the members or " +
        "demoting it is refused.",
    }),
  ...invitationTargets,
  sensitive: z.boolean().optional().meta({
    description: "The members are secret: messages have counts, no names. Set automatically if members are a secret.",
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
    const { resourceUrn, teamID, members, mode = "authoritative", ignore = [], minAdmins = 0 } = inputs;
    const wasMember = (name: string): boolean => Object.hasOwn(old.members ?? {}, name);
    if (declared) reportEnds(report, declared.ends, inputs.sensitive ?? false, wasMember);
    const wanted = toWanted(members ?? {});
    const problems = planMembers(wanted, [], { mode, minAdmins: 0 }).refusals.map((refusal) => {
      return { property: "members", reason: inputs.sensitive ? "somebody is declared twice. Keep one" : refusal };
    });
    const admins = wanted.filter(({ role }) => role === "admin").length + unseenAdmins(inputs);
    if (members && admins < minAdmins) {
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
    const { report, account, claims, identities } = context;
    const wanted = toWanted(inputs.members ?? {}, old);
    const findings = change.replaces.length === 0 ? { people: wanted } : {};
    const [declared, teams] = [new People(wanted), identities.holders(old.teamID)];
    // Whom the team itself names stays; a refresh may have seen them.
    const spares = (one: Person): boolean => !declared.has(one) && claims.administered(teams, one) !== undefined;
    // The last known members: as they were applied, or as a refresh saw them, and whom the team names no longer.
    const last = toWanted(old.members, old);
    const isKept = (one: Person): boolean => inputs.mode === "additive" || new People([...wanted, ...last]).has(one);
    const dismissed = claims.dismissed(teams).filter((one) => !isKept(one));
    const all = [...last, ...dismissed].map((one) => ({ ...one, userID: one.userID || nameOf(one) }));
    const known = all.filter((one) => !spares(one));
    // An address that differs in letter case alone is the same user's.
    const respelt = inputs.members !== undefined && same(known, wanted);
    const changed = change.changed.filter((name) => !(name === "members" && respelt));
    if (dismissed.length > 0) changed.push("members");
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
      const options = { ...optionsOf(declaration, account, known), unseenAdmins: unseenAdmins(declaration), spares };
      const plan = planMembers(wanted, all, options);
      report.forecast(planText(plan, declaration.sensitive));
      if (decidesOnMore(declaration, old)) {
        report.forecast("people whom the roster left alone may now be removed as well: only the update shows whom");
      }
      if (plan.refusals.length > 0) throw new ResourceError(plan.refusals.join("\n"));
    }
    return Promise.resolve({ ...change, changed, findings });
  },

  departs: (context, state) => {
    const { account, claims } = context;
    const { teamID, maxRemovals, minAdmins, keepSelf } = state;
    const owned = toWanted(state.members, state);
    const known = owned.map((one) => ({ ...one, userID: one.userID || nameOf(one) }));
    const others = known.filter((one) => !keepSelf || !isSame(account, one));
    // The account may be one of them by a user ID that nobody knows here.
    const isElse = keepSelf && others.length === known.length;
    const isUnsure = isElse && (!account.email || known.some(({ email }) => email === undefined));
    const goes = new Set<ListedMember>(others.filter((one) => !claims.deciding(teamID, one)).slice(isUnsure ? 1 : 0));
    const { refusals } = planMembers([], known, {
      ...{ mode: "additive", owned, maxRemovals, minAdmins, spares: (one) => !goes.has(one) },
      unseenAdmins: unseenAdmins({ ...state, keepSelf: isElse }),
    });
    // Without the team's ID: a report knows a plan of files and a state, and says it once.
    return refusals.length === 0
      ? Promise.resolve({})
      : Promise.reject(new ResourceError(`nobody can be removed from the team: ${refusals.join(" ")} ${guardFirst}`));
  },

  foresee: async ({ report }, { inputs, unknown }, look) => {
    const context = unknown.size === 0 ? await look() : undefined; // nobody is in a team that is still to be made
    if (!context) return;
    const declaration = inputs as Inputs; // nothing is unknown
    try {
      const listed = await context.members.list(declaration.teamID, { fresh: true });
      if (!listed) return; // up says so
      const { plan } = await planned(context, checked(declaration), listed, { isFirst: isFirst(context, declaration) });
      report.forecast(planText(plan, declaration.sensitive));
    } catch (error) {
      if (error instanceof ResourceError) throw error;
      report.info(`who leaves the team is seen by up alone: ${messageOf(error)}`);
    }
  },

  create: async (context, inputs) => {
    const outputs = await apply(context, checked(inputs), { isFirst: isFirst(context, inputs) });
    return { id: inputs.teamID, outputs };
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
    const declared = new People(wanted);
    const own = live.filter((one) => declared.has(one) || context.claims.administered([id], one) === undefined);
    const there = observe(own, wanted, declaration, self);
    // Who is not seen yet is not known to be gone.
    const shown = new Set(there.map(({ name }) => name));
    const unseen = peopleOf(state).filter(({ name, userID }) => userID === "" && !shown.has(name));
    return { id, outputs: { ...declaration, ...toKept([...there, ...unseen]) } };
  },

  update: (context, _id, old, inputs) => apply(context, checked(inputs), { old }),

  delete: (context, id, state) => {
    const { maxRemovals, minAdmins, sensitive: isHidden, keepSelf } = state;
    const people = { people: toWanted(state.members, state), unseen: unseenIn(state) };
    return leave(context, id, { ...people, keepSelf, isHidden, guards: { maxRemovals, minAdmins } });
  },
});

/** True for a roster that no run has applied, on a team that was there before this one. */
const isFirst = (
  { identities, members }: Context,
  { resourceUrn, teamID }: Pick<Inputs, "resourceUrn" | "teamID">,
): boolean => identities.replaced(resourceUrn)?.inputs["teamID"] !== teamID && !members.isMade(teamID);

function planText({ add, change, remove, unchanged }: MembershipPlan, sensitive: boolean | undefined): string {
  const counts = Object.entries({ add, "give another role": change.map(({ member }) => member), remove });
  const parts = counts.flatMap(([what, who]) =>
    who.length > 0 ? [`${who.length} to ${what} (${names(who, sensitive)})`] : [],
  );
  return `members: ${[...parts, `${unchanged} unchanged`].join(", ")}`;
}

/** Somebody of a roster as its state keeps them: whom no list has shown yet has an empty user ID. */
interface KeptPerson {
  name: string;
  role: Role;
  userID?: string | undefined;
}

const peopleOf = ({ members = {}, userIDs = [] }: Kept = {}): KeptPerson[] =>
  Object.keys(members)
    .toSorted()
    .map((name, at) => ({ name, role: members[name] ?? "member", userID: userIDs[at] }));

function toKept(people: readonly KeptPerson[]): Required<Kept> {
  const members = Object.fromEntries(people.map(({ name, role }) => [name, role]));
  const ids = new Map(people.map(({ name, userID }) => [name, userID ?? ""]));
  return { members, userIDs: peopleOf({ members }).map(({ name }) => ids.get(name) ?? "") };
}

/** The declared members, with user IDs as far as the state knows them: whoever gets another address stays the same. */
export function toWanted(members: Members, kept?: Kept): Wanted[] {
  const known = new Map(peopleOf(kept).map(({ name, userID }) => [name.toLowerCase(), userID]));
  return Object.entries(members).map(([name, role]) => {
    const one = toPerson(name);
    const userID = known.get(name.toLowerCase());
    return one.email === undefined || !userID ? { ...one, role } : { ...one, userID, role };
  });
}

const unseenIn = (kept?: Kept): Person[] =>
  peopleOf(kept).flatMap(({ name, userID }) => (userID === "" ? toPerson(name) : []));

/** How many people of a state of version 0.1.0 were members before it. */
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

/** True for the same people with the same roles, however they are spelt. */
function same(old: readonly Wanted[], now: readonly Wanted[]): boolean {
  const texts = (people: readonly Wanted[]) => people.map((one) => `${nameOf(one).toLowerCase()} ${one.role}`);
  return texts(old).toSorted().join("\n") === texts(now).toSorted().join("\n");
}

/** Administrators that there may be beside the declared ones: those whom it leaves alone, and the account that makes the calls. */
const unseenAdmins = ({ mode = "authoritative", ignore = [], keepSelf }: Partial<Inputs>): number =>
  mode !== "authoritative" || ignore.length > 0 ? Infinity : keepSelf ? 1 : 0;

const optionsOf = (
  { mode, ignore, maxRemovals, minAdmins, keepSelf }: Inputs,
  self: Person,
  owned: readonly Wanted[],
): PlanOptions => ({ mode, ignore, maxRemovals, minAdmins, owned, keepSelf: keepSelf ? self : undefined });

/** The members that a roster decides on, as the state keeps them: those that are declared by their declared names. */
function observe(
  live: readonly ListedMember[],
  wanted: readonly Wanted[],
  { mode, ignore }: Pick<Inputs, "mode" | "ignore">,
  self?: Person,
): KeptPerson[] {
  const declared = new People(wanted);
  const isDecidedOn = isManaged(ignore);
  return live.flatMap((member) => {
    const one = declared.find(member);
    const isSelf = self !== undefined && isSame(self, member);
    if (!one && (mode === "additive" || isSelf || !isDecidedOn(member))) return [];
    // A role of another word can't be declared, and is not the declared one; one that nobody shows is believed.
    const other = one?.role === "member" ? "admin" : "member";
    const shown: Role = role.safeParse(member.role).data ?? (member.role === undefined ? (one?.role ?? other) : other);
    return [{ name: nameOf(one ?? member), role: shown, userID: member.userID }];
  });
}

/** The members of a team before a run, and the plan for them. */
interface Start {
  before: readonly ListedMember[];
  wanted: readonly Wanted[];
  options: PlanOptions;
  plan: MembershipPlan;
}

/** Brings the team to what is declared: adds, then roles, then removals, which wait while an addition failed. */
async function apply(
  context: Context,
  inputs: Inputs,
  more: { old?: Kept; isFirst?: boolean },
): Promise<Inputs & Required<Kept>> {
  const [{ teamID }, { old }] = [inputs, more];
  await context.members.awaits(teamID, unseenIn(old));
  const listed = await context.members.list(teamID, { fresh: !context.members.isMade(teamID) });
  if (!listed) throw new ResourceError(`there is no team ${teamID}. If it was deleted, run refresh, then up.`);
  const start = await planned(context, inputs, listed, more);
  const { add } = start.plan;
  const reasons = await invite(context, inputs, start.plan);
  try {
    // Nothing is sent after an answer that nobody understands.
    const unknown = [...reasons.values()].find(isUndocumented);
    if (unknown) throw unknown;
    return await settle(context, inputs, start, reasons, old);
  } catch (error) {
    if (error instanceof PartialFailure || add.length === 0) throw error;
    // Those who were invited stay known.
    const outputs = { ...inputs, ...kept(inputs, start, start.before, start.wanted, reasons, add) };
    const message = `whether ${formatCount(add.length, "person")} joined team ${teamID} is not known; the next up looks: ${messageOf(error)}`;
    throw new PartialFailure(message, teamID, outputs);
  }
}

/** Gives roles and removes, once people are invited, and proves it all. */
async function settle(
  context: Context,
  inputs: Inputs,
  start: Start,
  reasons: ReadonlyMap<string, unknown>,
  old: Kept | undefined,
): Promise<Inputs & Required<Kept>> {
  const { teamID, sensitive, resourceUrn: urn } = inputs;
  const { rest, after: now } = await replan(context, teamID, start);
  const isBare = now.some(({ email }) => email === undefined);
  const lost = ({ userID }: Wanted): string => (isBare && userID === undefined ? noUserID : "the next up looks again");
  const notAdded = new Map<Wanted, unknown>(rest.add.map((one) => [one, reasons.get(nameOf(one)) ?? lost(one)]));
  const isRefused = (one: Wanted): boolean => reasons.has(nameOf(one));
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
  const staying = await takeOut(context, teamID, leaving, urn);

  // The list proves the result, not the calls' answers.
  const { after, known, rest: left } = await replan(context, teamID, start);
  for (const one of left.add) {
    const isNamed = [...notAdded.keys()].some((other) => nameOf(other) === nameOf(one));
    if (!isNamed) notAdded.set(one, "the list had them, and has them no more; the next up looks again");
  }
  const refused = new Map([...promoted, ...demoted]);
  const sent = [...promotions, ...demotions].filter((change) => !refused.has(change));
  for (const [change, { reason }] of findLacking(context, after, sent)) refused.set(change, reason);
  const tried = new Set([...rest.change, ...(waits ? left.change : [])].map(({ member }) => member.userID));
  const showsRoles = after.some((one) => one.role !== undefined);
  const taken = showsRoles ? left.change.filter(({ member }) => !tried.has(member.userID)) : [];
  const failed = (role: Role) =>
    new Map([...refused].flatMap(([one, reason]) => (one.role === role ? [[one.member, reason] as const] : [])));
  const failures = [
    ...sentences("not added", new Map([...notAdded].filter(([one]) => isRefused(one))), sensitive),
    ...sentences("added and not seen since", new Map([...notAdded].filter(([one]) => !isRefused(one))), sensitive),
    ...sentences("not made an administrator", failed("admin"), sensitive),
    ...sentences("not made a plain member", failed("member"), sensitive),
    ...sentences("not removed", staying, sensitive),
    ...describeMisplaced([...taken, ...context.claims.misplaced(teamID, after, urn)], sensitive),
  ];
  const outputs = { ...inputs, ...kept(inputs, start, after, known, reasons, [...notAdded.keys()]) };
  if (failures.length > 0) {
    if (waits && rest.remove.length > 0)
      failures.push(`Once that is done, ${formatCount(rest.remove.length, "member")} will be removed.`);
    const count = observe(after, known, inputs).length;
    const message = `${count} members of team ${teamID} are there, but:\n${failures.join("\n")}`;
    throw new PartialFailure(message, teamID, outputs);
  }
  const people = new People(after);
  context.claims.found(
    urn,
    known.map((one) => ({ ...one, userID: one.userID ?? people.find(one)?.userID })),
  );
  // An added member got the declared role by a separate call.
  const before = new Set(start.before.map(({ userID }) => userID));
  const counts = [
    [start.plan.add.length, "added"],
    [sent.filter(({ member }) => before.has(member.userID)).length, "given another role"],
    [rest.remove.length, "removed"],
    [start.plan.unchanged, "unchanged"],
    [rest.ignored, "kept by ignore or keepSelf"],
    [rest.others, "of others"],
  ] as const;
  context.report.info(`members: ${formatCounts(counts)}`);
  return outputs;
}

const noUserID =
  "the list has user IDs alone, and the platform finds none at the address. Declare the user ID in its place";

/** What the state has to know: also who may be in the team without being listed, and who is still to leave it. */
function kept(
  inputs: Inputs,
  { options: { keepSelf, owned = [], spares } }: Start,
  after: readonly ListedMember[],
  known: readonly Wanted[],
  reasons: ReadonlyMap<string, unknown>,
  notAdded: readonly Wanted[],
): Required<Kept> {
  const declared = new People(known);
  const leaving = owned.filter((one) => !declared.has(one));
  const own = after.filter((one) => declared.has(one) || spares?.(one) !== true);
  const there = observe(own, [...known, ...leaving], inputs, keepSelf);
  const unsure = notAdded.filter((one) => {
    const reason = reasons.get(nameOf(one));
    return reason === undefined || isOutcomeUnknown(reason);
  });
  const unseen = unsure.map((one) => ({ name: nameOf(one), role: one.role ?? "member", userID: "" }));
  return toKept([...there, ...unseen]);
}

/** Plans from the team's list; throws what a program has to decide first. */
async function planned(
  context: Context,
  inputs: Inputs,
  listed: readonly ListedMember[],
  { old, isFirst = false }: { old?: Kept; isFirst?: boolean },
): Promise<Start> {
  const { teamID, sensitive } = inputs;
  const before = await withRoles(context, teamID, listed);
  const owned = await identify(context, toWanted(old?.members ?? {}, old), before);
  const wanted = await identify(context, toWanted(inputs.members, old), before);
  const [declared, spared] = [new People(wanted), new Spared(context, teamID, owned, inputs.resourceUrn)];
  const teams = context.identities.holders(teamID);
  const spares = (one: ListedMember): boolean =>
    !declared.has(one) && (spared.has(one) || context.claims.administered(teams, one) !== undefined);
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
  context: Context,
  { teamID, targetRoute, targetInitialApp, targetInitialScreen }: Inputs,
  { add }: MembershipPlan,
): Promise<Map<string, unknown>> {
  const targets = { targetRoute, targetInitialApp, targetInitialScreen };
  const invitations = add.map(({ email, userID }): Invitation => ({ ...(email ? { email } : { userID }), targets }));
  if (invitations.length > 0)
    context.report.status(`team ${teamID}: adding ${formatCount(invitations.length, "member")}`);
  const failed = await context.members.invite(teamID, invitations);
  return new Map([...failed].map(([invitation, reason]) => [nameOf(invitation), reason]));
}

/** Plans the rest after our calls, by the team's present list. */
async function replan(context: Context, teamID: string, { wanted, options }: Start) {
  const listed = await context.members.proved(teamID);
  if (!listed) throw new ResourceError(`team ${teamID} was deleted meanwhile. Run refresh, then up.`);
  const after = await withRoles(context, teamID, listed);
  const known = await identify(context, wanted, after);
  return { after, known, rest: planMembers(known, after, options) };
}
