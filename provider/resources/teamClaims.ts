import type { RosterMember } from "../reconcile/rosters.ts";
import type { Problem } from "./resource.ts";

/** That a resource says who is in a team: a TeamRoster of all, a TeamMember of one. */
export interface TeamClaim {
  kind: "TeamRoster" | "TeamMember";
  teamID: string;
  /** Whether it says of this user that they are, or decides that they are not. */
  decidesOn: (member: RosterMember) => boolean;
}

/**
 * Which resources of a run say who is in which team. No provider sees the program, but one process is asked to check
 * all that a provider configuration serves.
 */
export class TeamClaims {
  readonly #claims = new Map<string, TeamClaim>();

  /** Notes a claim, in place of an earlier one of the same resource, and says when another kind of resource has one. */
  claim(urn: string, claim: TeamClaim): Problem[] {
    this.#claims.set(urn, claim);
    const other = this.#others(claim.kind, claim.teamID)[0];
    if (!other) return [];
    const reason =
      `${other.kind} "${other.name}" says who is in team ${claim.teamID} as well. Declare the members of one team ` +
      `in a TeamRoster or as TeamMembers, not both`;
    return [{ property: "teamID", reason }];
  }

  /** The resource is gone, or its team is not known. */
  forget(urn: string | undefined): void {
    this.#claims.delete(urn ?? "");
  }

  /** Name of a resource of another kind that decides on a member now: when one kind takes over from another. */
  successor(kind: TeamClaim["kind"] | "UserTeams", teamID: string, member: RosterMember): string | undefined {
    return this.#others(kind, teamID).find(({ decidesOn }) => decidesOn(member))?.name;
  }

  #others(kind: string, teamID: string): (TeamClaim & { name: string })[] {
    return [...this.#claims].flatMap(([urn, claim]) =>
      claim.kind !== kind && claim.teamID === teamID ? [{ ...claim, name: urn.split("::").at(-1) ?? urn }] : [],
    );
  }
}
