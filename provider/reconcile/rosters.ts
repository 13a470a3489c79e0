import { losingSelf, tooFewAdmins, tooManyRemovals } from "./guards.ts";

export type Role = "admin" | "member";

/** A member as the platform lists them: address, role or both may be missing there. */
export interface RosterMember {
  userID: string;
  email?: string | undefined;
  role?: string | undefined;
}

/** A member as declared: by address, by user ID or, once the user is known, by both. Without a role, it is left alone. */
export interface WantedMember {
  email?: string | undefined;
  userID?: string | undefined;
  role?: Role | undefined;
}

export interface RosterOptions {
  /** `additive` removes nobody. */
  mode: "authoritative" | "additive";
  /** Addresses of members to leave alone, with `*` for any text. */
  ignore?: readonly string[];
  maxRemovals?: number | undefined;
  /** Administrators that must be left; without it, one if there is one now. */
  minAdmins?: number | undefined;
  /** The caller, who must not lose their own place; undefined allows it. */
  keepSelf?: { userID?: string | undefined; email?: string | undefined } | undefined;
}

export interface RosterPlan<Live extends RosterMember = RosterMember> {
  add: WantedMember[];
  remove: Live[];
  changeRole: { member: Live; role: Role }[];
  /** Members that are as declared. */
  unchanged: number;
  /** Members whom an `ignore` pattern leaves alone. */
  ignored: number;
  /** Members who are not declared and stay, since the mode is `additive`. */
  others: number;
  /** Why the plan must not be carried out, in sentences. */
  refusals: string[];
}

/**
 * Plans a team's members. Addresses are the same in any letter case. Members whom the platform lists without an address
 * are known by user ID alone.
 */
export function planRoster<Live extends RosterMember>(
  wanted: readonly WantedMember[],
  live: readonly Live[],
  { mode, ignore = [], maxRemovals, minAdmins, keepSelf }: RosterOptions,
): RosterPlan<Live> {
  const plan: RosterPlan<Live> = {
    add: [],
    remove: [],
    changeRole: [],
    unchanged: 0,
    ignored: 0,
    others: 0,
    refusals: [],
  };
  const twice = repeated(wanted.map(({ email, userID }) => email?.toLowerCase() ?? userID ?? ""));
  if (twice.length > 0) plan.refusals.push(`${twice.join(", ")} is declared twice, in different spellings. Keep one.`);
  const ignored = ignore.map(matcher);
  const byEmail = new Map(live.flatMap((member) => (member.email ? [[member.email.toLowerCase(), member]] : [])));
  const byID = new Map(live.map((member) => [member.userID, member]));
  const declared = new Set<Live>();
  let admins = 0;
  for (const one of wanted) {
    const member = byEmail.get(one.email?.toLowerCase() ?? "") ?? byID.get(one.userID ?? "");
    if ((one.role ?? member?.role) === "admin") admins++;
    if (!member) plan.add.push(one);
    else {
      declared.add(member);
      // An unknown role is set: the platform's list may have none.
      if (one.role !== undefined && one.role !== member.role) plan.changeRole.push({ member, role: one.role });
      else plan.unchanged++;
    }
  }
  for (const member of live) {
    if (declared.has(member)) continue;
    const left = ignored.some((matches) => matches(member.email ?? member.userID));
    if (left) plan.ignored++;
    else if (mode === "additive") plan.others++;
    else plan.remove.push(member);
    if (member.role === "admin" && (left || mode === "additive")) admins++;
  }
  const removals = tooManyRemovals("members", plan.remove.length, live.length - plan.ignored, maxRemovals);
  const few = tooFewAdmins(admins, minAdmins ?? (live.some(({ role }) => role === "admin") ? 1 : 0));
  const self = keepSelf && fateOf(keepSelf, plan);
  plan.refusals.push(...[removals, few, self].filter((refusal) => refusal !== undefined));
  return plan;
}

/** Somebody by address, user ID or both. */
export interface Named {
  email?: string | undefined;
  userID?: string | undefined;
}

/** True when a member is that user, by ID or by address in any letter case. */
export const isUser = (user: Named, { userID, email }: RosterMember): boolean =>
  userID === user.userID || (email !== undefined && email.toLowerCase() === user.email?.toLowerCase());

function fateOf(self: Named, plan: RosterPlan): string | undefined {
  const isSelf = (member: RosterMember): boolean => isUser(self, member);
  const demoted = plan.changeRole.some(
    ({ member, role }) => isSelf(member) && role === "member" && member.role === "admin",
  );
  const how = plan.remove.some(isSelf) ? "removed" : demoted ? "demoted" : undefined;
  return losingSelf(self.email ?? self.userID ?? "The user", how);
}

/**
 * Returns true for members that a roster decides on: all declared ones and, when authoritative, all that it does not
 * ignore.
 */
export function managing(
  wanted: readonly WantedMember[],
  { mode, ignore = [] }: Pick<RosterOptions, "mode" | "ignore">,
): (member: RosterMember) => boolean {
  const names = new Set(wanted.flatMap(({ email, userID }) => [email?.toLowerCase() ?? [], userID ?? []].flat()));
  const ignored = ignore.map(matcher);
  return ({ userID, email }) =>
    names.has(userID) ||
    names.has(email?.toLowerCase() ?? "") ||
    (mode === "authoritative" && !ignored.some((matches) => matches(email ?? userID)));
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
