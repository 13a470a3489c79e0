import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions, Calls } from "../../platform/client/index.ts";
import type { RequestOf } from "../../platform/contract/endpoints.ts";
import type { Member } from "../../platform/contract/people.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import {
  ApiError,
  isNotFound,
  isOutcomeUnknown,
  isRefusal,
  isUndocumented,
  orUndefinedIfNotFound,
} from "../../platform/contract/wire.ts";
import { Mask } from "../../platform/messages/masks.ts";
import type { Dialect } from "../../platform/profile/profile.ts";
import { isSame, type ListedMember, namesOf, People, type Person } from "./people.ts";

/** Members of a team; undefined when there is no such team. */
type TeamList = readonly ListedMember[] | undefined;

type Request = RequestOf<"insertteammembers">;

/** Someone to be added, by address or by ID. */
export interface Invitation extends Person {
  /** Where the invitation leads. */
  targets?: Pick<Request, "targetRoute" | "targetInitialApp" | "targetInitialScreen">;
}

/** Someone to be added to a team. */
interface Addition {
  teamID: string;
  invitation: Invitation;
}

/** A membership, and whether it existed before. */
export interface Joined {
  member: ListedMember;
  existed: boolean;
  /** Set where nobody saw somebody in the list who may have been added: what is known of them is here. */
  isUnlisted?: true;
  /** Why that is so, where the platform did more than to leave them out. */
  reason?: unknown;
}

/** Somebody as a list has them; an error where it could not be read. */
interface Found {
  member?: ListedMember | undefined;
  error?: unknown;
}

/** Somebody who waits to be added to a team. */
type Waiting = Addition & Pick<PromiseWithResolvers<Joined>, "resolve" | "reject">;

/** A list that is to be read, and the version of the team when it was asked for. */
interface Read extends PromiseWithResolvers<TeamList> {
  teamID: string;
  version: number;
}

/** How long lists of members wait, and are kept. */
export interface ListWaits {
  /** Milliseconds in which reads become one call (default 30). */
  reads?: number;
  /** Milliseconds in which additions do (default 100). */
  additions?: number;
  /** Milliseconds for which a list serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
}

type Platform = Calls<
  "teammembers" | "readteammember" | "insertteammembers" | "updateteammember" | "deleteteammember" | "userid"
> & { dialect?: Dialect; consistencyMs?: number };

const usual = { reads: 10, additions: 100, ttlMs: 5_000 };

/** As many as an engine has under way at a time at least: nobody else is waited for. */
const full = 32;

/** Hands over together what comes within a window of time, which begins with the first item and ends when it is full. */
class Collector<Item> {
  readonly #take: (items: Item[]) => Promise<void>;
  readonly #windowMs: number;
  #waiting: Item[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param take gets the items of a window; it never rejects */
  constructor(take: (items: Item[]) => Promise<void>, windowMs: number) {
    this.#take = take;
    this.#windowMs = windowMs;
  }

  add(item: Item): void {
    const end = (): void => void this.#take(this.#waiting.splice(0));
    const count = this.#waiting.push(item);
    if (count === 1) this.#timer = setTimeout(end, this.#windowMs);
    if (count !== full) return;
    clearTimeout(this.#timer);
    setImmediate(end); // with all that come at once
  }
}

/**
 * Snapshots by key, which serve further reads for `ttlMs` (ms) or until our own write drops them. A snapshot that was
 * read during a write is not kept.
 */
export class SnapshotCache<Snapshot> {
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { snapshot: Snapshot; until: number }>();
  /** How often each key was changed by us. */
  readonly #changes = new Map<string, number>();

