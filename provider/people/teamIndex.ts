import type { Member } from "../../platform/contract/members.ts";

/** A member whose user ID is known. */
export type ListedMember = Member & { userID: string };

/** A list by user ID, and by address: in the listed spelling and in small letters. */
interface Index {
  byID: ReadonlyMap<string, ListedMember>;
  byEmail: ReadonlyMap<string, ListedMember>;
  /** Undefined for addresses that differ in letter case alone: a platform that has both distinguishes them. */
  byAddress: ReadonlyMap<string, ListedMember | undefined>;
  /** True when each member has an address. */
  hasEmails: boolean;
}

interface Growing extends Index {
  byID: Map<string, ListedMember>;
  byEmail: Map<string, ListedMember>;
  byAddress: Map<string, ListedMember | undefined>;
}

const indices = new WeakMap<readonly ListedMember[], Growing>();

/** Finds people in a list, which is gone through once: as many may ask as it has members. */
export function indexOf(list: readonly ListedMember[]): Index {
  const known = indices.get(list);
  if (known) return known;
  const index: Growing = { byID: new Map(), byEmail: new Map(), byAddress: new Map(), hasEmails: true };
  for (const member of list) add(index, member);
  indices.set(list, index);
  return index;
}

/**
 * The list with the members of an earlier one where they are as they were. Where those all stayed in front, as they do
 * while people are added, their index goes on with it: a team of thousands is read again after each batch.
 */
export function following(earlier: readonly ListedMember[], list: readonly ListedMember[]): readonly ListedMember[] {
  let same = 0;
  while (same < earlier.length && isSame(earlier[same], list[same])) same++;
  if (same === 0) return list;
  const next = [...earlier.slice(0, same), ...list.slice(same)];
  const index = indices.get(earlier);
  if (!index || same < earlier.length) return next;
  indices.delete(earlier); // who still asks that list has it gone through again
  for (const member of next.slice(same)) add(index, member);
  indices.set(next, index);
  return next;
}

const isSame = (one: ListedMember | undefined, other: ListedMember | undefined): boolean =>
  one?.userID === other?.userID &&
  one?.email === other?.email &&
  one?.role === other?.role &&
  one?.teamMemberID === other?.teamMemberID &&
  one?.teamID === other?.teamID;

function add(index: Growing, member: ListedMember): void {
  const { byID, byEmail, byAddress } = index;
  if (!byID.has(member.userID)) byID.set(member.userID, member);
  if (member.email === undefined) {
    index.hasEmails = false;
    return;
  }
  if (!byEmail.has(member.email)) byEmail.set(member.email, member);
  const address = member.email.toLowerCase();
  const other = byAddress.get(address);
  byAddress.set(address, byAddress.has(address) && other?.userID !== member.userID ? undefined : member);
}

/** Finds the member with an address: in this spelling, else in another one if the list has a single such address. */
export function memberAt(list: readonly ListedMember[], email: string): ListedMember | undefined {
  const { byEmail, byAddress } = indexOf(list);
  return byEmail.get(email) ?? byAddress.get(email.toLowerCase());
}
