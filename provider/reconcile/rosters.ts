import { losingSelf, tooFewAdmins, tooManyRemovals } from "./guards.ts";

export type Role = "admin" | "member";

/** A member as the platform lists them: address, role or both may be missing there. */
export interface RosterMember {
  userID: string;
  email?: string | undefined;
  role?: string | undefined;
}

/** A member as declared: by address, and by user ID where it is known. Without a role, the role is left alone. */
export interface WantedMember {
  email: string;
  userID?: string | undefined;
  role?: Role | undefined;
}

export interface RosterOptions {
  /** `additive` removes nobody. */
  mode: "authoritative" | "additive";
  /** Addresses of members to leave alone, with `*` for any text. */
  ignore?: readonly string[];
  maxRemovals?: number | undefined;
  /** Administrators that must be left. */
  minAdmins?: number;
  /** The caller, who must not lose their own place; undefined allows it. */
  keepSelf?: { userID?: string | undefined; email?: string | undefined } | undefined;
}

export interface RosterPlan {
  add: WantedMember[];
  remove: RosterMember[];
  changeRole: { member: RosterMember; role: Role }[];
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
export function planRoster(
  wanted: readonly WantedMember[],
  live: readonly RosterMember[],
  { mode, ignore = [], maxRemovals, minAdmins = 0, keepSelf }: RosterOptions,
): RosterPlan {
  const plan: RosterPlan = { add: [], remove: [], changeRole: [], unchanged: 0, ignored: 0, others: 0, refusals: [] };
  const twice = repeated(wanted.map(({ email }) => email.toLowerCase()));
  if (twice.length > 0) plan.refusals.push(`${twice.join(", ")} is declared twice, in different spellings. Keep one.`);
  const ignored = ignore.map(matcher);
  const byEmail = new Map(live.flatMap((member) => (member.email ? [[member.email.toLowerCase(), member]] : [])));
  const byID = new Map(live.map((member) => [member.userID, member]));
  const declared = new Set<RosterMember>();
  let admins = 0;
  for (const one of wanted) {
    const member = byEmail.get(one.email.toLowerCase()) ?? (one.userID ? byID.get(one.userID) : undefined);
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
  const removals = tooManyRemovals("members", plan.remove.length, live.length, maxRemovals);
  const few = tooFewAdmins(admins, minAdmins);
  const self = keepSelf && fateOf(keepSelf, plan);
  plan.refusals.push(...[removals, few, self].filter((refusal) => refusal !== undefined));
  return plan;
}

function fateOf(
  self: { userID?: string | undefined; email?: string | undefined },
  plan: RosterPlan,
): string | undefined {
  const isSelf = ({ userID, email }: RosterMember): boolean =>
    userID === self.userID || (email !== undefined && email.toLowerCase() === self.email?.toLowerCase());
  const demoted = plan.changeRole.some(
    ({ member, role }) => isSelf(member) && role === "member" && member.role === "admin",
  );
  const how = plan.remove.some(isSelf) ? "removed" : demoted ? "demoted" : undefined;
  return losingSelf(self.email ?? self.userID ?? "The user", how);
}

const repeated = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) < index)),
];

function matcher(pattern: string): (text: string) => boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`, "i");
  return (text) => expression.test(text);
}