  constructor(ttlMs: number, now: () => number) {
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** The snapshot of a key, wrapped since it may be undefined itself. */
  get(key: string): { snapshot: Snapshot } | undefined {
    const known = this.#kept.get(key);
    return known && known.until > this.#now() ? known : undefined;
  }

  /** Keeps a snapshot, unless the key was changed since `version` was read. */
  keep(key: string, snapshot: Snapshot, version: number): void {
    if (version === this.version(key)) this.#kept.set(key, { snapshot, until: this.#now() + this.#ttlMs });
  }

  /** Counts our changes of a key. */
  version(key: string): number {
    return this.#changes.get(key) ?? 0;
  }

  /** Makes the next reader read again. */
  drop(key: string): void {
    this.#kept.delete(key);
  }

  /** Notes a change of ours: snapshots read before or during it are not served any more. */
  changed(key: string): void {
    this.#changes.set(key, this.version(key) + 1);
    this.drop(key);
  }
}

/** Milliseconds after a cancellation in which is read who was added, so that it is saved. */
const gracePeriodMs = 15_000;

/** Most lists that are read in one call before somebody asks for them. */
const maxAhead = 25;

const never = new AbortController().signal;

/**
 * Members of teams, for many callers at a time: additions become few calls, reads of many teams become one, and a list
 * that was just read serves everyone who asks about the team.
 */
export class MemberLists {
  readonly #client: Platform;
  readonly #call: CallOptions;
  /** For what follows an addition. */
  readonly #lasting: CallOptions;
  readonly #late: LateMembers;
  readonly #snapshots: SnapshotCache<TeamList>;
  readonly #reads: Collector<Read>;
  readonly #proofs: Collector<Read>;
  readonly #additions: Collector<Waiting>;
  readonly #underway = new Map<string, Read>();
  /** The list of each team as it was read last, for what a later one has in common with it. */
  readonly #earlier = new Map<string, readonly ListedMember[]>();
  /** Teams whose lists may be asked for. */
  readonly #expected = new Set<string>();
  /** Teams that this run has made: nobody is in them but administrators, and whom it has added. */
  readonly #made = new Set<string>();
  /** User IDs that were requested, by address as declared: a platform may distinguish spellings. */
  readonly #userIDs = new Map<string, Promise<string | undefined>>();
  /** True while lists hold user IDs alone, which do not show the team they belong to. */
  #isBare = false;
  /** True once a list had somebody without an address. */
  #lacksAddresses = false;

  constructor(client: Platform, options: CallOptions & ListWaits & { now?: () => number } = {}) {
    const { reads, additions, ttlMs, now = Date.now, ...call } = { ...usual, ...options };
    this.#client = client;
    this.#call = call;
    this.#lasting = call.signal ? { ...call, signal: delaySignal(call.signal, gracePeriodMs) } : call;
    this.#late = new LateMembers(client.consistencyMs ?? 0, now);
    this.#snapshots = new SnapshotCache(ttlMs, now);
    this.#reads = new Collector((reads) => this.#readAll([...reads, ...this.#ahead()]), reads);
    this.#proofs = new Collector((reads) => this.#readAll([...reads, ...this.#ahead()], this.#lasting), additions);
    this.#additions = new Collector((waiting) => this.#addAll(waiting), additions);
  }

  /** Notes a team of this run: its list is read together with that of another one. */
  expect(teamID: string): void {
    this.#expected.add(teamID);
  }

  /** Notes a team that this run has just made: those whom it declares come next. */
  made(teamID: string): void {
    this.#made.add(teamID);
    this.#late.made(teamID);
    this.expect(teamID);
  }

  /** True for a team that this run has made: its members joined with that, or were added by the run. */
  isMade(teamID: string): boolean {
    return this.#made.has(teamID);
  }

