import type { CallOptions } from "../../platform/client/http/call.ts";
import { ApiError, isNotFound } from "../../platform/contract/errors.ts";
import { quote, some } from "../../platform/messages/text.ts";
import type { ListedMember } from "../people/members.ts";
import { describeNamed } from "./model/identities.ts";
import { type Context, ResourceError } from "./model/resource.ts";
import { nameOf, People, type LiveMember, type Person, type RoleChange, type Wanted } from "./people.ts";
import type { TeamClaims } from "./run.ts";

// How the members of a team become those who are planned, and how that is proved.

/** Context of resources that put users into teams. */
export interface MemberContext extends Context {
  claims: TeamClaims;
}

/** As whom the calls are made. */
export const caller = async ({ client, account }: Context): Promise<Person> => ({
  email: account.email,
  userID: await client.callerID(),
});

/** Which of a platform's teams are there, as far as it was asked. */
const there = new WeakMap<object, Map<string, Promise<boolean>>>();

/**
 * The members of a team; undefined where there is no such team. A platform may answer so of a list that the account may not
 * see, so the team itself is asked for: nobody is taken for gone because of a missing right.
 */
export async function membersOf(
  context: Context,
  teamID: string,
  read: (teamID: string) => Promise<readonly ListedMember[] | undefined> = (id) => context.members.list(id),
): Promise<readonly ListedMember[] | undefined> {
  const { client } = context;
  const list = await read(teamID);
  if (list) return list;
  const teams = there.get(client) ?? new Map<string, Promise<boolean>>();
  there.set(client, teams);
  const known = teams.get(teamID) ?? isThere(context, teamID);
  teams.set(teamID, known);
  if (await known)
    throw new ResourceError(
      `the members of team ${teamID} are not known: the platform answers to their list that there is no such team, and the team is ` +
        `there. Ask whether the account may see its members; nothing was changed.`,
    );
  return undefined;
}

async function isThere(context: Context, teamID: string): Promise<boolean> {
  try {
    return (await context.client.readteam({ teamID }, context)).team !== undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.code === "notFound" || error.code === "forbidden")) return false;
    throw error;
  }
}

/** Platforms that show no role of anybody. */
const roleless = new WeakSet<object>();

/** Says once that roles are set and can't be proved. */
function sayRoleless({ client, report }: Context): void {
  if (roleless.has(client)) return;
  roleless.add(client);
  report.warning("this platform shows nobody's role in a team: roles are set as declared, and can't be proved");
}

/** The role of a member; undefined when the platform does not tell, or by a word that can't be declared. */
export async function findRole(
  { members, client }: Context,
  teamID: string,
  { userID, role }: LiveMember,
  call?: CallOptions,
): Promise<string | undefined> {
  return role ?? (roleless.has(client) ? undefined : members.roleOf(teamID, userID, call));
}

/** Members that are asked for one by one before a platform counts as one that shows no roles. */
const tried = 3;

/** Completes a list with the roles that it lacks, member by member. */
export async function withRoles(
  context: Context,
  teamID: string,
  listed: readonly ListedMember[],
): Promise<readonly ListedMember[]> {
  const open = listed.filter(({ role }) => role === undefined);
  if (open.length === 0) return listed;
  const roles = new Map<ListedMember, string | undefined>();
  const look = async (member: ListedMember): Promise<void> => {
    try {
      roles.set(member, await findRole(context, teamID, member));
    } catch (error) {
      if (!isNotFound(error)) throw error; // left meanwhile
    }
  };
  const first = open.slice(0, tried);
  await Promise.all(first.map(look));
  if (open.length === listed.length && first.every((one) => roles.has(one) && roles.get(one) === undefined)) {
    sayRoleless(context);
    return listed;
  }
  await Promise.all(open.slice(tried).map(look));
  return listed.map((member) => (member.role === undefined ? { ...member, role: roles.get(member) } : member));
}

