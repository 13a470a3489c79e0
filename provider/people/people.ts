import { tooManyRemovals } from "../resources/common.ts";

// Who is who, and what a team has to become of that. Nothing here talks to a platform.

export type Role = "admin" | "member";

/** Somebody by address, by user ID or, once the platform has named both, by both. */
export interface Person {
  email?: string | undefined;
  userID?: string | undefined;
}

/** A member as the platform lists them: address, role or both may be missing there. */
export interface LiveMember extends Person {
  userID: string;
  role?: string | undefined;
}

/** A member as declared. Without a role, the present one is left alone. */
export interface Wanted extends Person {
  role?: Role | undefined;
}

/** The name of somebody for people. */
export const nameOf = ({ email, userID }: Person): string => email ?? userID ?? "";

/** A declared member, whom a program names by address or by user ID. */
export const toPerson = (name: string): Person => (name.includes("@") ? { email: name } : { userID: name });

/** The names by which two are one person: an address in any letter case, and a user ID. Nothing else decides that. */
export const namesOf = ({ email, userID }: Person): string[] => [email?.toLowerCase() ?? [], userID ?? []].flat();

export const isSame = (one: Person, other: Person): boolean => {
  const names = namesOf(other);
  return namesOf(one).some((name) => names.includes(name));
};

/** People, found by their names: as many may ask as there are. */
export class People<One extends Person = Person> {
  /** Undefined for addresses that differ in letter case alone: a platform that has both distinguishes them. */
  readonly #named = new Map<string, One | undefined>();
  readonly #spelt = new Map<string, One>();
  /** True when each of them has an address. */
  haveAddresses = true;

  constructor(people: Iterable<One> = []) {
    for (const one of people) this.add(one);
  }

