import type { Member } from "../../contract/members.ts";

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

const indices = new WeakMap<readonly ListedMember[], Index>();

/** Finds people in a list, which is gone through once: as many may ask as it has members. */
export function indexOf(list: readonly ListedMember[]): Index {
  const known = indices.get(list);
  if (known) return known;
  const byID = new Map<string, ListedMember>();
  const byEmail = new Map<string, ListedMember>();
  const byAddress = new Map<string, ListedMember | undefined>();
  let hasEmails = true;
  for (const member of list) {
    if (!byID.has(member.userID)) byID.set(member.userID, member);
    if (member.email === undefined) {
      hasEmails = false;
      continue;
    }
    if (!byEmail.has(member.email)) byEmail.set(member.email, member);
    const address = member.email.toLowerCase();
    const other = byAddress.get(address);
    byAddress.set(address, byAddress.has(address) && other?.userID !== member.userID ? undefined : member);
  }
  const index = { byID, byEmail, byAddress, hasEmails };
  indices.set(list, index);
  return index;
}

/** Finds the member with an address: in this spelling, else in another one if the list has a single such address. */
export function memberAt(list: readonly ListedMember[], email: string): ListedMember | undefined {
  const { byEmail, byAddress } = indexOf(list);
  return byEmail.get(email) ?? byAddress.get(email.toLowerCase());
}
