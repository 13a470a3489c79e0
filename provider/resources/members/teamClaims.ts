import { some } from "../../messages/text.ts";
import { isUser, managing, type Named as Person, type RosterMember } from "../../reconcile/rosters.ts";
import { describeNamed, readName, type NamedResource } from "../model/identities.ts";
import { SharedLock } from "../model/locks.ts";
import type { Context, InputProblem } from "../model/resource.ts";
import { setAt } from "../model/sets.ts";

/** Context of resources that put users into teams. */
export interface MemberContext extends Context {
  claims: TeamClaims;
}

/** The members that a resource declares: a TeamRoster a team's, a TeamMember one, UserTeams one in several teams. */
export interface TeamClaim {
  kind: "TeamRoster" | "TeamMember" | "UserTeams";
  teamIDs: readonly string[];
  /** The members that it declares. */
  people: readonly Person[];
  /** Only of a TeamRoster that removes undeclared members: the members that it leaves alone. */
  ignore?: readonly string[];
  /** Only of UserTeams: the organization to which it is limited. */
  scope?: string | undefined;
  /** Only of UserTeams: the teams from which it removes the user unless they are declared, as far as they are known. */
  leaves?: readonly string[] | "all";
}

/** Change of memberships: users are put into teams, or taken out of them. */
export type MembershipChange = "joining" | "leaving";

/**
 * The members that the resources of a run declare. No provider sees the program. But one process checks all resources of
 * a provider configuration, before anything that left the program is deleted.
 */
export class TeamClaims {
  readonly #claims = new Map<string, TeamClaim>();
  /** A test by URN for each roster that decides on more than its declared members. */
  readonly #deciding = new Map<string, (member: RosterMember) => boolean>();
  /** URNs by what they speak about: a user, a team, a user in a team. */
  readonly #about = new Map<string, Set<string>>();
  /** Subjects of each URN. */
  readonly #spoken = new Map<string, Set<string>>();
  readonly #lock = new SharedLock();
  /** Present work by URN, with its process. */
  readonly #work = new Map<string, { what: MembershipChange; pid: number }>();

  /** Notes a claim, in place of an earlier one of the same resource; returns the other resource that contradicts it. */
  claim(urn: string, claim: TeamClaim): InputProblem[] {
    this.forget(urn);
    const problem = this.#contradiction(claim);
    this.#claims.set(urn, claim);
    const { people, ignore } = claim;
    if (ignore) this.#deciding.set(urn, managing(people, { mode: "authoritative", ignore }));
    this.#index(urn, claim);
    return problem ? [problem] : [];
  }

