import type { CallOptions } from "../../client/http/call.ts";
import type { ListedMember } from "../../client/lists/memberLists.ts";
import { indexOf, memberAt } from "../../client/lists/teamLists.ts";
import { quote, some } from "../../messages/text.ts";
import type { Named } from "../../reconcile/rosters.ts";
import type { Context } from "../model/resource.ts";
import { ResourceError } from "../model/resource.ts";
import { nameOf } from "./rosterLists.ts";

/** The names of a membership in records of what the stack made: by address and by user ID. */
export const membership = (teamID: string, { email, userID }: Named): string[] =>
  [email?.toLowerCase() ?? [], userID ?? []].flat().map((name) => `member ${teamID} ${name}`);

/** The role of a member; undefined when the platform does not tell, or by a word that can't be declared. */
export async function findRole(
  { members }: Context,
  teamID: string,
  { userID, role }: ListedMember,
  call?: CallOptions,
): Promise<string | undefined> {
  return role ?? (await members.roleOf(teamID, userID, call));
}

/**
 * True if the team's list, read after the last change of ours, shows that somebody is no member: no call has to remove them.
 * False where the list can't be read, or has no addresses and they are known by theirs alone.
 */
export async function isAbsent(
  { members }: Context,
  teamID: string,
  { userID, email }: ListedMember,
): Promise<boolean> {
  // Where it can't be read the removal itself answers.
  const read = await members.list(teamID).then(
    (list) => ({ list }),
    () => undefined,
  );
  if (!read?.list) return read !== undefined;
  const { byID, hasEmails } = indexOf(read.list);
  const { list } = read;
  const isListed = [userID, email].some((name) => name !== undefined && (byID.has(name) || memberAt(list, name)));
  return !isListed && (hasEmails || !userID.includes("@"));
}

/** The reason why somebody lacks a role that the platform confirmed; undefined when they have it. */
export async function explainLack(
  context: Context,
  teamID: string,
  member: ListedMember,
  wanted: string,
): Promise<{ reason: string; role: string | undefined } | undefined> {
  const list = await context.members.proved(teamID);
  const now = list?.find(({ userID }) => userID === member.userID);
  if (!now) throw new ResourceError(`${nameOf(member)} is in the list of team ${teamID} no longer. Run up again.`);
  const role = await findRole(context, teamID, now);
  return role === wanted ? undefined : { reason: lacksRole(wanted, role), role };
}

export const lacksRole = (wanted: string, found: string | undefined): string =>
  `the platform answered that the role is ${wanted} now, and read back it is ${found === undefined ? "none" : quote(found)}. ` +
  `Declare the role that the platform keeps, or set it there; then run up again`;

/** That some stay who were members before this stack, for people; how many when nobody may be named. */
export function staysFound(people: readonly string[] | number, teamID: string): string {
  const count = typeof people === "number" ? people : people.length;
  const who = typeof people === "number" ? "" : ` (${some(people, 5)})`;
  return (
    `${count} found${who}, ${count === 1 ? "stays" : "they stay"}: already ${count === 1 ? "a member" : "members"} of team ` +
    `${teamID} when this stack first met them. To remove them with their declaration, set adopt: true and run up before`
  );
}
