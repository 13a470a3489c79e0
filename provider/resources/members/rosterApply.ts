import type { Invitation, InvitationTargets, ListedMember } from "../../client/lists/memberLists.ts";
import {
  isUser,
  managing,
  planRoster,
  type Named,
  type RosterOptions,
  type RosterPlan,
} from "../../reconcile/rosters.ts";
import { counted, some } from "../model/creation.ts";
import type { Removal } from "../model/removals.ts";
import { PartialFailure, ResourceError, type Context } from "../model/resource.ts";
import { identified, withRoles, nameOf, observed, wantedOf, type Kept, type Members } from "./rosterLists.ts";
import { refuseUndeclaredMembers } from "./undeclared.ts";

/** What a roster is declared with, as far as the team's members depend on it. */
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
  removal?: Removal | undefined;
}

/** Names that a message gives of each kind. */
const mostNamed = { plan: 5, failures: 20 };

/** The first few of some members, for people; only how many when the roster is secret. */
export const names = (members: readonly Named[], { sensitive }: Pick<Roster, "sensitive">): string =>
  sensitive ? `${members.length} of them` : some(members.map(nameOf), mostNamed.plan);

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
  const dropped = member && managing(wantedOf(old?.members ?? {}, old), { mode: "additive" })(member);
  if (!inputs.keepSelf || !member || dropped) return options;
  return { ...options, ignore: [...(options.ignore ?? []), nameOf(member)] };
}

/** Brings the team to what is declared: adds, then roles, then removals, which wait while an addition failed. */
export async function apply<Inputs extends Roster & Record<string, unknown>>(
  context: Context,
  inputs: Inputs,
  old?: Kept,
  /** Whether the team's members are this roster's without any state. */
  ours = false,
): Promise<Inputs & Required<Kept>> {
  const { teamID } = inputs;
  const listed = await context.members.anew(teamID);
  if (!listed) throw new ResourceError(`there is no team ${teamID}. If it was deleted, run refresh, then up.`);
  const before = await withRoles(context, teamID, listed);
  const now = await optionsNow(context, inputs, before, old);
  const options = { ...now, ignore: [...(now.ignore ?? []), ...declaredElsewhere(context, teamID, before)] };
  const wanted = await identified(context, wantedOf(inputs.members, old), before);
  const plan = planRoster(wanted, before, options);
  if (plan.refusals.length > 0) throw new ResourceError(plan.refusals.join("\n"));
  await refuseUndeclaredMembers(context, inputs, plan.remove);
  if (!old && !inputs.adopt && !ours) refuseOthers(inputs, plan);

  const { targetRoute, targetInitialApp, targetInitialScreen } = inputs;
  const targets = { targetRoute, targetInitialApp, targetInitialScreen };
  const invitations = plan.add.map(({ email, userID }): Invitation => ({
    ...(email ? { email } : { userID }),
    targets,
  }));
  if (invitations.length > 0) context.report.status(`team ${teamID}: adding ${invitations.length} members`);
  const refused = await context.members.invite(teamID, invitations);
  const there = new Set(before.map(({ userID }) => userID));
  // Adding dropped the list that was read.
  const relisted = await context.members.of(teamID);
  if (!relisted) throw new ResourceError(`team ${teamID} was deleted meanwhile. Run refresh, then up.`);
  const after = await withRoles(context, teamID, relisted, ({ userID }) => !there.has(userID));

  const known = await identified(context, wanted, after);
  const rest = planRoster(known, after, options);
  const reasons = new Map([...refused].map(([invitation, reason]) => [nameOf(invitation), reason]));
  const notAdded = new Map(
    rest.add.map((one) => [one, reasons.get(nameOf(one)) ?? "it is not in the list afterwards"]),
  );
  type RoleChange = (typeof rest.changeRole)[number];
  const setRole = ({ member, role }: RoleChange): Promise<void> => context.members.setRole(teamID, member, role);
  const notPromoted = await each(
    rest.changeRole.filter(({ role }) => role === "admin"),
    setRole,
  );
  const waits = notAdded.size + notPromoted.size > 0;
  const demoted = waits ? [] : rest.changeRole.filter(({ role }) => role === "member");
  const notDemoted = await each(demoted, setRole);
  const removed = waits ? [] : rest.remove;
  const notRemoved = await each(removed, (member) => context.members.remove(teamID, member));

  const gone = new Set(removed.filter((member) => !notRemoved.has(member)));
  const done = [...rest.changeRole.filter((one) => one.role === "admin" && !notPromoted.has(one)), ...demoted];
  const roles = new Map(done.flatMap((one) => (notDemoted.has(one) ? [] : [[one.member, one.role] as const])));
  const members = after
    .filter((member) => !gone.has(member))
    .map((member) => ({ ...member, role: roles.get(member) ?? member.role }));
  const outputs = { ...inputs, ...observed(members, known, options) };
  const changing = (failures: ReadonlyMap<RoleChange, unknown>) =>
    new Map([...failures].map(([{ member }, reason]) => [member, reason]));
  const failures = [
    ...sentences("not added", notAdded, inputs),
    ...sentences("not made an administrator", changing(notPromoted), inputs),
    ...sentences("not made a plain member", changing(notDemoted), inputs),
    ...sentences("not removed", notRemoved, inputs),
  ];
  if (failures.length > 0) {
    if (waits && rest.remove.length > 0)
      failures.push(`${rest.remove.length} members are removed only once that is done.`);
    const message = `${Object.keys(outputs.members).length} members of team ${teamID} are there, but:\n${failures.join("\n")}`;
    throw new PartialFailure(message, teamID, outputs);
  }
  // Who was added got the declared role by a call of its own.
  const changed = done.filter(({ member }) => there.has(member.userID)).length;
  const counts = [
    [plan.add.length, "added"],
    [changed, "given another role"],
    [removed.length, "removed"],
    [plan.unchanged, "unchanged"],
    [rest.ignored, "left alone"],
    [rest.others, "of others"],
  ] as const;
  context.report.info(`members: ${counted(counts)}`);
  return outputs;
}

/** Members whom UserTeams of this run put into the team. */
const declaredElsewhere = ({ claims }: Context, teamID: string, live: readonly ListedMember[]): string[] =>
  live.flatMap((member) => (claims.declaring(teamID, member)?.kind === "UserTeams" ? [nameOf(member)] : []));

/** What was in the team before us is not taken over without being told to. */
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

/** Does something for each of many; answers those for whom it failed, with the reason. */
export async function each<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Map<Item, unknown>> {
  const failures = new Map<Item, unknown>();
  await Promise.all(items.map((item) => work(item).catch((reason: unknown) => failures.set(item, reason))));
  return failures;
}

/** What did not work for whom, a sentence each. */
export function sentences(
  what: string,
  failures: ReadonlyMap<Named, unknown>,
  { sensitive }: Pick<Roster, "sensitive">,
): string[] {
  if (failures.size === 0) return [];
  // The platform's own words may hold the address.
  if (sensitive) return [`${failures.size} members were ${what}`];
  const first = [...failures].slice(0, mostNamed.failures).map(([member, reason]) => {
    return `${nameOf(member)} was ${what}: ${reason instanceof Error ? reason.message : String(reason)}`;
  });
  return failures.size > first.length ? [...first, `and ${failures.size - first.length} more were ${what}`] : first;
}