/** The wanted members with the user IDs of those whose addresses the list does not show: it may have IDs alone. */
export async function identify(
  { members }: Context,
  wanted: readonly Wanted[],
  live: readonly ListedMember[],
): Promise<Wanted[]> {
  if (live.every(({ email }) => email !== undefined)) return [...wanted];
  const shown = new Set(live.map(({ email }) => email?.toLowerCase()));
  return Promise.all(
    wanted.map(async (one) => {
      if (one.email === undefined || one.userID !== undefined || shown.has(one.email.toLowerCase())) return one;
      const userID = await members.userIDAt(one.email);
      return userID === undefined ? one : { ...one, userID };
    }),
  );
}

/** Does something for each of many; answers those for whom it failed, with the reason. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<Map<Item, unknown>> {
  const failures = new Map<Item, unknown>();
  await Promise.all(items.map((item) => work(item).catch((reason: unknown) => failures.set(item, reason))));
  return failures;
}

/** Gives members other roles; answers the changes that failed, with the reason. `findLacking` proves the others. */
export const changeRoles = (
  { members, identities, claims }: MemberContext,
  teamID: string,
  changes: readonly RoleChange<ListedMember>[],
): Promise<Map<RoleChange<ListedMember>, unknown>> =>
  each(changes, async ({ member, role }) => {
    const team = role === "member" ? claims.administered(identities.holders(teamID), member.userID) : undefined;
    if (team) throw new ResourceError(`${describeNamed(team)} names them as its adminID. Declare one of the two`);
    await members.setRole(teamID, member, role);
  });

/** That others have lost the roles that this run left them with, in sentences: a platform may allow one administrator alone. */
export function describeMisplaced(
  misplaced: readonly RoleChange<LiveMember>[],
  isHidden: boolean | undefined,
): string[] {
  if (misplaced.length === 0) return [];
  const found = misplaced.map(({ member, role }) => `${quote(member.role ?? "")} in place of ${role}`);
  const who = names(
    misplaced.map(({ member }) => member),
    isHidden,
  );
  const has = misplaced.length === 1 ? "has" : "have";
  const which = isHidden ? "" : ` (${some(found, maxNamed.plan)})`;
  return [
    `${who} ${has} another role than declared after the others' changes${which}: the platform may allow fewer ` +
      `administrators. Declare roles that it keeps; then run up again with --refresh`,
  ];
}

/** Those of the changes that the list of the team, read after them, does not have, with the reason. */
export function findLacking(
  context: Context,
  after: readonly ListedMember[],
  changes: readonly RoleChange<ListedMember>[],
): Map<RoleChange<ListedMember>, string> {
  if (changes.length === 0) return new Map();
  const there = new Map(after.map((member) => [member.userID, member]));
  const showsRoles = after.some(({ role }) => role !== undefined);
  if (!showsRoles) sayRoleless(context);
  return new Map(
    changes.flatMap((change): [RoleChange<ListedMember>, string][] => {
      const found = there.get(change.member.userID);
      if (!found) return [[change, "it is in the list no longer"]];
      if (!showsRoles || found.role === change.role) return [];
      return [[change, describeLack(change.role, found.role)]];
    }),
  );
}

/** The reason why somebody lacks a role that the platform confirmed; undefined when they have it. */
export async function explainLack(
  context: Context,
  teamID: string,
  member: LiveMember,
  wanted: string,
): Promise<{ reason: string; role: string | undefined } | undefined> {
  const list = (await context.members.proved(teamID)) ?? [];
  const now = list.find(({ userID }) => userID === member.userID);
  if (!now) throw new ResourceError(`${nameOf(member)} is in the list of team ${teamID} no longer. Run up again.`);
  const role = await findRole(context, teamID, now);
  if (role === undefined && list.every((one) => one.role === undefined)) sayRoleless(context);
  else if (role !== wanted) return { reason: describeLack(wanted, role), role };
  return undefined;
}

