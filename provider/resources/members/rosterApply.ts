import type { Invitation, InvitationTargets } from "../../client/members/invitations.ts";
import type { ListedMember } from "../../client/members/memberLists.ts";
import { withoutUndefined } from "../../contract/values.ts";
import { formatCounts, formatCount } from "../../messages/text.ts";
import {
  isUser,
  managing,
  planRoster,
  type Named,
  type RosterOptions,
  type Role,
  type RosterPlan,
  type WantedMember,
} from "../../reconcile/rosters.ts";
import { mayBeMade } from "../model/made.ts";
import { PartialFailure, ResourceError, type Context } from "../model/resource.ts";
import { membership } from "./memberships.ts";
import { findFound, namesIn, sparing, stillFound, type FoundRoles, type KeptFound } from "./rosterFound.ts";
import { identify, withRoles, nameOf, observe, toWanted, type Kept, type Members } from "./rosterLists.ts";
import { lacking, type RoleChange } from "./rosterProof.ts";
import { each, names, sentences } from "./rosterSentences.ts";
import type { MemberContext } from "./teamClaims.ts";

/** The part of a roster's declaration that decides about the team's members. */
interface Roster extends InvitationTargets {
  teamID: string;
  members: Members;
  mode: "authoritative" | "additive";
  ignore?: string[] | undefined;
  maxRemovals: number;
  minAdmins?: number | undefined;
  keepSelf: boolean;
  sensitive?: boolean | undefined;
  adopt?: boolean | undefined;
  resourceUrn?: string | undefined;
}

/** As whom the calls are made. */
export const caller = async ({ client, account }: Context): Promise<Named> => ({
  email: account.email,
  userID: await client.callerID(),
});

export const optionsOf = ({ mode, ignore, maxRemovals, minAdmins, keepSelf }: Roster, self: Named): RosterOptions => ({
  mode,
  ignore: ignore ?? [],
  maxRemovals,
  minAdmins,
  keepSelf: keepSelf ? self : undefined,
});

/** The options as they are for the live members: a caller whom the roster never declared is left alone. */
export async function optionsNow(
  context: Context,
  inputs: Roster,
  live: readonly ListedMember[],
  old?: Kept,
): Promise<RosterOptions> {
  const self = await caller(context);
  const options = optionsOf(inputs, self);
  const member = live.find((one) => isUser(self, one));
  const dropped = member && managing(toWanted(old?.members ?? {}, old), { mode: "additive" })(member);
  if (!inputs.keepSelf || !member || dropped) return options;
  return { ...options, ignore: [...(options.ignore ?? []), nameOf(member)] };
}

type Applied<Inputs> = Inputs & Required<Kept> & { found?: FoundRoles };

/** Brings the team to what is declared: adds, then roles, then removals, which wait while an addition failed. */
export async function apply<Inputs extends Roster & Record<string, unknown>>(
  context: MemberContext,
  inputs: Inputs,
  old?: KeptFound,
  /** Members known to be this roster's without a state. */
  ours?: KeptFound,
): Promise<Applied<Inputs>> {
  const start = await planned(context, inputs, old, ours);
  const begun = namesOf(inputs, start.plan.add);
  context.made.begin(inputs.resourceUrn, begun);
  const reasons = await invite(context, inputs, start.plan);
  const unsure = new Set(
    namesOf(
      inputs,
      start.plan.add.filter((one) => mayBeMade(reasons.get(nameOf(one)))),
    ),
  );
  const { rest } = await replan(context, inputs.teamID, start);
  const notAdded = new Map(
    rest.add.map((one) => [one, reasons.get(nameOf(one)) ?? "it is not in the list afterwards"]),
  );
  const promoted = await changeRoles(context, inputs.teamID, changesTo("admin", rest));
  const waits = notAdded.size + promoted.failed.size > 0;
  const demoted = await changeRoles(context, inputs.teamID, waits ? [] : changesTo("member", rest));
  const removed = await remove(context, inputs.teamID, waits ? [] : rest.remove);

  // The list proves the result, not the calls' answers.
  const proof = await replan(context, inputs.teamID, start);
  const unlike = lacking(proof, { promoted, demoted, removed });
  const [takesOver, self] = [ours !== undefined, await caller(context)];
  const meeting = { old: old ?? ours, takesOver, self, wanted: proof.known, live: start.before };
  const found = findFound(context, inputs, meeting);
  const outputs = { ...inputs, ...observe(proof.after, proof.known, start.options), ...withoutUndefined({ found }) };
  noteMade(context, inputs, { proof, found, open: begun.filter((name) => !unsure.has(name)) });
  const left = removed.done.filter((one) => !unlike.removed.has(one));
  context.made.removed(inputs.resourceUrn, namesOf(inputs, left));
  const failures = [
    ...sentences("not added", notAdded, inputs),
    ...sentences("not made an administrator", new Map([...promoted.failed, ...unlike.admin]), inputs),
    ...sentences("not made a plain member", new Map([...demoted.failed, ...unlike.member]), inputs),
    ...sentences("not removed", new Map([...removed.failed, ...unlike.removed]), inputs),
  ];
  if (failures.length > 0) {
    if (waits && rest.remove.length > 0)
      failures.push(`Once that is done, ${formatCount(rest.remove.length, "member")} will be removed.`);
    const message = `${Object.keys(outputs.members).length} members of team ${inputs.teamID} are there, but:\n${failures.join("\n")}`;
    throw new PartialFailure(message, inputs.teamID, outputs);
  }
  // An added member got the declared role by a separate call.
  const before = new Set(start.before.map(({ userID }) => userID));
  const changed = [...promoted.done, ...demoted.done].filter(({ member }) => before.has(member.userID)).length;
  report(context, start, rest, { changed, removed: removed.done.length });
  return outputs;
}

