import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { delaySignal, sleep } from "../../platform/client/http/deadline.ts";
import { Collector, type Waits } from "../../platform/client/lists/collector.ts";
import { SnapshotCache } from "../../platform/client/lists/snapshotCache.ts";
import type { RequestOf } from "../../platform/contract/endpoints.ts";
import {
  ApiError,
  isNotFound,
  isOutcomeUnknown,
  isRefusal,
  isUndocumented,
  orUndefinedIfNotFound,
} from "../../platform/contract/errors.ts";
import type { Member } from "../../platform/contract/members.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { Mask } from "../../platform/messages/masks.ts";
import type { Dialect } from "../../platform/profile/profile.ts";

/** A membership, and whether it existed before. */
export interface Joined {
  member: ListedMember;
  existed: boolean;
  /** Set where nobody saw somebody in the list who may have been added: what is known of them is here. */
  isUnseen?: true;
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

/** A team whose list is to show what this run has changed. */
type Proof = Pick<PromiseWithResolvers<TeamList>, "resolve" | "reject"> & { teamID: string };

type Platform = Calls<
  "teammembers" | "readteammember" | "insertteammembers" | "updateteammember" | "deleteteammember" | "userid"
> & { dialect?: Dialect; consistencyMs?: number };

/** Milliseconds after a cancellation in which is read who was added, so that it is saved. */
const gracePeriodMs = 15_000;

const waits: Waits = { aloneMs: 30, idleMs: 100, maxMs: 1_000 };

/**
 * Members of teams, for many callers at a time: additions become few calls, reads of many teams become one, and a list
 * that was just read serves everyone who asks about the team.
 */
export class MemberLists {
  readonly #client: Platform;
  readonly #call: CallOptions;
  /** For what follows an addition. */
  readonly #lasting: CallOptions;
  readonly #lists: TeamLists;
  readonly #late: LateMembers;
  readonly #additions: Collector<Waiting>;
  readonly #proofs: Collector<Proof>;
  /** Teams that this run has made: nobody is in them but administrators, and whom it has added. */
  readonly #made = new Set<string>();
  /** User IDs that were requested, by address as declared: a platform may distinguish spellings. */
  readonly #userIDs = new Map<string, Promise<string | undefined>>();

  constructor(client: Platform, { additions = waits, ...options }: ListOptions = {}) {
    const { reads: _, ttlMs: __, now = Date.now, ...call } = options;
    this.#client = client;
    this.#call = call;
    this.#lasting = call.signal ? { ...call, signal: delaySignal(call.signal, gracePeriodMs) } : call;
    this.#late = new LateMembers(client.consistencyMs ?? 0, now);
    this.#lists = new TeamLists(client, options, this.#late);
    this.#additions = new Collector((waiting) => this.#addAll(waiting), additions);
    this.#proofs = new Collector((proofs) => this.#proveAll(proofs), additions);
  }

  /** Notes a team of this run: its list is read together with that of another one. */
  expect(teamID: string): void {
    this.#lists.expect(teamID);
  }

  /** Notes a team that this run has just made: those whom it declares come next. */
  made(teamID: string): void {
    this.#made.add(teamID);
    this.#additions.expectSeveral();
    this.#proofs.expectSeveral();
    this.#lists.expect(teamID);
  }

  /**
   * Members of a team as they were at most `ttlMs` ago; undefined when there is no such team. `fresh` reads them again:
   * use it to decide who is removed.
   */
  list(teamID: string, { fresh = false }: { fresh?: boolean } = {}): Promise<TeamList> {
    return fresh ? this.#lists.fresh(teamID) : this.#lists.list(teamID);
  }

