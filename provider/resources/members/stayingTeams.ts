import { isUser } from "../../reconcile/rosters.ts";
import { nameOf } from "./rosterLists.ts";
import { stays, type MemberContext } from "./teamClaims.ts";
import { userIDAt } from "./users.ts";

interface DeclaredUser {
  email?: string | undefined;
  userID?: string | undefined;
  teamIDs: readonly string[];
  organizationID?: string | undefined;
}

/** Teams of the user that stay: of those to which it is kept, and of other organizations. */
export interface StayingTeams {
  kept: string[];
  elsewhere: string[];
}

/** The other teams of the user, which another resource of this run declares. */
export async function findStaying(
  context: MemberContext,
  inputs: DeclaredUser,
  userID: string | undefined,
): Promise<StayingTeams> {
  const { email, organizationID, teamIDs } = inputs;
  const claimed = context.claims.teamsOf({ email, userID: userID ?? "" }, "UserTeams");
  const others = [...claimed].filter(([teamID]) => !teamIDs.includes(teamID));
  if (others.length === 0) return { kept: [], elsewhere: [] };
  const known = userID ?? (email === undefined ? undefined : await userIDAt(context, email));
  const elsewhere: string[] = [];
  const kept = await Promise.all(
    others.map(async ([teamID, owner]) => {
      const there = (await context.members.list(teamID, { fresh: true }))?.some((member) =>
        isUser({ email, userID: known }, member),
      );
      if (!there) return []; // who is not there yet joins when it is their turn
      const team = organizationID === undefined ? undefined : await context.client.readteam({ teamID }, context);
      if (team && team.team?.organizationID !== organizationID) {
        elsewhere.push(teamID);
        return [];
      }
      context.report.info(stays([nameOf(inputs)], [teamID], owner));
      return [teamID];
    }),
  );
  return { kept: kept.flat(), elsewhere };
}

/** A sentence about teams of other organizations that a user was taken out of; empty for none. */
export const describeExpulsion = (who: string, teamIDs: readonly string[]): string =>
  teamIDs.length === 0
    ? ""
    : `${who} was taken out of teams of other organizations as well: ${teamIDs.join(", ")}. This platform does not keep the call to ` +
      `organizationID: declare TeamMember or TeamRoster in place of UserTeams, then run up --refresh, which puts the user back.`;