  add(one: One): void {
    if (one.email === undefined) this.haveAddresses = false;
    else if (!this.#spelt.has(one.email)) this.#spelt.set(one.email, one);
    for (const name of namesOf(one)) {
      const isOther = this.#named.has(name) && this.#named.get(name)?.userID !== one.userID;
      this.#named.set(name, isOther ? undefined : one);
    }
  }

  /** By address before user ID: in this spelling, else in another one where a single person has it. */
  find(person: Person): One | undefined {
    const spelt = this.#spelt.get(person.email ?? "");
    if (spelt) return spelt;
    for (const name of namesOf(person)) {
      const one = this.#named.get(name);
      if (one) return one;
    }
    return undefined;
  }

  has(person: Person): boolean {
    return this.find(person) !== undefined;
  }
}

/** What decides about the people of a team beside those who are declared. */
export interface PlanOptions {
  /** `additive` leaves everybody else alone. */
  mode: "authoritative" | "additive";
  /** Addresses of members to leave alone, with `*` for any text. */
  ignore?: readonly string[] | undefined;
  /** Whom the last run declared: who of them is declared no longer leaves the team. */
  owned?: readonly Wanted[] | undefined;
  /** True for members whom somebody else decides on. */
  spares?: ((member: LiveMember) => boolean) | undefined;
  maxRemovals?: number | undefined;
  /** Administrators that must be left; without it, one if there is one now. */
  minAdmins?: number | undefined;
  /** Administrators that there may be beside those of the list; default: 0. */
  unseenAdmins?: number | undefined;
  /** The account that makes the calls, where it must keep its place. */
  keepSelf?: Person | undefined;
  /** True where the team had members before this declaration: each removal counts, however few they are. */
  isFirst?: boolean | undefined;
}

export interface RoleChange<Live> {
  member: Live;
  role: Role;
}

/** What makes the members of a team those who are declared. */
export interface MembershipPlan<Live extends LiveMember = LiveMember> {
  add: Wanted[];
  change: RoleChange<Live>[];
  remove: Live[];
  /** Members that are as declared. */
  unchanged: number;
  /** Members whom `ignore`, `keepSelf` or another declaration leaves alone. */
  ignored: number;
  /** Members who were never declared and stay, since the mode is `additive`. */
  others: number;
  /** Why the plan must not be carried out, in sentences. */
  refusals: string[];
}

/** Plans the members of a team. */
export function planMembers<Live extends LiveMember>(
  wanted: readonly Wanted[],
  live: readonly Live[],
  options: PlanOptions,
): MembershipPlan<Live> {
  const { mode, maxRemovals, minAdmins, unseenAdmins = 0, keepSelf, spares, isFirst = false } = options;
  const counts = { unchanged: 0, ignored: 0, others: 0 };
  const plan: MembershipPlan<Live> = { add: [], change: [], remove: [], ...counts, refusals: [] };
  const twice = repeated(wanted.map((one) => namesOf(one)[0] ?? ""));
  if (twice.length > 0) plan.refusals.push(`${twice.join(", ")} is declared twice, in different spellings. Keep one.`);
  const isIgnored = ignoring(options.ignore);
  const [there, owned] = [new People(live), new People(options.owned)];
  // By user ID, which counts once however often a list shows it.
  const declared = new Map<string, Wanted>();
  let admins = 0;
  for (const one of wanted) {
    const member = there.find(one);
    if ((one.role ?? member?.role) === "admin") admins++;
    const same = member && declared.get(member.userID);
    if (same) plan.refusals.push(`${nameOf(same)} and ${nameOf(one)} are one person. Keep one.`);
    if (!member) plan.add.push(one);
    else {
      declared.set(member.userID, one);
      // Where the platform shows no role, that of the last run is believed.
      const role = member.role ?? owned.find(one)?.role;
      if (one.role !== undefined && one.role !== role) plan.change.push({ member, role: one.role });
      else plan.unchanged++;
    }
  }
  for (const member of new Map(live.map((one) => [one.userID, one])).values()) {
    if (declared.has(member.userID)) continue;
    const isOwned = owned.has(member);
    const isSelf = keepSelf !== undefined && isSame(keepSelf, member) && !isOwned;
    const isLeft = isSelf || isIgnored(member) || spares?.(member) === true;
    const isOfOthers = mode === "additive" && !isOwned;
    if (isLeft) plan.ignored++;
    else if (isOfOthers) plan.others++;
    else plan.remove.push(member);
    if (member.role === "admin" && (isLeft || isOfOthers)) admins++;
  }
  const managed = live.length - plan.ignored;
  const needed = minAdmins ?? (live.some(({ role }) => role === "admin") ? 1 : 0);
  const refusals = [
    tooManyRemovals("members", plan.remove.length, managed, maxRemovals, isFirst ? 0 : undefined),
    admins + unseenAdmins < needed ? tooFewAdmins(admins + unseenAdmins, needed) : undefined,
    keepSelf && losingSelf(keepSelf, plan),
  ];
  plan.refusals.push(...refusals.filter((refusal) => refusal !== undefined));
  return plan;
}

const tooFewAdmins = (admins: number, minAdmins: number): string =>
  `${admins} ${admins === 1 ? "administrator" : "administrators"} would be left, fewer than minAdmins asks for (${minAdmins}). ` +
  `Give more members the role admin, or lower minAdmins.`;

/** Why the caller must not lose their own place, undefined when they keep it. */
function losingSelf(self: Person, { change, remove }: MembershipPlan): string | undefined {
  const isRemoved = remove.some((member) => isSame(self, member));
  const isDemoted = change.some(
    ({ member, role }) => role === "member" && member.role === "admin" && isSame(self, member),
  );
  if (!isRemoved && !isDemoted) return undefined;
  const what = isRemoved ? "removed from the list" : "made a plain member";
  return `${nameOf(self) || "The user"}, whose account makes these calls, would be ${what}. Keep them, or set keepSelf: false.`;
}

/** Returns true for members whom an authoritative roster that ignores some decides on. */
export const isManaged = (ignore: readonly string[] | undefined): ((member: LiveMember) => boolean) => {
  const isIgnored = ignoring(ignore);
  return (member) => !isIgnored(member);
};

function ignoring(patterns: readonly string[] = []): (member: LiveMember) => boolean {
  const matchers = patterns.map(matcher);
  return (member) => matchers.some((matches) => matches(nameOf(member)));
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(values.filter((value) => seen.size === seen.add(value).size))];
}

/** Returns true for texts that fit a pattern, in any letter case; each part is looked for once, at its first place. */
export function matcher(pattern: string): (text: string) => boolean {
  const [first = "", ...parts] = pattern.toLowerCase().split("*");
  const last = parts.pop();
  return (name) => {
    const text = name.toLowerCase();
    if (last === undefined) return text === first;
    if (!text.startsWith(first)) return false;
    let from = first.length;
    for (const part of parts) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return text.length - last.length >= from && text.endsWith(last);
  };
}
