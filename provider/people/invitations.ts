import type { RequestOf } from "../../platform/contract/endpoints.ts";
import { ApiError, isNotFound, isRefusal } from "../../platform/contract/errors.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { Mask } from "../../platform/messages/masks.ts";

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

/** Someone to be added to a team. */
export interface Addition {
  teamID: string;
  invitation: Invitation;
}

type Request = RequestOf<"insertteammembers">;

/**
 * Sends as few requests as possible, each of which adds people to teams of which everybody there is meant to be in all.
 * When one is refused, sends one for each half, to find out whom the platform refuses, or where. Resolves to the
 * additions whose request failed, with the reason.
 */
export async function inviteTogether<One extends Addition>(
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
