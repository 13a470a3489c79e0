import { messageOf } from "../../machine/failures.ts";
import type { CallOptions } from "../../platform/client/index.ts";
import { ApiError, isNotFound, isUndocumented } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { peopleIn } from "../people/members.ts";
import {
  isSame,
  type ListedMember,
  nameOf,
  People,
  type Person,
  planMembers,
  type PlanOptions,
  type RoleChange,
  type Wanted,
} from "../people/people.ts";
import { describeNamed, type NamedResource } from "../pulumi/names.ts";
import { ResourceError } from "./common.ts";
import type { Context } from "./resource.ts";
import { stays } from "./run.ts";

// How the members of a team become those who are planned, and how that is proved.

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
  { userID, role }: ListedMember,
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

/** The people with the user IDs of those whom a list does not show by their addresses: it may have IDs alone. */
export function identify<One extends Person>(
  { members }: Context,
  people: readonly One[],
  list: readonly ListedMember[],
): Promise<One[]> {
  const there = peopleIn(list);
  return Promise.all(
    people.map(async (one) => {
      if (there.haveAddresses || one.email === undefined || there.has(one)) return one;
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
  context: Context,
  teamID: string,
  changes: readonly RoleChange[],
): Promise<Map<RoleChange, unknown>> =>
  each(changes, async ({ member, role }) => {
    const { members, identities, claims } = context;
    const team = role === "member" ? claims.administered(identities.holders(teamID), member) : undefined;
    if (team) throw new ResourceError(`${describeNamed(team)} names them as its adminID. Declare one of the two`);
    await members.setRole(teamID, member, role, context);
  });

/** That others have lost the roles that this run left them with, in sentences: a platform may allow one administrator alone. */
export function describeMisplaced(misplaced: readonly RoleChange[], isHidden: boolean | undefined): string[] {
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

/** Why somebody has not the role that the platform confirmed, and the one that they have. */
interface Lack {
  reason: string;
  role?: string | undefined;
}

/** Those of the changes that a list of the team, read after them, does not have. */
export function findLacking(
  context: Context,
  after: readonly ListedMember[],
  changes: readonly RoleChange[],
): Map<RoleChange, Lack> {
  if (changes.length === 0) return new Map();
  const [there, showsRoles] = [peopleIn(after), after.some(({ role }) => role !== undefined)];
  if (!showsRoles) sayRoleless(context);
  return new Map(
    changes.flatMap((change): [RoleChange, Lack][] => {
      const found = there.find({ userID: change.member.userID });
      if (!found) return [[change, { reason: "it is in the list no longer" }]];
      if (!showsRoles || found.role === change.role) return [];
      return [[change, { reason: describeLack(change.role, found.role), role: found.role }]];
    }),
  );
}

/** Reads back the role of somebody, with the list of the team. */
export async function proveRole(context: Context, teamID: string, change: RoleChange) {
  const list = (await context.members.proved(teamID)) ?? [];
  const now = peopleIn(list).find({ userID: change.member.userID });
  const role = now && (await findRole(context, teamID, now, context));
  const after = now?.role === role ? list : list.map((one) => (one === now ? { ...one, role } : one));
  return { list, lack: findLacking(context, after, [change]).get(change) };
}

const describeLack = (wanted: string, found: string | undefined): string =>
  `the platform answered that the role is ${wanted} now, and read back it is ${found === undefined ? "none" : quote(found)}. ` +
  `Declare the role that the platform keeps, or set it there; then run up again`;

const stillThere = "the platform answered that it did, and it is in the list afterwards";

/**
 * Takes members out of a team, which is proved by its list; answers those who are still there, with the reason. Never
 * takes out whom a resource of this run declares; `urn` is of the one that asks, and has looked at its own people.
 */
export async function takeOut(
  context: Context,
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
  const left = peopleIn((await membersOf(context, teamID, (id) => context.members.proved(id))) ?? []);
  return new Map(
    leaving.flatMap((member) => {
      const failure = failures.get(member);
      // A refusal of somebody who is not there is none; an answer in an unknown form ends what is sent.
      return left.has(member) || isUndocumented(failure) ? [[member, failure ?? stillThere] as const] : [];
    }),
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
  const there = peopleIn(list);
  const missing = people.filter((one) => !there.has(one));
  const hasAddresses = there.haveAddresses;
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

/** Those of some declared people whom other resources of this run decide on. */
export class Spared {
  readonly #context: Context;
  readonly #teamID: string;
  readonly #owned: People<Wanted>;
  readonly #urn: string | undefined;
  readonly #kept = new Map<string, NamedResource>();

  /** `urn` is of a resource that goes on: what it declares now is no reason to spare anybody. */
  constructor(context: Context, teamID: string, owned: readonly Wanted[], urn?: string) {
    this.#context = context;
    this.#teamID = teamID;
    this.#owned = new People(owned);
    this.#urn = urn;
  }

  has(member: ListedMember): boolean {
    const own = this.#owned.find(member);
    if (!own) return false;
    const { claims } = this.#context;
    const person = { ...member, email: member.email ?? own.email };
    const owner = claims.declaring(this.#teamID, person, this.#urn);
    if (owner) this.#kept.set(nameOf(person), owner);
    return claims.deciding(this.#teamID, person, this.#urn) !== undefined;
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

/** Somebody in a list, by the user ID that a state knows before any address. */
export const findKnown = (list: readonly ListedMember[], { userID, email }: Person): ListedMember | undefined =>
  peopleIn(list).find({ userID }) ?? peopleIn(list).find({ email });

/** People whose declaration goes. */
interface Leaving {
  people: readonly Wanted[];
  /** Those of them whom no list has shown yet. */
  unseen: readonly Person[];
  /** True where the account that makes the calls keeps its place. */
  keepSelf: boolean;
  isHidden?: boolean | undefined;
  /** True where the team has this declaration under another name now. */
  goesOn?: boolean;
  /** Of a roster. */
  guards?: Pick<PlanOptions, "maxRemovals" | "minAdmins">;
}

/** Takes people out of a team with their declaration, but for those on whom something else decides. */
export async function leave(context: Context, teamID: string, leaving: Leaving): Promise<void> {
  const { people, unseen, keepSelf, isHidden, goesOn = false, guards } = leaving;
  const { members, report, claims } = context;
  await members.awaits(teamID, unseen);
  const list = await membersOf(context, teamID, (id) => members.list(id, { fresh: guards !== undefined }));
  if (!list) return;
  const owned = await identify(context, people, list);
  const isUnknown = (reason: string): void => {
    if (goesOn) return;
    throw new ResourceError(
      `${reason}. Look at the team and take them out there; then set retainOnDelete, and run up before you remove the declaration.`,
    );
  };
  const hidden = await unlisted(context, unseen, list, isUnknown);
  const there = new Map([
    ...owned.flatMap((one) => {
      const member = findKnown(list, one);
      return member ? [[member.userID, { ...member, email: member.email ?? one.email }] as const] : [];
    }),
    ...hidden.map((one) => [one.userID, one] as const),
  ]);
  const [self, spared] = [await caller(context), new Spared(context, teamID, owned)];
  const teams = context.identities.holders(teamID);
  const goesToo = teams.length === 0 && context.recall?.("Team").some(({ id }) => id === teamID);
  const stay: string[] = [];
  const goes = [...there.values()].filter((one) => {
    if (spared.has(one)) return false;
    const team = claims.administered(teams, one);
    const isSelf = keepSelf && isSame(self, one);
    const why = team ? `${describeNamed(team)} names them as its adminID` : "its account makes these calls";
    if (team ?? isSelf) stay.push(`${isHidden ? "somebody" : nameOf(one)} stays a member: ${why}`);
    return !team && !isSelf;
  });
  if (guards) await guard(context, teamID, list, { owned, goes, guards });
  for (const text of goesToo ? [] : stay) report.info(text);
  spared.report(isHidden);
  if (guards && goes.length > 0) report.info(`removes ${formatCount(goes.length, "person")}`);
  const failed = await takeOut(context, teamID, goes);
  if (failed.size > 0) throw new ResourceError(sentences("not removed", failed, isHidden).join("\n"));
}

/** Throws where a roster's guards refuse that its people go. */
async function guard(
  context: Context,
  teamID: string,
  list: readonly ListedMember[],
  { owned, goes, guards }: { owned: readonly Wanted[]; goes: readonly ListedMember[]; guards: Leaving["guards"] },
): Promise<void> {
  const [known, leaving] = [new People(owned), new People(goes)];
  const isLeaving = ({ userID }: ListedMember): boolean => leaving.has({ userID });
  // The last state knows the roles of those who leave; each of the others may be an administrator.
  const others = list.filter((one) => !isLeaving(one));
  const left = await withRoles(context, teamID, others);
  const gone = list.filter(isLeaving).map((one) => ({ ...one, role: one.role ?? known.find(one)?.role }));
  const options = { mode: "additive" as const, owned, ...guards, spares: (one: ListedMember) => !isLeaving(one) };
  const { refusals } = planMembers([], [...left, ...gone], options);
  if (refusals.length === 0) return;
  throw new ResourceError(`nobody was removed from team ${teamID}: ${refusals.join(" ")} ${guardFirst}`);
}

/** What to do where guards refuse that a roster goes. */
export const guardFirst = "Run up with that first, then remove the roster.";

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
    return `${nameOf(member)} was ${what}: ${messageOf(reason)}`;
  });
  return failures.size > first.length ? [...first, `and ${failures.size - first.length} more were ${what}`] : first;
}