  /**
   * Members of a team after changes of ours: an answer of the platform that is younger than each of them. Those who ask
   * at about the same time share one call, for all of their teams. Also when the run is cancelled, so that what was done
   * is saved.
   */
  proved(teamID: string): Promise<TeamList> {
    const known = this.#lists.known(teamID);
    if (known) return Promise.resolve(known.snapshot);
    return new Promise((resolve, reject) => this.#proofs.add({ teamID, resolve, reject }));
  }

  /**
   * Has lists of a team wait for people whom an earlier run added with success and no list has shown since, as long as a
   * change may be unseen.
   */
  async awaits(teamID: string, people: readonly Omit<Invitation, "targets">[]): Promise<void> {
    if (people.length === 0) return;
    await this.list(teamID); // shows whether it has addresses
    const named = people.map(async (one) => (one.email === undefined ? one : this.#named(one.email, [teamID])));
    this.#late.added([teamID], await Promise.all(named));
  }

  /** Members of a team as they were read last, after all changes of ours; undefined where nobody asked since. */
  known(teamID: string): TeamList {
    return this.#lists.known(teamID)?.snapshot;
  }

  /** True for a team that this run has made: its members joined with that, or were added by the run. */
  isMade(teamID: string): boolean {
    return this.#made.has(teamID);
  }

  /** Adds someone to a team unless they are a member; resolves to the membership. */
  add(teamID: string, invitation: Invitation): Promise<Joined> {
    return new Promise((resolve, reject) => this.#additions.add({ teamID, invitation, resolve, reject }));
  }

  /** Removes a member; succeeds when there is no such member. */
  async remove(teamID: string, member: ListedMember): Promise<void> {
    const { userID, teamMemberID: known } = member;
    const needed = known === undefined && this.#client.dialect?.habits.memberID === "teamMemberID";
    const teamMemberID = needed ? (await this.find(teamID, userID))?.teamMemberID : known;
    if (needed && teamMemberID === undefined) return;
    const request = { teamID, userID, ...(teamMemberID ? { teamMemberID } : {}) };
    await this.#lists.changing([teamID], async () => {
      await orUndefinedIfNotFound(this.#client.deleteteammember(request, this.#call));
      this.#late.removed(teamID, member);
    });
  }

  /** The role of a member as the platform spells it; reads the member alone where the team's list lacks it. */
  async roleOf(teamID: string, userID: string, call = this.#call): Promise<string | undefined> {
    const listed = await this.find(teamID, userID);
    if (listed?.role !== undefined) return listed.role;
    const { teamMember } = await this.#client.readteammember({ teamID, userID, ...idOf(listed) }, call);
    return teamMember?.role;
  }

  /** Changes the role of a listed member; sends the listed `teamMemberID` if there is one. */
  async setRole(teamID: string, member: ListedMember, role: "admin" | "member", call = this.#call): Promise<void> {
    const { userID } = member;
    await this.#lists.changing([teamID], async () => {
      await this.#client.updateteammember({ teamID, userID, ...idOf(member), role }, call);
      this.#late.gotRole(teamID, member, role);
    });
  }

  /** A member as the team's list has it, by user ID or e-mail address. */
  async find(teamID: string, name: string): Promise<ListedMember | undefined> {
    const list = await this.list(teamID);
    if (!list) return undefined;
    return indexOf(list).byID.get(name) ?? memberAt(list, name);
  }

  /**
   * Invites people, with as few calls as possible (see `inviteTogether`). Resolves to the people whose call failed, with
   * the reason; the team's list shows whether they were added all the same, unless an answer came in an unknown form.
   */
  async invite(teamID: string, people: readonly Invitation[]): Promise<Map<Invitation, unknown>> {
    const failed = await this.#invite(people.map((invitation) => ({ teamID, invitation })));
    return new Map([...failed].map(([{ invitation }, reason]) => [invitation, reason]));
  }

  #invite<One extends Addition>(additions: readonly One[]): Promise<Map<One, unknown>> {
    return inviteTogether(additions, (request) =>
      this.#lists.changing(request.teamIDs, async () => {
        await this.#client.insertteammembers(request, this.#call);
        const { emails = [], userIDs = [] } = request;
        const named = await Promise.all(emails.map((email) => this.#named(email, request.teamIDs)));
        this.#late.added(request.teamIDs, [...named, ...userIDs.map((userID) => ({ userID }))]);
      }),
    );
  }

  async #proveAll(proofs: readonly Proof[]): Promise<void> {
    const teams = Map.groupBy(proofs, ({ teamID }) => teamID);
    const read = await this.#lists.freshAll([...teams.keys()], this.#lasting);
    for (const [index, own] of [...teams.values()].entries()) {
      const list = read[index];
      for (const { resolve, reject } of own) {
        if (list?.status === "fulfilled") resolve(list.value);
        else reject(list?.reason);
      }
    }
  }