  /** Drops the claim of a resource that was deleted, or whose team is not known. */
  forget(urn: string | undefined): void {
    if (urn === undefined || !this.#claims.delete(urn)) return;
    this.#deciding.delete(urn);
    for (const about of this.#spoken.get(urn) ?? []) this.#about.get(about)?.delete(urn);
    this.#spoken.delete(urn);
  }

  /** The user IDs of those whom a resource declares by their addresses: lists of a platform may have IDs alone. */
  found(urn: string | undefined, people: readonly Person[]): void {
    const claim = this.#claims.get(urn ?? "");
    if (urn !== undefined && claim) this.#index(urn, { ...claim, people });
  }

  /** The resource that declares a membership. */
  declaring(teamID: string, member: RosterMember): NamedResource | undefined {
    const [urn] = names(member).flatMap((name) => this.#urns(`team ${teamID} ${name}`));
    return urn === undefined ? undefined : readName(urn);
  }

  /** The resource that decides on a member now. A resource that gives members up leaves them alone. */
  deciding(teamID: string, member: RosterMember): NamedResource | undefined {
    const roster = this.#urns(`team ${teamID} TeamRoster`).find((urn) => this.#deciding.get(urn)?.(member));
    return this.declaring(teamID, member) ?? (roster === undefined ? undefined : readName(roster));
  }

  /** The teams in which another kind of resource declares somebody to be. */
  teamsOf(member: RosterMember, but: TeamClaim["kind"]): Map<string, NamedResource> {
    const urns = names(member).flatMap((name) => this.#urns(`user ${name}`));
    const claims = urns.flatMap((urn) => {
      const claim = this.#claims.get(urn);
      return !claim || claim.kind === but ? [] : claim.teamIDs.map((teamID) => [teamID, readName(urn)] as const);
    });
    return new Map(claims);
  }

  /** The resource that takes somebody out of a team in this run, before another one is known to declare them. */
  taking(teamID: string, member: RosterMember): NamedResource | undefined {
    const taker = names(member)
      .flatMap((name) => this.#urns(`user ${name}`))
      .find((urn) => takesOut(this.#claims.get(urn), teamID, member));
    return taker === undefined ? undefined : readName(taker);
  }

  /** Works while nobody is taken out of their teams by this process. */
  joining<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.#lock.shared("members", work, "joining", signal);
  }

  /** Works while nobody is put into a team by this process. */
  leaving<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.#lock.shared("members", work, "leaving", signal);
  }

  /** Notes what a process of the run is about to do for a resource. */
  began(urn: string, what: MembershipChange, pid: number): void {
    this.#work.set(urn, { what, pid });
  }

  ended(urn: string): void {
    this.#work.delete(urn);
  }

  /** The processes that are doing this. */
  atWork(what: MembershipChange): number[] {
    return [...this.#work.values()].flatMap((one) => (one.what === what ? [one.pid] : []));
  }

  #index(urn: string, { kind, teamIDs, people }: TeamClaim): void {
    const add = (about: string): void => {
      setAt(this.#about, about).add(urn);
      setAt(this.#spoken, urn).add(about);
    };
    for (const teamID of teamIDs) add(`team ${teamID} ${kind}`);
    for (const name of people.flatMap(names)) {
      add(`user ${name}`);
      for (const teamID of teamIDs) add(`team ${teamID} ${name}`);
    }
  }

  #urns(about: string): string[] {
    return [...(this.#about.get(about) ?? [])];
  }

  #contradiction(claim: TeamClaim): InputProblem | undefined {
    const { kind, teamIDs, people, scope } = claim;
    const [teamID = ""] = teamIDs;
    const others = (about: string, of: TeamClaim["kind"]): [string, TeamClaim][] =>
      this.#urns(about).flatMap((urn) => {
        const other = this.#claims.get(urn);
        return other?.kind === of ? [[urn, other]] : [];
      });
    const problem = (property: string, urn: string, reason: string): InputProblem => {
      return { property, reason: `${describeNamed(readName(urn))} ${reason}` };
    };
    const person = people[0];
    const property = person?.email === undefined ? "userID" : "email";
    const who = person?.email ?? person?.userID ?? "";
    const sameUser = people.flatMap(names);
    if (kind === "UserTeams") {
      const overlaps = ([, other]: [string, TeamClaim]): boolean =>
        scope === undefined || other.scope === undefined || scope === other.scope;
      const second = sameUser.flatMap((name) => others(`user ${name}`, kind)).find(overlaps);
      return second && problem(property, second[0], `says which teams ${who} is in as well. Keep one of them`);
    }
    const mixed = others(`team ${teamID} ${otherKind[kind]}`, otherKind[kind])[0];
    if (mixed) {
      const reason = `says who is in team ${teamID} as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both`;
      return problem("teamID", mixed[0], reason);
    }
    if (kind === "TeamMember") {
      const second = sameUser.flatMap((name) => others(`team ${teamID} ${name}`, kind))[0];
      return (
        second && problem(property, second[0], `declares ${who} a member of team ${teamID} as well. Keep one of them`)
      );
    }
    const rosters = others(`team ${teamID} ${kind}`, kind);
    const shared = new Set(sameUser.flatMap((name) => this.#urns(`team ${teamID} ${name}`)));
    // Two rosters that remove nobody and have nobody in common are no two owners of anybody.
    const second = rosters.find(([urn, other]) => claim.ignore ?? other.ignore ?? shared.has(urn));
    return second && problem("teamID", second[0], `says who is in team ${teamID} as well. Keep one of them`);
  }
}

/** That some stay whom a deletion would take out, for people; how many when nobody may be named. */
export function stays(people: readonly string[] | number, teamIDs: readonly string[], owner: NamedResource): string {
  const who = typeof people === "number" ? `${people} of its members` : some(people, 5);
  const stay = typeof people !== "number" && people.length === 1 ? "stays a member" : "stay members";
  const teams = teamIDs.length === 1 ? "team" : "teams";
  return `${who} ${stay} of ${teams} ${some(teamIDs, 5)}: ${describeNamed(owner)} declares that`;
}

const takesOut = (claim: TeamClaim | undefined, teamID: string, member: RosterMember): boolean =>
  claim?.leaves !== undefined &&
  claim.people.some((person) => isUser(person, member)) &&
  !claim.teamIDs.includes(teamID) &&
  (claim.leaves === "all" || claim.leaves.includes(teamID));

const otherKind = { TeamMember: "TeamRoster", TeamRoster: "TeamMember" } as const;

/** The names by which a user is known: an address in small letters, and a user ID. */
const names = ({ email, userID }: Person): string[] => [email?.toLowerCase() ?? [], userID ?? []].flat();