const describeLack = (wanted: string, found: string | undefined): string =>
  `the platform answered that the role is ${wanted} now, and read back it is ${found === undefined ? "none" : quote(found)}. ` +
  `Declare the role that the platform keeps, or set it there; then run up again`;

/** Refuses to remove somebody of whom nobody can tell whether they are in the team. */
export function refuseUnknown(reason: string): never {
  throw new ResourceError(
    `${reason}. Look at the team and take them out there; then set retainOnDelete, and run up before you remove the declaration.`,
  );
}

const stillThere = "the platform answered that it did, and it is in the list afterwards";

/**
 * Takes members out of a team, which is proved by its list; answers those who are still there, with the reason. Never
 * takes out whom a resource of this run declares; `urn` is of the one that asks, and has looked at its own people.
 */
export async function takeOut(
  context: MemberContext,
  teamID: string,
  leaving: readonly ListedMember[],
  urn?: string,
): Promise<Map<ListedMember, unknown>> {
  for (const member of leaving) {
    const owner = context.claims.declaring(teamID, member, urn);
    if (owner) throw new Error(`${nameOf(member)} is declared by ${owner.name} and about to leave team ${teamID}`);
  }
  if (leaving.length === 0) return new Map();
  try {
    context.assertAlone();
  } catch (error) {
    return new Map(leaving.map((member) => [member, error])); // what else is done is saved
  }
  const failures = await each(leaving, (member) => context.members.remove(teamID, member));
  const left = new People(await membersOf(context, teamID, (id) => context.members.proved(id)));
  // A refusal of somebody who is not there is none.
  return new Map(
    leaving.flatMap((member) => (left.has(member) ? [[member, failures.get(member) ?? stillThere] as const] : [])),
  );
}

/**
 * Those of some people whom the list of a team lacks though they may be in it: they were added with success and no list has
 * shown them. Their removal is sent all the same. `isUnknown` gets a sentence for each of whom nobody can tell.
 */
export async function unlisted(
  { members }: Context,
  people: readonly Person[],
  list: readonly ListedMember[],
  isUnknown: (reason: string) => void,
): Promise<ListedMember[]> {
  const there = new People(list);
  const missing = people.filter((one) => !there.has(one));
  const hasAddresses = list.every(({ email }) => email !== undefined);
  const found = missing.map(async ({ email, userID }): Promise<ListedMember[]> => {
    try {
      const known = userID ?? (email === undefined ? undefined : await members.userIDAt(email));
      if (known !== undefined) return [{ email, userID: known }];
    } catch (error) {
      if (!hasAddresses) throw error;
    }
    // A list with addresses tells by itself that somebody is not there.
    if (hasAddresses) return [];
    isUnknown(
      `whether ${email ?? "somebody"} is in the team is not known: its list has user IDs alone, and the platform finds none at the address`,
    );
    return [];
  });
  return (await Promise.all(found)).flat();
}

/** Names that a message gives of each kind. */
const maxNamed = { plan: 5, failures: 20 };

/** The first few of some people; only how many when nobody may be named. */
export const names = (people: readonly Person[], isHidden: boolean | undefined): string =>
  isHidden ? `${people.length} of them` : some(people.map(nameOf), maxNamed.plan);

/** Failures, a sentence for each person. */
export function sentences(
  what: string,
  failures: ReadonlyMap<Person, unknown>,
  isHidden: boolean | undefined,
): string[] {
  if (failures.size === 0) return [];
  // The platform's own words may hold the address.
  if (isHidden) return [`${failures.size} members were ${what}`];
  const first = [...failures].slice(0, maxNamed.failures).map(([member, reason]) => {
    return `${nameOf(member)} was ${what}: ${reason instanceof Error ? reason.message : String(reason)}`;
  });
  return failures.size > first.length ? [...first, `and ${failures.size - first.length} more were ${what}`] : first;
}
