import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { sleep } from "../../platform/client/http/deadline.ts";
import { Collector, type Waits } from "../../platform/client/lists/collector.ts";
import { SnapshotCache } from "../../platform/client/lists/snapshotCache.ts";
import { ApiError, isNotFound } from "../../platform/contract/errors.ts";
import type { Member } from "../../platform/contract/members.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import type { LateMembers } from "./lateMembers.ts";
import { following, type ListedMember } from "./teamIndex.ts";

/** Members of a team; undefined when there is no such team. */
export type TeamList = readonly ListedMember[] | undefined;

/** How long lists of members wait, and are kept. */
export interface ListWaits {
  /** How long reads wait for others to become one call (default 10 ms alone, 30 ms for the next one, 1 s at most). */
  reads?: Waits;
  /** How long additions do (default 30 ms alone, 100 ms for the next one, 1 s at most). */
  additions?: Waits;
  /** Milliseconds for which a list serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
}

export interface ListOptions extends CallOptions, ListWaits {
  now?: () => number;
}

type Platform = Calls<"teammembers">;

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
