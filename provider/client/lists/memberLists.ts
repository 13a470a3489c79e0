import type { RequestOf } from "../../contract/endpoints.ts";
import { ApiError, isNotFound, orUndefinedIfNotFound } from "../../contract/errors.ts";
import type { Member } from "../../contract/members.ts";
import type { Manner } from "../../habits/profile.ts";
import type { CallOptions, Calls } from "../http/call.ts";
import { inviteInGroups, type Invitation } from "./invitations.ts";
import { SnapshotCache } from "./snapshotCache.ts";

/** A member whose user ID is known. */
export type ListedMember = Member & { userID: string };

/** A membership, and whether it existed before. */
export interface Joined {
  member: ListedMember;
  existed: boolean;
}

interface Pending<Request, Answer> {
  request: Request;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

type List = ListedMember[] | undefined;

interface Options extends CallOptions {
  /** Milliseconds that calls are collected before they are sent as one (default 5). */
  batchWindowMs?: number;
  /** Milliseconds for which a list serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
  now?: () => number;
}

type Platform = Calls<
  | "teammembers"
  | "readteammember"
  | "insertteammembers"
  | "updateteammember"
  | "deleteteammember"
  | "enforceteammembership"
  | "userid"
> & { manner?: Manner };

/**
 * Members of teams, for many callers at a time: additions to a team become one call, reads of many teams become one,
 * and a list that was just read serves everyone who asks about the team.
 */
export class MemberLists {
  readonly #client: Platform;
  readonly #call: CallOptions;
  readonly #batchWindowMs: number;
  readonly #snapshots: SnapshotCache<List>;
  readonly #reads: Pending<string, List>[] = [];
  /** Lists that are being read, with the team's version when they were requested. */
  readonly #underway = new Map<string, { version: number; list: Promise<List> }>();
  readonly #additions = new Map<string, Pending<Invitation, Joined>[]>();

  constructor(client: Platform, { batchWindowMs = 5, ttlMs = 5_000, now = Date.now, ...call }: Options = {}) {
    this.#client = client;
    this.#call = call;
    this.#batchWindowMs = batchWindowMs;
    this.#snapshots = new SnapshotCache(ttlMs, now);
  }

  /**
   * Members of a team as they were at most `ttlMs` ago; undefined when there is no such team. `fresh` reads them again:
   * use it to decide who is removed.
   */
  list(teamID: string, { fresh = false }: { fresh?: boolean } = {}): Promise<List> {
    if (fresh) this.#snapshots.drop(teamID);
    const known = this.#snapshots.get(teamID);
    if (known) return Promise.resolve(known.snapshot);
    const version = this.#snapshots.version(teamID);
    const underway = this.#underway.get(teamID);
    // One that was asked for before our last change to the team may not show it.
    if (underway && underway.version === version) return underway.list;
    const list = new Promise<List>((resolve, reject) => {
      this.#reads.push({ request: teamID, resolve, reject });
      if (this.#reads.length === 1) this.#later(() => this.#readAll(this.#reads.splice(0)));
    });
    const own = { version, list };
    this.#underway.set(teamID, own);
    const over = (): void => {
      if (this.#underway.get(teamID) === own) this.#underway.delete(teamID);
    };
    list.then(over, over);
    return list;
  }

  /** Adds someone to a team unless they are a member; resolves to the membership. */
  add(teamID: string, invitation: Invitation): Promise<Joined> {
    return new Promise((resolve, reject) => {
      const waiting = this.#additions.get(teamID) ?? [];
      waiting.push({ request: invitation, resolve, reject });
      this.#additions.set(teamID, waiting);
      if (waiting.length > 1) return;
      this.#later(() => {
        this.#additions.delete(teamID);
        return this.#addAll(teamID, waiting);
      });
    });
  }

  /** Removes a member; succeeds when there is no such member. */
  async remove(teamID: string, { userID, teamMemberID: known }: ListedMember): Promise<void> {
    const needed = known === undefined && this.#client.manner?.habits.memberID === "teamMemberID";
    const teamMemberID = needed ? (await this.find(teamID, userID))?.teamMemberID : known;
    if (needed && teamMemberID === undefined) return;
    const request = { teamID, userID, ...(teamMemberID ? { teamMemberID } : {}) };
    await this.#changing(teamID, () => orUndefinedIfNotFound(this.#client.deleteteammember(request, this.#call)));
  }

  /** The role of a member as the platform spells it; reads the member alone where the team's list lacks it. */
  async roleOf(teamID: string, userID: string): Promise<string | undefined> {
    const listed = await this.find(teamID, userID);
    if (listed?.role !== undefined) return listed.role;
    const { teamMember } = await this.#client.readteammember({ teamID, userID, ...idOf(listed) }, this.#call);
    return teamMember?.role;
  }

  /** Changes the role of a member as it is listed; sends its `teamMemberID` where that is known. */
  async setRole(teamID: string, member: ListedMember, role: "admin" | "member"): Promise<void> {
    const { userID } = member;
    await this.#changing(teamID, () =>
      this.#client.updateteammember({ teamID, userID, ...idOf(member), role }, this.#call),
    );
  }

