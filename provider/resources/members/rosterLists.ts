import type { ListedMember } from "../../client/members/memberLists.ts";
import { isNotFound } from "../../contract/errors.ts";
import { role } from "../../contract/members.ts";
import {
  managing,
  type Named,
  type Role,
  type RosterMember,
  type RosterOptions,
  type WantedMember,
} from "../../reconcile/rosters.ts";
import type { Context } from "../model/resource.ts";
import { userIDAt } from "./users.ts";

/** Members as a program declares them and a state keeps them: role by address or user ID. */
export type Members = Record<string, Role>;

/** A roster as the state has it. */
export interface Kept {
  members?: Members | undefined;
  /** In the order of the sorted names of the members. */
  userIDs?: string[] | undefined;
}

/** The declared members, with user IDs as far as the state knows them: whoever gets another address stays the same. */
export function toWanted(members: Members, { members: kept = {}, userIDs = [] }: Kept = {}): WantedMember[] {
  const known = new Map(sortedNames(kept).map((name, index) => [name.toLowerCase(), userIDs[index]]));
  return Object.entries(members).map(([name, role]) => {
    const one = toNamed(name);
    return one.email === undefined ? { ...one, role } : { ...one, userID: known.get(name.toLowerCase()), role };
  });
}

/** A declared member by address, or by user ID. */
export const toNamed = (name: string): Named => (name.includes("@") ? { email: name } : { userID: name });

const sortedNames = (members: Members): string[] => Object.keys(members).toSorted();

/** The name of a member for people. */
export const nameOf = ({ email, userID }: Named): string => email ?? userID ?? "";

/** Completes a list with the roles that it lacks, member by member. */
export async function withRoles(
  context: Context,
  teamID: string,
  listed: readonly ListedMember[],
): Promise<ListedMember[]> {
  return Promise.all(
    listed.map(async (member) => {
      if (member.role !== undefined) return member;
      try {
        return { ...member, role: await context.members.roleOf(teamID, member.userID) };
      } catch (error) {
        if (isNotFound(error)) return member; // left meanwhile
        throw error;
      }
    }),
  );
}

/** The wanted members with the user IDs of those whose addresses the list does not show: it may have IDs alone. */
export async function identify(
  context: Context,
  wanted: readonly WantedMember[],
  live: readonly ListedMember[],
): Promise<WantedMember[]> {
  if (live.every(({ email }) => email !== undefined)) return [...wanted];
  const shown = new Set(live.map(({ email }) => email?.toLowerCase()));
  return Promise.all(
    wanted.map(async (one) => {
      if (one.email === undefined || one.userID !== undefined || shown.has(one.email.toLowerCase())) return one;
      const userID = await userIDAt(context, one.email);
      return userID === undefined ? one : { ...one, userID };
    }),
  );
}

/** The members that a roster decides on, as the state keeps them: those that are declared by their declared names. */
export function observe(
  live: readonly RosterMember[],
  wanted: readonly WantedMember[],
  options: Pick<RosterOptions, "mode" | "ignore">,
): { members: Members; userIDs: string[] } {
  const declared = new Map<string | undefined, WantedMember>();
  for (const one of wanted) declared.set(one.userID, one);
  for (const one of wanted) declared.set(one.email?.toLowerCase(), one);
  declared.delete(undefined);
  const found = live.filter(managing(wanted, options)).map((member) => {
    const one = declared.get(member.email?.toLowerCase()) ?? declared.get(member.userID);
    // A role of another word can't be declared, and is not the declared one.
    const { data = one?.role === "member" ? "admin" : "member" } = role.safeParse(member.role);
    return [one ? nameOf(one) : nameOf(member), data, member.userID] as const;
  });
  const ids = new Map(found.map(([name, , userID]) => [name, userID]));
  const members = Object.fromEntries(found.map(([name, role]) => [name, role]));
  return { members, userIDs: sortedNames(members).map((name) => ids.get(name) ?? "") };
}
