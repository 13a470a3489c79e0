import { z } from "zod";
import type { ListedMember } from "../../client/members/memberLists.ts";
import { role } from "../../contract/members.ts";
import {
  isUser,
  managing,
  type Named,
  type RosterMember,
  type RosterOptions,
  type WantedMember,
} from "../../reconcile/rosters.ts";
import { isFound, type Made } from "../model/made.ts";
import type { Context } from "../model/resource.ts";
import { membership } from "./memberships.ts";
import { nameOf, toWanted, type Kept, type Members } from "./rosterLists.ts";

/** Roles, by user ID, of those whom a stack found in a team. */
export type FoundRoles = Readonly<Record<string, "admin" | "member">>;

/** A roster's part of a state, or of a replaced state. */
export type KeptFound = Kept & { found?: FoundRoles | undefined };

/** Found members of a state. */
export const parseFound = (value: unknown): FoundRoles | undefined => z.record(z.string(), role).safeParse(value).data;

interface Roster {
  teamID: string;
  members: Members;
  adopt?: boolean | undefined;
  resourceUrn?: string | undefined;
}

/** Those of the found who are in the team still, and have not become the stack's own; undefined for nobody. */
export function stillFound(
  context: { made: Made },
  { teamID, adopt, resourceUrn }: Roster,
  found: FoundRoles | undefined,
  live: readonly RosterMember[],
): FoundRoles | undefined {
  const left = live.flatMap((member) => {
    const role = found?.[member.userID];
    const state = { found: role, adopt, resourceUrn };
    return role !== undefined && isFound(context, state, membership(teamID, member)) ? [[member.userID, role]] : [];
  });
  return left.length > 0 ? (Object.fromEntries(left) as FoundRoles) : undefined; // as they were found
}

/** Options that leave alone found members who are no longer declared; reports their names. */
export function sparing<Live extends RosterMember, Options extends Pick<RosterOptions, "ignore">>(
  { members, adopt }: Pick<Roster, "members" | "adopt">,
  kept: KeptFound,
  options: Options,
  live: readonly Live[],
): { stay: Live[]; options: Options } {
  const { found } = kept;
  if (!found || adopt) return { stay: [], options };
  const isDeclared = managing(toWanted(members, kept), { mode: "additive" });
  const stay = live.filter((member) => found[member.userID] !== undefined && !isDeclared(member));
  return { stay, options: { ...options, ignore: [...(options.ignore ?? []), ...stay.map(nameOf)] } };
}

/**
 * Names members in records of the stack's creations: a list of bare user IDs lacks the address by which somebody was
 * invited.
 */
export function namesIn(teamID: string, wanted: readonly WantedMember[]): (member: RosterMember) => string[] {
  const addresses = new Map(wanted.map(({ userID, email }) => [userID, email]));
  return (member) => membership(teamID, { ...member, email: member.email ?? addresses.get(member.userID) });
}

/** The team and the roster at the moment of applying. */
interface Meeting {
  old: KeptFound | undefined;
  /** True when it replaces another roster of this stack. */
  takesOver: boolean;
  /** The calling account, which `keepSelf` protects. */
  self: Named;
  wanted: readonly WantedMember[];
  /** The members before. */
  live: readonly ListedMember[];
}

/**
 * Found members after a run: earlier ones who are in the team still, and newly declared ones who are there already,
 * unless this stack put them there, or takes the team over.
 */
export function findFound(
  context: Pick<Context, "made" | "members">,
  inputs: Roster,
  { old = {}, takesOver, self, wanted, live }: Meeting,
): FoundRoles | undefined {
  if (inputs.adopt) return undefined;
  const before = stillFound(context, inputs, old.found, live);
  if (takesOver || context.members.isMade(inputs.teamID)) return before;
  const isKnown = managing(toWanted(old.members ?? {}, old), { mode: "additive" });
  const isWanted = managing(wanted, { mode: "additive" });
  const namesOf = namesIn(inputs.teamID, wanted);
  const met = live.filter(
    (member) =>
      isWanted(member) &&
      !isUser(self, member) &&
      !isKnown(member) &&
      !context.made.isMade(inputs.resourceUrn, namesOf(member)),
  );
  const roles = met.map(({ userID, role: listed }) => [userID, role.safeParse(listed).data ?? "member"] as const);
  const all = { ...before, ...Object.fromEntries(roles) };
  return Object.keys(all).length > 0 ? all : undefined;
}
