import type { ListedMember } from "../../client/members/memberLists.ts";
import type { RosterPlan } from "../../reconcile/rosters.ts";
import { lacksRole } from "./memberships.ts";

export type RoleChange = RosterPlan<ListedMember>["changeRole"][number];

/** A team as it was read after the calls, and what is left to do by that. */
interface Proof {
  after: readonly ListedMember[];
  rest: RosterPlan<ListedMember>;
}

/** Completed work according to the calls' answers. */
interface Done {
  promoted: { done: readonly RoleChange[] };
  demoted: { done: readonly RoleChange[] };
  removed: { done: readonly ListedMember[] };
}

/** For whom the list shows something else than the calls answered, with the reason. */
export function lacking({ after, rest }: Proof, { promoted, demoted, removed }: Done) {
  const now = new Map(after.map((member) => [member.userID, member]));
  const unlike = (done: readonly RoleChange[]) =>
    new Map(
      done.flatMap(({ member, role }) => {
        const found = now.get(member.userID);
        if (!found) return [[member, "it is in the list no longer"] as const];
        const isLacking = rest.changeRole.some((change) => change.member === found);
        return isLacking ? [[member, lacksRole(role, found.role)] as const] : [];
      }),
    );
  const stay = removed.done.filter(({ userID }) => now.has(userID));
  const still = "the platform answered that it did, and it is in the list afterwards";
  return {
    admin: unlike(promoted.done),
    member: unlike(demoted.done),
    removed: new Map(stay.map((member) => [member, still])),
  };
}