  /** Makes a user a member of exactly these teams. Drops every list, since the user may leave any team. */
  async enforce(request: RequestOf<"enforceteammembership">): Promise<void> {
    const drop = (): void => {
      for (const teamID of new Set([...request.teamIDs, ...this.#snapshots.keys, ...this.#underway.keys()])) {
        this.#snapshots.changed(teamID);
      }
    };
    drop();
    try {
      await this.#client.enforceteammembership(request, this.#call);
    } finally {
      drop();
    }
  }

  /** A member as the team's list has it. */
  async find(teamID: string, userID: string): Promise<ListedMember | undefined> {
    return (await this.list(teamID))?.find((member) => member.userID === userID);
  }

  /**
   * Invites people, with as few calls as possible (see `inviteInGroups`). Resolves to the people whose call failed, with
   * the reason; the team's list shows whether they were added all the same.
   */
  invite(teamID: string, people: readonly Invitation[]): Promise<Map<Invitation, unknown>> {
    return inviteInGroups(teamID, people, (request) =>
      this.#changing(teamID, () => this.#client.insertteammembers(request, this.#call)),
    );
  }

  /** Carries out a change of a team. A list that was read before its end is not served afterwards. */
  async #changing(teamID: string, change: () => Promise<unknown>): Promise<void> {
    this.#snapshots.changed(teamID);
    try {
      await change();
    } finally {
      this.#snapshots.changed(teamID);
    }
  }

  #later(work: () => Promise<void>): void {
    setTimeout(() => void work(), this.#batchWindowMs);
  }

  async #readAll(waiting: Pending<string, List>[]): Promise<void> {
    const teamIDs = [...new Set(waiting.map(({ request }) => request))];
    const lists = await this.#listsOf(teamIDs);
    for (const { request, resolve, reject } of waiting) {
      const list = lists.get(request);
      if (list instanceof Error) reject(list);
      else resolve(list);
    }
  }

  async #listsOf(teamIDs: string[]): Promise<Map<string, List | Error>> {
    const lists = new Map<string, List | Error>();
    const versions = new Map(teamIDs.map((teamID) => [teamID, this.#snapshots.version(teamID)]));
    try {
      const { teamMembers } = await this.#client.teammembers({ teamIDs }, this.#call);
      // Bare user IDs do not show which team they belong to.
      if (teamIDs.length > 1 && teamMembers.some((member) => member.teamID === undefined)) {
        return await this.#oneByOne(teamIDs);
      }
      for (const teamID of teamIDs) {
        const own = teamMembers.filter((member) => teamIDs.length === 1 || member.teamID === teamID);
        const members = own.filter(hasID);
        if (members.length < own.length) throw withoutID(teamID);
        this.#snapshots.keep(teamID, members, versions.get(teamID) ?? 0);
        lists.set(teamID, members);
      }
    } catch (error) {
      const missing = isNotFound(error);
      // One missing team must not hide the others.
      if (missing && teamIDs.length > 1) return this.#oneByOne(teamIDs);
      for (const teamID of teamIDs) lists.set(teamID, missing ? undefined : asError(error));
    }
    return lists;
  }

  async #oneByOne(teamIDs: string[]): Promise<Map<string, List | Error>> {
    const lists = await Promise.all(teamIDs.map((teamID) => this.#listsOf([teamID])));
    return new Map(lists.flatMap((list) => [...list]));
  }

  async #addAll(teamID: string, waiting: Pending<Invitation, Joined>[]): Promise<void> {
    try {
      const before = await this.#fresh(teamID);
      const there = await Promise.all(waiting.map(({ request }) => this.#memberAmong(before, request)));
      const missing = waiting.filter((_, index) => there[index] === undefined).map(({ request }) => request);
      const failed = await this.invite(teamID, missing);
      const after = missing.length > 0 ? await this.#fresh(teamID) : before;
      for (const [index, { request, resolve, reject }] of waiting.entries()) {
        const existing = there[index];
        const member = existing ?? (await this.#memberAmong(after, request));
        if (member) resolve({ member, existed: existing !== undefined });
        else reject(failed.get(request) ?? notListed(teamID, request));
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #fresh(teamID: string): Promise<ListedMember[]> {
    const members = await this.list(teamID, { fresh: true });
    if (members) return members;
    throw new ApiError({ code: "notFound", endpoint: "teammembers", message: `There is no team ${teamID}` });
  }

  async #memberAmong(members: ListedMember[], { email, userID }: Invitation): Promise<ListedMember | undefined> {
    if (email === undefined) return members.find((member) => member.userID === userID);
    const address = email.toLowerCase();
    const found = members.find((member) => member.email?.toLowerCase() === address);
    if (found || members.every((member) => member.email !== undefined)) return found;
    // The list has user IDs alone.
    const known = await orUndefinedIfNotFound(this.#client.userid({ email }, this.#call));
    return known && members.find((member) => member.userID === known.userID);
  }
}

const hasID = (member: Member): member is ListedMember => member.userID !== undefined;

const idOf = (member: Member | undefined): { teamMemberID?: string } =>
  member?.teamMemberID === undefined ? {} : { teamMemberID: member.teamMemberID };

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const withoutID = (teamID: string): ApiError =>
  new ApiError({
    code: "badAnswer",
    endpoint: "teammembers",
    message: `A member of team ${teamID} came without a user ID`,
  });

function notListed(teamID: string, { email, userID }: Invitation): ApiError {
  return new ApiError({
    code: "rejected",
    endpoint: "insertteammembers",
    message: `${email ?? userID ?? "The user"} was added to team ${teamID} but is not in its list of members`,
    hint: "Check on the platform whether the user may be a member of this team.",
  });
}