  /** Adds the missing people, and resolves each waiting call with the membership. */
  async #addAll(waiting: readonly Waiting[]): Promise<void> {
    try {
      const unsure = waiting.filter((one) => !this.#lacks(one));
      const before = await this.#find(unsure);
      const missing = waiting.filter((one) => {
        const found = before.get(one);
        if (found?.member) one.resolve({ member: found.member, existed: true });
        if (found?.error !== undefined) one.reject(found.error);
        return !found?.member && found?.error === undefined;
      });
      const failed = await this.#invite(missing);
      const after = await this.#find(
        missing.filter((one) => !isCancelled(failed.get(one)) && !isUndocumented(failed.get(one))),
        this.#lasting,
      );
      for (const one of missing) {
        const { member, error } = after.get(one) ?? {};
        const reason = failed.get(one);
        const isRefused = isNotFound(error) || (reason !== undefined && !isOutcomeUnknown(reason));
        // An administrator was one before: whoever is added is a plain member.
        if (member) one.resolve({ member, existed: member.role === "admin" });
        else if (isRefused) one.reject(reason ?? error);
        else {
          const member = await this.#unseen(one.invitation, isUndocumented(reason));
          const { email } = one.invitation;
          const isUnnamed = email !== undefined && member.userID === email && this.#lists.isBare(one.teamID);
          const unnamed = isUnnamed ? withoutUserID(one.teamID, email) : undefined;
          one.resolve({ member, existed: false, isUnseen: true, reason: error ?? reason ?? unnamed });
        }
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** Somebody by address, and by user ID where lists have IDs alone: only by that they are seen to come. */
  async #named(email: string, teamIDs: readonly string[]): Promise<{ email: string; userID?: string | undefined }> {
    if (!teamIDs.some((teamID) => this.#lists.isBare(teamID))) return { email };
    return { email, userID: await this.userIDAt(email).catch(() => undefined) };
  }

  /** What is known of somebody whom no list shows; after an answer in an unknown form nobody is asked for more. */
  async #unseen({ email, userID }: Invitation, isUndocumented: boolean): Promise<ListedMember> {
    if (email === undefined) return { userID: userID ?? "" };
    if (isUndocumented) return { email, userID: email };
    return { email, userID: (await this.userIDAt(email, this.#lasting).catch(() => undefined)) ?? email };
  }

  /** Looks for people in the lists of their teams as they are now. */
  async #find<One extends Addition>(people: readonly One[], call = this.#call): Promise<Map<One, Found>> {
    const teamIDs = [...new Set(people.map(({ teamID }) => teamID))];
    const read = await this.#lists.freshAll(teamIDs, call);
    const lists = new Map(teamIDs.map((teamID, index) => [teamID, read[index]]));
    const found = people.map(async (one): Promise<[One, Found]> => {
      const list = lists.get(one.teamID);
      if (list?.status !== "fulfilled") return [one, { error: list?.reason }];
      if (!list.value) return [one, { error: noTeam(one.teamID) }];
      return [one, { member: await this.#memberAmong(list.value, one.invitation, call) }];
    });
    return new Map(await Promise.all(found));
  }

  /** True when a person is certainly no member. Only a fresh list proves that one is. */
  #lacks({ teamID, invitation: { email, userID } }: Addition): boolean {
    const list = this.#lists.known(teamID)?.snapshot ?? (this.#made.has(teamID) ? [] : undefined);
    if (!list) return false;
    const { byID, hasEmails } = indexOf(list);
    return email === undefined ? !byID.has(userID ?? "") : hasEmails && memberAt(list, email) === undefined;
  }

  async #memberAmong(
    members: readonly ListedMember[],
    { email, userID }: Invitation,
    call: CallOptions,
  ): Promise<ListedMember | undefined> {
    const { byID, hasEmails } = indexOf(members);
    if (email === undefined) return byID.get(userID ?? "");
    const found = memberAt(members, email);
    if (found || hasEmails) return found;
    // The list has user IDs alone.
    const knownAs = await this.userIDAt(email, call);
    return indexOf(members).byID.get(knownAs ?? "");
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

/** Members of a team; undefined when there is no such team. */
type TeamList = readonly ListedMember[] | undefined;

/** How long lists of members wait, and are kept. */
export interface ListWaits {
  /** How long reads wait for others to become one call (default 10 ms alone, 30 ms for the next one, 1 s at most). */
  reads?: Waits;
  /** How long additions do (default 30 ms alone, 100 ms for the next one, 1 s at most). */
  additions?: Waits;
  /** Milliseconds for which a list serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
}

interface ListOptions extends CallOptions, ListWaits {
  now?: () => number;
}

/** A list that is being read, since the team's version was this. */
interface Read extends PromiseWithResolvers<TeamList> {
  teamID: string;
  version: number;
}

/** Most lists that are read in one call before somebody asks for them. */
const maxAhead = 25;

const never = new AbortController().signal;

const readWaits: Waits = { aloneMs: 10, idleMs: 30, maxMs: 1_000 };

/** Lists of the members of teams: reads of many become one call, and a list that was just read serves everyone. */
export class TeamLists {
  readonly #client: Platform;
  readonly #call: CallOptions;
  readonly #snapshots: SnapshotCache<TeamList>;
  readonly #reads: Collector<Read>;
  readonly #underway = new Map<string, Read>();
  /** The list of each team as it was read last, for what a later one has in common with it. */
  readonly #earlier = new Map<string, readonly ListedMember[]>();
  /** Teams whose lists may be asked for. */
  readonly #expected = new Set<string>();
  readonly #late: LateMembers | undefined;
  /** True while lists hold user IDs alone, which do not show the team they belong to. */
  #isBare = false;
  /** True once a list had somebody without an address. */
  #lacksAddresses = false;

  constructor(
    client: Platform,
    { reads = readWaits, ttlMs = 5_000, now = Date.now, ...call }: Omit<ListOptions, "additions">,
    late?: LateMembers,
  ) {
    this.#late = late;
    this.#client = client;
    this.#call = call;
    this.#snapshots = new SnapshotCache(ttlMs, now);
    this.#reads = new Collector((reads) => this.#readAll([...reads, ...this.#ahead()]), reads);
  }

  /** Notes that the list of a team may be asked for: it is read together with that of another one. */
  expect(teamID: string): void {
    this.#expected.add(teamID);
  }

  /** The list as it was at most `ttlMs` ago, wrapped; undefined when it has to be read. */
  known(teamID: string): { snapshot: TeamList } | undefined {
    return this.#snapshots.get(teamID);
  }

  /** True where the list of a team, or of any where that shows nobody, was last read without addresses. */
  isBare(teamID: string): boolean {
    const known = this.#earlier.get(teamID) ?? [];
    return known.length > 0 ? known.some(({ email }) => email === undefined) : this.#lacksAddresses;
  }

  /** The list as it was at most `ttlMs` ago. */
  async list(teamID: string): Promise<TeamList> {
    const known = this.#snapshots.get(teamID);
    if (known) return known.snapshot;
    const underway = this.#current(teamID);
    if (underway) return underway.promise;
    const read = this.#begin(teamID);
    this.#reads.add(read);
    return read.promise;
  }

  /** Reads the current list; calls that ask meanwhile share the read. */
  async fresh(teamID: string): Promise<TeamList> {
    this.#snapshots.drop(teamID);
    return this.list(teamID);
  }

  /** The lists as they are now, read at once. */
  async freshAll(teamIDs: readonly string[], call?: CallOptions): Promise<PromiseSettledResult<TeamList>[]> {
    const reads = teamIDs.map((teamID) => this.#begin(teamID));
    const ahead = reads.length > 0 ? this.#ahead() : [];
    if (reads.length > 0) await this.#readAll([...reads, ...ahead], call);
    return Promise.allSettled(reads.map(({ promise }) => promise));
  }

  /** Carries out a change of teams. A list that was read before its end is not served afterwards. */
  async changing(teamIDs: readonly string[], change: () => Promise<unknown>): Promise<void> {
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

  /** The teams whose lists were read, or are being read. */
  get teamIDs(): string[] {
    return [...this.#snapshots.keys, ...this.#underway.keys()];
  }

  /** The read under way, unless it began before our last change to the team: it may not show that change. */
  #current(teamID: string): Read | undefined {
    const underway = this.#underway.get(teamID);
    return underway?.version === this.#snapshots.version(teamID) ? underway : undefined;
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
    const teamIDs = [...new Set(reads.map(({ teamID }) => teamID))];
    if (this.#isBare && teamIDs.length > 1) return this.#oneByOne(reads, call);
    try {
      const { teamMembers } = await this.#client.teammembers({ teamIDs }, call);
      const isOne = teamIDs.length === 1;
      if (!isOne && teamMembers.some((member) => member.teamID === undefined)) {
        this.#isBare = true;
        await this.#oneByOne(reads, call);
        return;
      }
      const unshown: Read[] = [];
      let wait = 0;
      for (const read of reads) {
        const { teamID, version, resolve, reject } = read;
        const listed = isOne ? teamMembers : teamMembers.filter((member) => member.teamID === teamID);
        if (!listed.every(hasID)) {
          reject(withoutID(teamID, listed));
          continue;
        }
        const members = following(this.#earlier.get(teamID) ?? [], distinct(listed));
        this.#earlier.set(teamID, members);
        this.#lacksAddresses ||= members.some(({ email }) => email === undefined);
        const later = this.#late?.waitFor(teamID, members);
        if (later !== undefined) {
          unshown.push(read);
          wait = later;
          continue;
        }
        this.#snapshots.keep(teamID, members, version);
        resolve(members);
      }
      if (unshown.length === 0) return;
      await sleep(wait, call.signal ?? never);
      await this.#readAll(unshown, call);
    } catch (error) {
      // One team that is missing, or that is nobody's business, must not hide the others.
      const isOfOne = isNotFound(error) || (error instanceof ApiError && error.code === "forbidden");
      if (isOfOne && teamIDs.length > 1) return this.#oneByOne(reads, call);
      for (const { resolve, reject } of reads) {
        if (isNotFound(error)) resolve(undefined);
        else reject(error);
      }
    }
  }

  async #oneByOne(reads: readonly Read[], call: CallOptions): Promise<void> {
    const teams = Map.groupBy(reads, ({ teamID }) => teamID);
    await Promise.all([...teams.values()].map((own) => this.#readAll(own, call)));
  }
}

/** A user ID counts once, however often a list shows it; what one entry lacks another one has. */
function distinct(members: readonly ListedMember[]): readonly ListedMember[] {
  const byID = new Map<string, ListedMember>();
  for (const member of members) {
    const before = byID.get(member.userID);
    byID.set(member.userID, before ? { ...member, ...withoutUndefined(before) } : member);
  }
  return byID.size === members.length ? members : [...byID.values()];
}

const hasID = (member: Member): member is ListedMember => member.userID !== undefined;

function withoutID(teamID: string, members: readonly Member[]): ApiError {
  const { teamMemberID, email, role } = members.find((one) => !hasID(one)) ?? {};
  const has = Object.entries({ "an ID of its own": teamMemberID, "an address": email, "a role": role });
  const known = has.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return new ApiError({
    code: "badAnswer",
    endpoint: "teammembers",
    message: `A member of team ${teamID} came without a user ID${known.length > 0 ? `; it has ${known.join(", ")}` : ""}`,
    hint: "Members are known by their users' IDs: ask the platform's operator to list them.",
  });
}

/** A member whose user ID is known. */
export type ListedMember = Member & { userID: string };

/** A list by user ID, and by address: in the listed spelling and in small letters. */
interface Index {
  byID: ReadonlyMap<string, ListedMember>;
  byEmail: ReadonlyMap<string, ListedMember>;
  /** Undefined for addresses that differ in letter case alone: a platform that has both distinguishes them. */
  byAddress: ReadonlyMap<string, ListedMember | undefined>;
  /** True when each member has an address. */
  hasEmails: boolean;
}

interface Growing extends Index {
  byID: Map<string, ListedMember>;
  byEmail: Map<string, ListedMember>;
  byAddress: Map<string, ListedMember | undefined>;
}

const indices = new WeakMap<readonly ListedMember[], Growing>();

/** Finds people in a list, which is gone through once: as many may ask as it has members. */
export function indexOf(list: readonly ListedMember[]): Index {
  const known = indices.get(list);
  if (known) return known;
  const index: Growing = { byID: new Map(), byEmail: new Map(), byAddress: new Map(), hasEmails: true };
  for (const member of list) add(index, member);
  indices.set(list, index);
  return index;
}

/**
 * The list with the members of an earlier one where they are as they were. Where those all stayed in front, as they do
 * while people are added, their index goes on with it: a team of thousands is read again after each batch.
 */
export function following(earlier: readonly ListedMember[], list: readonly ListedMember[]): readonly ListedMember[] {
  let same = 0;
  while (same < earlier.length && isSame(earlier[same], list[same])) same++;
  if (same === 0) return list;
  const next = [...earlier.slice(0, same), ...list.slice(same)];
  const index = indices.get(earlier);
  if (!index || same < earlier.length) return next;
  indices.delete(earlier); // who still asks that list has it gone through again
  for (const member of next.slice(same)) add(index, member);
  indices.set(next, index);
  return next;
}

const isSame = (one: ListedMember | undefined, other: ListedMember | undefined): boolean =>
  one?.userID === other?.userID &&
  one?.email === other?.email &&
  one?.role === other?.role &&
  one?.teamMemberID === other?.teamMemberID &&
  one?.teamID === other?.teamID;

function add(index: Growing, member: ListedMember): void {
  const { byID, byEmail, byAddress } = index;
  if (!byID.has(member.userID)) byID.set(member.userID, member);
  if (member.email === undefined) {
    index.hasEmails = false;
    return;
  }
  if (!byEmail.has(member.email)) byEmail.set(member.email, member);
  const address = member.email.toLowerCase();
  const other = byAddress.get(address);
  byAddress.set(address, byAddress.has(address) && other?.userID !== member.userID ? undefined : member);
}

/** Finds the member with an address: in this spelling, else in another one if the list has a single such address. */
export function memberAt(list: readonly ListedMember[], email: string): ListedMember | undefined {
  const { byEmail, byAddress } = indexOf(list);
  return byEmail.get(email) ?? byAddress.get(email.toLowerCase());
}

/** Somebody as a call names them. */
interface Named {
  email?: string | undefined;
  userID?: string | undefined;
}

type IsShown = (list: readonly ListedMember[]) => boolean;

const waitMs = 300;

/**
 * Changes of this run in teams within the last while. A list that does not show it yet (eventual consistency) is
 * read again, so that nobody is taken for missing.
 */
class LateMembers {
  readonly #forMs: number;
  readonly #now: () => number;
  /** By team and then by person. */
  readonly #changes = new Map<string, Map<string, { until: number; isShown: IsShown }>>();

  /** @param forMs milliseconds for which a change may be unseen; 0 turns it off */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  added(teamIDs: readonly string[], people: readonly Named[]): void {
    for (const person of people) {
      const { email, userID } = person;
      const isShown: IsShown = (list) => {
        const { byID, hasEmails } = indexOf(list);
        if (userID !== undefined && byID.has(userID)) return true;
        if (email === undefined) return false;
        if (hasEmails || userID !== undefined) return memberAt(list, email) !== undefined;
        return true; // of IDs alone nobody can tell
      };
      for (const teamID of teamIDs) this.#note(teamID, namedAs(person), isShown);
    }
  }

  gotRole(teamID: string, { userID }: ListedMember, role: string): void {
    this.#note(teamID, `role ${userID}`, (list) => (indexOf(list).byID.get(userID)?.role ?? role) === role);
  }

  removed(teamID: string, member: ListedMember): void {
    const { userID, email } = member;
    const own = this.#changes.get(teamID);
    for (const name of [userID, `role ${userID}`, namedAs({ email })]) own?.delete(name);
    this.#note(teamID, userID, (list) => !indexOf(list).byID.has(userID));
  }

  /** Milliseconds before a list is read again; undefined where it shows everything, or had the time to. */
  waitFor(teamID: string, list: readonly ListedMember[]): number | undefined {
    const own = this.#changes.get(teamID);
    for (const [name, { until, isShown }] of own ?? []) {
      if (isShown(list) || this.#now() + waitMs > until) own?.delete(name);
    }
    return own && own.size > 0 ? waitMs : undefined;
  }

  #note(teamID: string, name: string, isShown: IsShown): void {
    if (this.#forMs === 0) return;
    const own = this.#changes.get(teamID) ?? new Map<string, { until: number; isShown: IsShown }>();
    this.#changes.set(teamID, own.set(name, { until: this.#now() + this.#forMs, isShown }));
  }
}

const namedAs = ({ email, userID }: Named): string => userID ?? email?.toLowerCase() ?? "";

/** Where an invitation leads. */
interface InvitationTargets {
  targetRoute?: "app" | "go" | undefined;
  targetInitialApp?: string | undefined;
  targetInitialScreen?: string | undefined;
}

/** Someone to be added, by address or by ID. */
export interface Invitation {
  email?: string | undefined;
  userID?: string | undefined;
  targets?: InvitationTargets;
}

/** Someone to be added to a team. */
interface Addition {
  teamID: string;
  invitation: Invitation;
}

type Request = RequestOf<"insertteammembers">;

/**
 * Sends as few requests as possible, each of which adds people to teams of which everybody there is meant to be in all.
 * When one is refused, sends one for each half, to find out whom the platform refuses, or where. Resolves to the
 * additions whose request failed, with the reason.
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
      for (const half of halves ?? []) await invite(half);
      if (halves) return;
      const reason = withoutPeople(group, error);
      for (const one of group) failed.set(one, reason);
    }
  };
  const alike = Map.groupBy(additions, ({ invitation: { targets } }) => JSON.stringify(targets ?? {}));
  await Promise.all([...alike.values()].flatMap(together).map(invite));
  return failed;
}

const teamOf = ({ teamID }: Addition): string => teamID;
const personOf = ({ invitation: { email, userID } }: Addition): string => email?.toLowerCase() ?? userID ?? "";

/** Groups in which everybody is meant to be in every team. */
function together<One extends Addition>(additions: readonly One[]): One[][] {
  const [byTeam, byPerson] = [withSame(teamOf, personOf, additions), withSame(personOf, teamOf, additions)];
  return byTeam.length <= byPerson.length ? byTeam : byPerson;
}

/** Groups of those that belong to the same others. */
function withSame<One extends Addition>(
  own: (one: One) => string,
  other: (one: One) => string,
  additions: readonly One[],
): One[][] {
  const others = (group: readonly One[]): string => JSON.stringify([...new Set(group.map(other))].toSorted());
  return [...Map.groupBy(Map.groupBy(additions, own).values(), others).values()].map((groups) => groups.flat());
}

/** The halves to try after a refusal: of the people, or of the teams; undefined when nothing is learned by that. */
function halvesOf<One extends Addition>(group: readonly One[], error: unknown): [One[], One[]] | undefined {
  const people = new Set(group.map(personOf));
  const teams = new Set(group.map(teamOf));
  const isRefused = isRefusal(error) || isNotFound(error);
  const mayBeTeam = isRefused || (error instanceof ApiError && error.code === "forbidden");
  const by = isRefused && people.size > 1 ? personOf : mayBeTeam && teams.size > 1 ? teamOf : undefined;
  if (!by) return undefined;
  const all = by === personOf ? people : teams;
  const first = new Set([...all].slice(0, Math.ceil(all.size / 2)));
  return [group.filter((one) => first.has(by(one))), group.filter((one) => !first.has(by(one)))];
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
  const targets = Object.entries(people[0]?.targets ?? {}).filter(([, value]) => value !== undefined);
  return {
    teamIDs: [...new Set(group.map(teamOf))],
    ...(emails.length > 0 ? { emails } : {}),
    ...(userIDs.length > 0 ? { userIDs } : {}),
    ...(Object.fromEntries(targets) as InvitationTargets), // a subset of the entries of InvitationTargets
  };
}