const namesOf = ({ teamID }: Roster, people: readonly Named[]) => people.flatMap((one) => membership(teamID, one));

interface Noted {
  proof: { after: readonly ListedMember[]; known: readonly WantedMember[] };
  found: FoundRoles | undefined;
  /** Names of those of whom it is known now whether they were added. */
  open: readonly string[];
}

/** Notes whom the team has by this stack. */
function noteMade({ made }: MemberContext, inputs: Roster, { proof, found, open }: Noted): void {
  const isThere = managing(proof.known, { mode: "additive" });
  const there = proof.after.filter((one) => isThere(one) && !found?.[one.userID]);
  made.settled(inputs.resourceUrn, there.flatMap(namesIn(inputs.teamID, proof.known)));
  made.settled(inputs.resourceUrn, open, false);
}

/** The members of a team before a run, and the plan for them. */
interface Start {
  before: readonly ListedMember[];
  wanted: readonly WantedMember[];
  options: RosterOptions;
  plan: RosterPlan<ListedMember>;
  /** How many were found, and stay. */
  stay: number;
}

/** Reads the team and plans; throws what a program has to decide first. */
async function planned(
  context: MemberContext,
  inputs: Roster,
  old: KeptFound | undefined,
  ours: KeptFound | undefined,
): Promise<Start> {
  const { teamID } = inputs;
  const listed = await context.members.list(teamID, { fresh: !context.members.isMade(teamID) });
  if (!listed) throw new ResourceError(`there is no team ${teamID}. If it was deleted, run refresh, then up.`);
  const before = await withRoles(context, teamID, listed);
  const now = await optionsNow(context, inputs, before, old);
  const found = stillFound(context, inputs, (old ?? ours)?.found, before);
  const { stay, options } = sparing(inputs, { ...old, found }, now, before);
  const wanted = await identify(context, toWanted(inputs.members, old), before);
  const plan = planRoster(wanted, before, options);
  if (!old && !inputs.adopt && !ours) refuseOthers(inputs, plan);
  if (plan.refusals.length > 0) throw new ResourceError(plan.refusals.join("\n"));
  return { before, wanted, options, plan, stay: stay.length };
}

/** Invites the missing people; returns the failures by name. */
async function invite(
  context: Context,
  inputs: Roster,
  { add }: RosterPlan<ListedMember>,
): Promise<Map<string, unknown>> {
  const { teamID, targetRoute, targetInitialApp, targetInitialScreen } = inputs;
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
  return { after, known, rest: planRoster(known, after, options) };
}

const changesTo = (wanted: Role, { changeRole }: RosterPlan<ListedMember>): RoleChange[] =>
  changeRole.filter(({ role }) => role === wanted);

/** Gives members other roles; answers the changes that are made, and those who did not get theirs. */
async function changeRoles(context: Context, teamID: string, changes: readonly RoleChange[]) {
  const failures = await each(changes, ({ member, role }) => context.members.setRole(teamID, member, role));
  return {
    done: changes.filter((change) => !failures.has(change)),
    failed: new Map([...failures].map(([{ member }, reason]) => [member, reason])),
  };
}

/** Takes members out of the team; answers who is out, and who could not be taken out. */
async function remove(context: Context, teamID: string, members: readonly ListedMember[]) {
  const failed = await each(members, (member) => context.members.remove(teamID, member));
  return { done: members.filter((member) => !failed.has(member)), failed };
}

/** Reports what was done, in one line. */
function report(
  context: Context,
  { plan: { add, unchanged }, stay }: Start,
  { ignored, others }: RosterPlan<ListedMember>,
  { changed, removed }: { changed: number; removed: number },
): void {
  const counts = [
    [add.length, "added"],
    [changed, "given another role"],
    [removed, "removed"],
    [unchanged, "unchanged"],
    [ignored - stay, "left alone"],
    [stay, stay === 1 ? "found, stays" : "found, they stay"],
    [others, "of others"],
  ] as const;
  context.report.info(`members: ${formatCounts(counts)}`);
}

/** Refuses to remove or demote members who were in the team before it was adopted. */
function refuseOthers(inputs: Roster, { remove, changeRole }: RosterPlan<ListedMember>): void {
  const demoted = changeRole.flatMap(({ member, role }) =>
    role === "member" && member.role === "admin" ? member : [],
  );
  const reasons = [
    remove.length > 0
      ? `team ${inputs.teamID} has members that the roster does not declare: ${names(remove, inputs)}. Declare them, name them in ignore, or set mode: additive`
      : "",
    demoted.length > 0
      ? `team ${inputs.teamID} has administrators declared as plain members: ${names(demoted, inputs)}`
      : "",
  ].filter((reason) => reason !== "");
  if (reasons.length > 0)
    throw new ResourceError(`${reasons.join(".\n")}.\nTo remove or demote them, set adopt: true.`);
}