  /**
   * Members of a team as they were at most `ttlMs` ago; undefined when there is no such team. `fresh` reads them again,
   * with those who ask meanwhile: use it to decide who is removed.
   */
  async list(teamID: string, { fresh = false }: { fresh?: boolean } = {}): Promise<TeamList> {
    if (fresh) this.#snapshots.drop(teamID);
    const known = this.#snapshots.get(teamID);
    if (known) return known.snapshot;
    return (this.#current(teamID) ?? this.#queue(teamID, this.#reads)).promise;
  }

  /**
   * Members of a team after changes of ours: an answer of the platform that is younger than each of them. Those who ask
   * at about the same time share one call, for all of their teams. Also when the run is cancelled, so that what was done
   * is saved.
   */
  async proved(teamID: string): Promise<TeamList> {
    const known = this.#snapshots.get(teamID);
    return known ? known.snapshot : this.#queue(teamID, this.#proofs).promise;
  }

  /** Members of a team as they were read last, after all changes of ours; undefined where nobody asked since. */
  known(teamID: string): TeamList {
    return this.#snapshots.get(teamID)?.snapshot;
  }

  /**
   * Has lists of a team wait for people whom an earlier run added with success and no list has shown since, as long as a
   * change may be unseen.
   */
  async awaits(teamID: string, people: readonly Person[]): Promise<void> {
    if (people.length === 0) return;
    await this.list(teamID); // shows whether it has addresses
    const named = people.map(async (one) => (one.email === undefined ? one : this.#named(one.email, [teamID])));
    this.#late.added([teamID], await Promise.all(named));
  }

  /** The user ID at an address, which stays; an unknown one may get one by an invitation. */
  userIDAt(email: string, call: CallOptions = this.#call): Promise<string | undefined> {
    const known = this.#userIDs.get(email);
    if (known) return known;
    const asked = orUndefinedIfNotFound(this.#client.userid({ email }, call)).then((found) => found?.userID);
    this.#userIDs.set(email, asked);
    const forget = (): void => void this.#userIDs.delete(email);
    asked.then((userID) => userID ?? forget(), forget);
    return asked;
  }

  /** The role of a member as the platform spells it; reads the member alone where the team's list lacks it. */
  async roleOf(teamID: string, userID: string, call = this.#call): Promise<string | undefined> {
    const listed = await this.#find(teamID, userID);
    if (listed?.role !== undefined) return listed.role;
    const { teamMember } = await this.#client.readteammember({ teamID, userID, ...idOf(listed) }, call);
    return teamMember?.role;
  }

  /** Changes the role of a listed member; sends the listed `teamMemberID` if there is one. */
  async setRole(teamID: string, member: ListedMember, role: "admin" | "member", call = this.#call): Promise<void> {
    await this.#changing([teamID], async () => {
      await this.#client.updateteammember({ teamID, userID: member.userID, ...idOf(member), role }, call);
      this.#late.gotRole(teamID, member, role);
    });
  }

  /** Removes a member; succeeds when there is no such member. */
  async remove(teamID: string, member: ListedMember): Promise<void> {
    const isNeeded = member.teamMemberID === undefined && this.#client.dialect?.habits.memberID === "teamMemberID";
    const listed = isNeeded ? await this.#find(teamID, member.userID) : member;
    if (isNeeded && listed?.teamMemberID === undefined) return;
    await this.#changing([teamID], async () => {
      const request = { teamID, userID: member.userID, ...idOf(listed) };
      await orUndefinedIfNotFound(this.#client.deleteteammember(request, this.#call));
      this.#late.removed(teamID, member);
    });
  }

  /** Adds someone to a team unless they are a member; resolves to the membership. */
  add(teamID: string, invitation: Invitation): Promise<Joined> {
    return new Promise((resolve, reject) => this.#additions.add({ teamID, invitation, resolve, reject }));
  }

  /**
   * Invites people, in one call unless somebody is refused. Resolves to the people whose call failed, with
   * the reason; the team's list shows whether they were added all the same, unless an answer came in an unknown form.
   */
  async invite(teamID: string, people: readonly Invitation[]): Promise<Map<Invitation, unknown>> {
    const failed = await this.#invite(people.map((invitation) => ({ teamID, invitation })));
    return new Map([...failed].map(([{ invitation }, reason]) => [invitation, reason]));
  }

  #invite<One extends Addition>(additions: readonly One[]): Promise<Map<One, unknown>> {
    return inviteTogether(additions, (request) =>
      this.#changing(request.teamIDs, async () => {
        await this.#client.insertteammembers(request, this.#call);
        const { emails = [], userIDs = [] } = request;
        const named = await Promise.all(emails.map((email) => this.#named(email, request.teamIDs)));
        this.#late.added(request.teamIDs, [...named, ...userIDs.map((userID) => ({ userID }))]);
      }),
    );
  }

  /** Adds the missing people, and resolves each waiting call with the membership. */
  async #addAll(waiting: readonly Waiting[]): Promise<void> {
    try {
      const before = await this.#findAll(waiting.filter((one) => !this.#lacks(one)));
      const missing = waiting.filter((one) => {
        const { member, error } = before.get(one) ?? {};
        if (member) one.resolve({ member, existed: true });
        if (error !== undefined) one.reject(error);
        return !member && error === undefined;
      });
      const failed = await this.#invite(missing);
      const looked = missing.filter((one) => !isCancelled(failed.get(one)) && !isUndocumented(failed.get(one)));
      const after = await this.#findAll(looked, this.#lasting);
      for (const one of missing) {
        const { member, error } = after.get(one) ?? {};
        const reason = failed.get(one);
        const isRefused = isNotFound(error) || (reason !== undefined && !isOutcomeUnknown(reason));
        // An administrator was one before: whoever is added is a plain member.
        if (member) one.resolve({ member, existed: member.role === "admin" });
        else if (isRefused) one.reject(reason ?? error);
        else one.resolve(await this.#unlisted(one, error ?? reason, isUndocumented(reason)));
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** What is known of somebody whom no list shows; after an answer in an unknown form nobody is asked for more. */
  async #unlisted({ teamID, invitation }: Addition, reason: unknown, isUndocumented: boolean): Promise<Joined> {
    const { email, userID = "" } = invitation;
    if (email === undefined) return { member: { userID }, existed: false, isUnlisted: true, reason };
    const known = isUndocumented ? undefined : await this.userIDAt(email, this.#lasting).catch(() => undefined);
    const isUnnamed = known === undefined && this.#isBareOf(teamID);
    return {
      member: { email, userID: known ?? email },
      ...{ existed: false, isUnlisted: true },
      reason: reason ?? (isUnnamed ? withoutUserID(teamID, email) : undefined),
    };
  }

  /** Somebody by address, and by user ID where lists have IDs alone: only by that they are seen to come. */
  async #named(email: string, teamIDs: readonly string[]): Promise<Person> {
    if (!teamIDs.some((teamID) => this.#isBareOf(teamID))) return { email };
    return { email, userID: await this.userIDAt(email).catch(() => undefined) };
  }

  /** True when a person is certainly no member. Only a fresh list proves that one is. */
  #lacks({ teamID, invitation }: Addition): boolean {
    const list = this.known(teamID) ?? (this.isMade(teamID) ? [] : undefined);
    if (!list) return false;
    const people = peopleIn(list);
    return !people.has(invitation) && (invitation.email === undefined || people.haveAddresses);
  }

  /** Looks for people in the lists of their teams as they are now. */
  async #findAll<One extends Addition>(people: readonly One[], call = this.#call): Promise<Map<One, Found>> {
    const reads = new Map(people.map(({ teamID }) => [teamID, this.#begin(teamID)]));
    if (reads.size > 0) await this.#readAll([...reads.values(), ...this.#ahead()], call);
    const found = people.map(async (one): Promise<[One, Found]> => {
      try {
        const list = await reads.get(one.teamID)?.promise;
        if (!list) return [one, { error: noTeam(one.teamID) }];
        return [one, { member: await this.#memberAmong(list, one.invitation, call) }];
      } catch (error) {
        return [one, { error }];
      }
    });
    return new Map(await Promise.all(found));
  }

  async #memberAmong(list: readonly ListedMember[], one: Person, call: CallOptions): Promise<ListedMember | undefined> {
    const people = peopleIn(list);
    const found = people.find(one);
    if (found || one.email === undefined || people.haveAddresses) return found;
    return people.find({ userID: await this.userIDAt(one.email, call) }); // the list has user IDs alone
  }

  async #find(teamID: string, userID: string): Promise<ListedMember | undefined> {
    const list = await this.list(teamID);
    return list && peopleIn(list).find({ userID });
  }

  /** Carries out a change of teams. A list that was read before its end is not served afterwards. */
  async #changing(teamIDs: readonly string[], change: () => Promise<unknown>): Promise<void> {
    const changed = (): void => {
      for (const teamID of teamIDs) this.#snapshots.changed(teamID);
    };
    changed();
    try {
      await change();
    } finally {
      changed();
    }
  }

  /** True where the list of a team, or of any where that shows nobody, was last read without addresses. */
  #isBareOf(teamID: string): boolean {
    const known = this.#earlier.get(teamID) ?? [];
    return known.length > 0 ? !peopleIn(known).haveAddresses : this.#lacksAddresses;
  }

  /** The read under way, unless it began before our last change to the team: it may not show that change. */
  #current(teamID: string): Read | undefined {
    const underway = this.#underway.get(teamID);
    return underway?.version === this.#snapshots.version(teamID) ? underway : undefined;
  }

  #queue(teamID: string, reads: Collector<Read>): Read {
    const read = this.#begin(teamID);
    reads.add(read);
    return read;
  }

  /** Notes that a list is being read, for whoever asks meanwhile. */
  #begin(teamID: string): Read {
    const read = { ...Promise.withResolvers<TeamList>(), teamID, version: this.#snapshots.version(teamID) };
    this.#underway.set(teamID, read);
    const over = (): void => {
      if (this.#underway.get(teamID) === read) this.#underway.delete(teamID);
    };
    read.promise.then(over, over);
    return read;
  }

  /** Lists that others will probably ask for, to be read in the same call. */
  #ahead(): Read[] {
    if (this.#isBare) return [];
    const unread = [...this.#expected].filter((teamID) => !this.#snapshots.get(teamID) && !this.#current(teamID));
    return unread.slice(0, maxAhead).map((teamID) => this.#begin(teamID));
  }

  async #readAll(reads: readonly Read[], call = this.#call): Promise<void> {
    const teams = Map.groupBy(reads, ({ teamID }) => teamID);
    const teamIDs = [...teams.keys()];
    const isOne = teamIDs.length === 1;
    const oneByOne = () => Promise.all([...teams.values()].map((own) => this.#readAll(own, call)));
    if (this.#isBare && !isOne) return void (await oneByOne());
    const versions = new Map(teamIDs.map((teamID) => [teamID, this.#snapshots.version(teamID)]));
    try {
      const asked = this.#client.teammembers({ teamIDs }, call);
      const teamMembers = (await (isOne ? orUndefinedIfNotFound(asked) : asked))?.teamMembers;
      if (!isOne && teamMembers?.some((member) => member.teamID === undefined)) {
        this.#isBare = true;
        return void (await oneByOne());
      }
      const unshown: Read[] = [];
      let wait = 0;
      for (const [teamID, own] of teams) {
        const listed = isOne ? teamMembers : teamMembers?.filter((member) => member.teamID === teamID);
        if (listed && !listed.every(hasID)) {
          for (const { reject } of own) reject(withoutID(teamID));
          continue;
        }
        const members = listed && following(this.#earlier.get(teamID) ?? [], distinct(listed));
        if (members) this.#earlier.set(teamID, members);
        this.#lacksAddresses ||= members !== undefined && !peopleIn(members).haveAddresses;
        const later = this.#late.waitFor(teamID, members);
        if (later !== undefined) {
          unshown.push(...own);
          wait = later;
          continue;
        }
        if (members) this.#snapshots.keep(teamID, members, versions.get(teamID) ?? 0);
        for (const { resolve } of own) resolve(members);
      }
      if (unshown.length === 0) return;
      await sleep(wait, undefined, { signal: call.signal ?? never });
      await this.#readAll(unshown, call);
    } catch (error) {
      // One team that is missing, or that is nobody's business, must not hide the others.
      const isOfOne = isNotFound(error) || (error instanceof ApiError && error.code === "forbidden");
      if (isOfOne && !isOne) return void (await oneByOne());
      for (const { reject } of reads) reject(error);
    }
  }
}

const idOf = (member: Member | undefined): { teamMemberID?: string } =>
  member?.teamMemberID === undefined ? {} : { teamMemberID: member.teamMemberID };

const isCancelled = (error: unknown): boolean => error instanceof ApiError && error.code === "cancelled";

/** Why somebody can't be seen in a list of user IDs. */
const withoutUserID = (teamID: string, email: string): ApiError =>
  new ApiError({
    code: "notFound",
    endpoint: "userid",
    message: `The list of team ${teamID} has user IDs alone, and the platform finds none at ${email}`,
    hint: "Declare userID in its place.",
  });

const noTeam = (teamID: string): ApiError =>
  new ApiError({ code: "notFound", endpoint: "teammembers", message: `There is no team ${teamID}` });

const hasID = (member: Member): member is ListedMember => member.userID !== undefined;

const withoutID = (teamID: string): ApiError =>
  new ApiError({
    code: "badAnswer",
    endpoint: "teammembers",
    message: `A member of team ${teamID} came without a user ID`,
    hint: "Members are known by their users' IDs: ask the platform's operator to list them.",
  });

/** A user ID counts once, however often a list shows it; what one entry lacks another one has. */
function distinct(members: readonly ListedMember[]): readonly ListedMember[] {
  const byID = new Map<string, ListedMember>();
  for (const member of members) {
    const before = byID.get(member.userID);
    byID.set(member.userID, before ? { ...member, ...withoutUndefined(before) } : member);
  }
  return byID.size === members.length ? members : [...byID.values()];
}

const indices = new WeakMap<readonly ListedMember[], People<ListedMember>>();

/** The people in a list, which is gone through once: as many may ask as it has members. */
export function peopleIn(list: readonly ListedMember[]): People<ListedMember> {
  const people = indices.get(list) ?? new People(list);
  indices.set(list, people);
  return people;
}

/**
 * The list with the members of an earlier one where they are as they were. Where those all stayed in front, as they do
 * while people are added, their index goes on with it: a team of thousands is read again after each batch.
 */
export function following(earlier: readonly ListedMember[], list: readonly ListedMember[]): readonly ListedMember[] {
  let same = 0;
  while (same < earlier.length && isAsBefore(earlier[same], list[same])) same++;
  if (same === 0) return list;
  const next = [...earlier.slice(0, same), ...list.slice(same)];
  const people = indices.get(earlier);
  if (!people || same < earlier.length) return next;
  indices.delete(earlier); // who still asks that list has it gone through again
  for (const member of next.slice(same)) people.add(member);
  indices.set(next, people);
  return next;
}

const isAsBefore = (one: ListedMember | undefined, other: ListedMember | undefined): boolean =>
  one?.userID === other?.userID &&
  one?.email === other?.email &&
  one?.role === other?.role &&
  one?.teamMemberID === other?.teamMemberID &&
  one?.teamID === other?.teamID;

type IsShown = (list: readonly ListedMember[]) => boolean;

/** What a list has to show until a time, and who was added by it. */
interface Change {
  until: number;
  isShown: IsShown;
  added: Person | undefined;
}

const waitMs = 300;

/**
 * Changes of this run in teams within the last while. A list that does not show it yet (eventual consistency) is
 * read again, so that nobody is taken for missing.
 */
class LateMembers {
  readonly #forMs: number;
  readonly #now: () => number;
  /** By team and then by person. */
  readonly #changes = new Map<string, Map<string, Change>>();

  /** @param forMs milliseconds for which a change may be unseen; 0 turns it off */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  made(teamID: string): void {
    this.#note(teamID, "", () => true);
  }

  added(teamIDs: readonly string[], people: readonly Person[]): void {
    for (const person of people) {
      const isShown: IsShown = (list) => {
        const there = peopleIn(list);
        // Of IDs alone nobody can tell.
        return there.has(person) || (person.userID === undefined && !there.haveAddresses);
      };
      for (const teamID of teamIDs) this.#note(teamID, namesOf(person).at(-1), isShown, person);
    }
  }

  gotRole(teamID: string, { userID }: ListedMember, role: string): void {
    this.#note(teamID, `role ${userID}`, (list) => (peopleIn(list).find({ userID })?.role ?? role) === role);
  }

  removed(teamID: string, member: ListedMember): void {
    const { userID } = member;
    const own = this.#changes.get(teamID);
    for (const [name, { added }] of own ?? [])
      if (name === `role ${userID}` || (added && isSame(added, member))) own?.delete(name);
    this.#note(teamID, userID, (list) => !peopleIn(list).has({ userID }));
  }

  /** Milliseconds before a list is read again; undefined where it shows everything, or had the time to. */
  waitFor(teamID: string, list: TeamList): number | undefined {
    const own = this.#changes.get(teamID);
    let isLate = false;
    for (const [name, { until, isShown, added }] of own ?? []) {
      const isThere = list !== undefined && isShown(list);
      const isOver = this.#now() + waitMs > until;
      isLate ||= !isThere && !isOver;
      if (isOver || (isThere && !added)) own?.delete(name); // another copy may not have somebody who was seen
    }
    return isLate ? waitMs : undefined;
  }

  #note(teamID: string, name = "", isShown: IsShown, added?: Person): void {
    if (this.#forMs === 0) return;
    const own = this.#changes.get(teamID) ?? new Map<string, Change>();
    this.#changes.set(teamID, own.set(name, { until: this.#now() + this.#forMs, isShown, added }));
  }
}

/**
 * Sends a request for each team. When one is refused, sends one for each half of its people, to find out whom the platform
 * refuses. Resolves to the additions whose request failed, with the reason.
 */
async function inviteTogether<One extends Addition>(
  additions: readonly One[],
  send: (request: Request) => Promise<unknown>,
): Promise<Map<One, unknown>> {
  const failed = new Map<One, unknown>();
  const invite = async (group: readonly One[]): Promise<void> => {
    try {
      await send(requestFor(group));
    } catch (error) {
      const halves = halvesOf(group, error);
      for (const half of halves) await invite(half);
      if (halves.length > 0) return;
      const reason = withoutPeople(group, error);
      for (const one of group) failed.set(one, reason);
    }
  };
  const alike = Map.groupBy(additions, ({ teamID, invitation: { targets } }) =>
    JSON.stringify([teamID, targets ?? {}]),
  );
  await Promise.all([...alike.values()].map(invite));
  return failed;
}

const personOf = ({ invitation }: Addition): string => namesOf(invitation)[0] ?? "";

/** The halves to try after a refusal; none when nothing is learned by that. */
function halvesOf<One extends Addition>(group: readonly One[], error: unknown): One[][] {
  const people = [...new Set(group.map(personOf))];
  if (people.length < 2 || !(isRefusal(error) || isNotFound(error))) return [];
  const first = new Set(people.slice(0, Math.ceil(people.length / 2)));
  return [...Map.groupBy(group, (one) => first.has(personOf(one))).values()];
}

/** The failure of a request as each of a group may know it: without people, whose addresses may be others' secrets. */
function withoutPeople(group: readonly Addition[], error: unknown): unknown {
  if (!(error instanceof ApiError) || new Set(group.map(personOf)).size === 1) return error;
  const people = group.flatMap((one) => [personOf(one), one.invitation.email ?? "", one.invitation.userID ?? ""]);
  const { code, endpoint, status, hint, dependants, outcome, lasting, platformMessage } = error;
  const message = new Mask(people).hide(platformMessage);
  return new ApiError({ code, endpoint, hint, dependants, outcome, lasting, message, ...withoutUndefined({ status }) });
}

function requestFor(group: readonly Addition[]): Request {
  const people = [...new Map(group.map((one) => [personOf(one), one.invitation])).values()];
  const emails = people.flatMap(({ email }) => email ?? []);
  const userIDs = people.flatMap(({ email, userID }) => (email === undefined ? (userID ?? []) : []));
  return {
    teamIDs: [group[0]?.teamID ?? ""],
    ...(emails.length > 0 ? { emails } : {}),
    ...(userIDs.length > 0 ? { userIDs } : {}),
    ...withoutUndefined(people[0]?.targets ?? {}),
  };
}

/** A signal that aborts so many milliseconds after another one. */
function delaySignal(signal: AbortSignal, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => void setTimeout(() => controller.abort(signal.reason), milliseconds).unref();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
