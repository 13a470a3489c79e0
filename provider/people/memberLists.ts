import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { delaySignal } from "../../platform/client/http/deadline.ts";
import { Collector, type Waits } from "../../platform/client/lists/collector.ts";
import {
  ApiError,
  isNotFound,
  isOutcomeUnknown,
  isUndocumented,
  orUndefinedIfNotFound,
} from "../../platform/contract/errors.ts";
import type { Member } from "../../platform/contract/members.ts";
import type { Dialect } from "../../platform/profile/profile.ts";
import { inviteTogether, type Addition, type Invitation } from "./invitations.ts";
import { LateMembers } from "./lateMembers.ts";
import { indexOf, memberAt, type ListedMember } from "./teamIndex.ts";
import { TeamLists, type ListOptions, type TeamList } from "./teamLists.ts";

export type { ListedMember } from "./teamIndex.ts";

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
