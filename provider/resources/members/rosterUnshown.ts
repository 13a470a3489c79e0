import type { ListedMember } from "../../client/members/memberLists.ts";
import { formatCount, some } from "../../messages/text.ts";
import {
  isUser,
  managing,
  planRoster,
  type Named,
  type RosterOptions,
  type RosterPlan,
  type WantedMember,
} from "../../reconcile/rosters.ts";
import { nameOf, toWanted, type Kept } from "./rosterLists.ts";
import { maxNamed } from "./rosterSentences.ts";

/** People who are not as the approved report showed them: they were changed by hand since. */
export interface Unshown {
  /** In the team, and neither declared nor in the state. */
  extra: readonly ListedMember[];
  /** In the state, and not in the team. */
  absent: readonly WantedMember[];
  /** In the team, with another role than in the state. */
  otherwise: readonly ListedMember[];
}

type Sought = Pick<WantedMember, "email" | "userID">;

/** Finds the people whom a plan would change in a way that no report showed. */
export function unshownBy({ add, remove, changeRole }: RosterPlan<ListedMember>, old: Kept | undefined): Unshown {
  const known = toWanted(old?.members ?? {}, old);
  const isKnown = managing(known, { mode: "additive" });
  return {
    extra: remove.filter((member) => !isKnown(member)),
    absent: add.filter((one) => known.some((other) => isSame(one, other))),
    otherwise: changeRole.flatMap(({ member, role }) =>
      // A role that is new in the declaration was shown, whatever it was by hand.
      known.some((one) => isUser(one, member) && one.role === role) ? [member] : [],
    ),
  };
}

/** All people of these. */
export const peopleOf = ({ extra, absent, otherwise }: Unshown): Named[] => [...extra, ...absent, ...otherwise];

/** Plans a team's members without those who are left alone. */
export function planWithout(
  { extra, absent, otherwise }: Unshown,
  wanted: readonly WantedMember[],
  live: readonly ListedMember[],
  options: RosterOptions,
): RosterPlan<ListedMember> {
  const left = wanted
    .filter((one) => !absent.some((other) => isSame(one, other)))
    .map((one) => (otherwise.some((member) => isUser(one, member)) ? { ...one, role: undefined } : one));
  return planRoster(left, live, { ...options, ignore: [...(options.ignore ?? []), ...extra.map(nameOf)] });
}

/** Why a run fails that left people alone; undefined where it left nobody. */
export function unshownSentence(
  unshown: Unshown,
  { teamID, sensitive }: { teamID: string; sensitive?: boolean | undefined },
): string | undefined {
  const people = peopleOf(unshown);
  if (people.length === 0) return undefined;
  const who = sensitive ? "" : ` (${some(people.map(nameOf), maxNamed.failures)})`;
  return (
    `not as they were when this was approved, and left alone: ${formatCount(people.length, "person")} of team ${teamID}${who}: ` +
    `make a report of what is there now, and have that approved: a run with it does what is declared`
  );
}

/** Reports who stays in a team when its roster goes, since the approved report did not show them. */
export function unshownStay(
  people: readonly Named[],
  { teamID, sensitive }: { teamID: string; sensitive?: boolean | undefined },
): string {
  const who = sensitive ? "" : ` (${some(people.map(nameOf), maxNamed.failures)})`;
  return (
    `team ${teamID}: ${formatCount(people.length, "person")}${who} came since this was approved, and stays: the roster goes ` +
    `without them. Remove them by hand where they are to leave, too`
  );
}

const isSame = (one: Sought, other: Sought): boolean =>
  (one.userID !== undefined && one.userID === other.userID) ||
  (one.email !== undefined && one.email.toLowerCase() === other.email?.toLowerCase());
