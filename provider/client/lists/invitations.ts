import type { RequestOf } from "../../contract/endpoints.ts";
import { isNotFound, isRefusal } from "../../contract/errors.ts";

/** Where an invitation leads. */
export interface InvitationTargets {
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

type Request = RequestOf<"insertteammembers">;

/**
 * Sends one request for all people with the same targets. When it is refused, sends one for each half, to find out whom
 * the platform refuses. Resolves to the people whose request failed, with the reason.
 */
export async function inviteInGroups(
  teamID: string,
  people: readonly Invitation[],
  send: (request: Request) => Promise<unknown>,
): Promise<Map<Invitation, unknown>> {
  const failed = new Map<Invitation, unknown>();
  const invite = async (group: readonly Invitation[]): Promise<void> => {
    try {
      await send(requestFor(teamID, group));
    } catch (error) {
      if (!(isRefusal(error) || isNotFound(error)) || group.length === 1) {
        for (const one of group) failed.set(one, error);
        return;
      }
      const middle = Math.ceil(group.length / 2);
      await invite(group.slice(0, middle));
      await invite(group.slice(middle));
    }
  };
  const groups = Map.groupBy(people, ({ targets }) => JSON.stringify(targets ?? {}));
  for (const group of groups.values()) await invite(group);
  return failed;
}

function requestFor(teamID: string, people: readonly Invitation[]): Request {
  const emails = people.flatMap(({ email }) => email ?? []);
  const userIDs = people.flatMap(({ email, userID }) => (email === undefined ? (userID ?? []) : []));
  const targets = Object.entries(people[0]?.targets ?? {}).filter(([, value]) => value !== undefined);
  return {
    teamIDs: [teamID],
    ...(emails.length > 0 ? { emails } : {}),
    ...(userIDs.length > 0 ? { userIDs } : {}),
    ...(Object.fromEntries(targets) as InvitationTargets), // a subset of the entries of InvitationTargets
  };
}
