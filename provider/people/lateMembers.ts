import { indexOf, memberAt, type ListedMember } from "./teamIndex.ts";

/** Somebody as a call names them. */
interface Named {
  email?: string | undefined;
  userID?: string | undefined;
}

type IsShown = (list: readonly ListedMember[]) => boolean;

const waitMs = 300;

/**
 * Changes of this run in teams within the last while. A list that does not show it yet (eventual consistency) is
 * read again, so that nobody is taken for missing.
 */
export class LateMembers {
  readonly #forMs: number;
  readonly #now: () => number;
  /** By team and then by person. */
  readonly #changes = new Map<string, Map<string, { until: number; isShown: IsShown }>>();

  /** @param forMs milliseconds for which a change may be unseen; 0 turns it off */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  added(teamIDs: readonly string[], people: readonly Named[]): void {
    for (const person of people) {
      const { email, userID } = person;
      const isShown: IsShown = (list) => {
        const { byID, hasEmails } = indexOf(list);
        if (userID !== undefined && byID.has(userID)) return true;
        if (email === undefined) return false;
        if (hasEmails || userID !== undefined) return memberAt(list, email) !== undefined;
        return true; // of IDs alone nobody can tell
      };
      for (const teamID of teamIDs) this.#note(teamID, personOf(person), isShown);
    }
  }

  gotRole(teamID: string, { userID }: ListedMember, role: string): void {
    this.#note(teamID, `role ${userID}`, (list) => (indexOf(list).byID.get(userID)?.role ?? role) === role);
  }

  removed(teamID: string, member: ListedMember): void {
    const { userID, email } = member;
    const own = this.#changes.get(teamID);
    for (const name of [userID, `role ${userID}`, personOf({ email })]) own?.delete(name);
    this.#note(teamID, userID, (list) => !indexOf(list).byID.has(userID));
  }

  /** Milliseconds before a list is read again; undefined where it shows everything, or had the time to. */
  waitFor(teamID: string, list: readonly ListedMember[]): number | undefined {
    const own = this.#changes.get(teamID);
    for (const [name, { until, isShown }] of own ?? []) {
      if (isShown(list) || this.#now() + waitMs > until) own?.delete(name);
    }
    return own && own.size > 0 ? waitMs : undefined;
  }

  #note(teamID: string, name: string, isShown: IsShown): void {
    if (this.#forMs === 0) return;
    const own = this.#changes.get(teamID) ?? new Map<string, { until: number; isShown: IsShown }>();
    this.#changes.set(teamID, own.set(name, { until: this.#now() + this.#forMs, isShown }));
  }
}

const personOf = ({ email, userID }: Named): string => userID ?? email?.toLowerCase() ?? "";
