import { z } from "zod";
import { nearest } from "../../machine/spelling.ts";
import { isDay } from "../../machine/today.ts";
import { type Member, role as roles } from "../../platform/contract/people.ts";
import { email as address, type RowData } from "../../platform/contract/values.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { type InputProblem, tooManyRemovals } from "../resources/common.ts";
import { read, SourceError } from "../seedRows/source/read.ts";
import { placeOf } from "../seedRows/source/source.ts";

// Who is who, who is declared until when, and what a team has to become of that. Nothing here talks to a platform.

export type Role = "admin" | "member";

/** Somebody by address, by user ID or, once the platform has named both, by both. */
export interface Person {
  email?: string | undefined;
  userID?: string | undefined;
}

/** A member as the platform lists them: address, role or both may be missing there. */
export type ListedMember = Member & { userID: string };

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
  spares?: ((member: ListedMember) => boolean) | undefined;
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

export interface RoleChange {
  member: ListedMember;
  role: Role;
}

/** What makes the members of a team those who are declared. */
export interface MembershipPlan {
  add: Wanted[];
  change: RoleChange[];
  remove: ListedMember[];
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
export function planMembers(
  wanted: readonly Wanted[],
  live: readonly ListedMember[],
  options: PlanOptions,
): MembershipPlan {
  const { mode, maxRemovals, minAdmins, unseenAdmins = 0, keepSelf, spares, isFirst = false } = options;
  const counts = { unchanged: 0, ignored: 0, others: 0 };
  const plan: MembershipPlan = { add: [], change: [], remove: [], ...counts, refusals: [] };
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
export const isManaged = (ignore: readonly string[] | undefined): ((member: ListedMember) => boolean) => {
  const isIgnored = ignoring(ignore);
  return (member) => !isIgnored(member);
};

function ignoring(patterns: readonly string[] = []): (member: ListedMember) => boolean {
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

// Who is declared and until when: in place, or in a list.

/** Days before an end in which it is announced. */
const announced = 14;

/** Most people whom a sentence names. */
const maxNamed = 5;

/** A declared person with the last day of the membership. */
interface LastDay {
  name: string;
  until: string;
}

/** People with an end, as of a day. */
export interface Ends {
  day: string;
  /** Those whose last day has passed: their declaration counts as absent. */
  over: readonly LastDay[];
  /** Those who end within the next days. */
  soon: readonly LastDay[];
}

/** True when the last day of a membership has passed. Days in this form compare as texts. */
const isOver = (until: string, day: string): boolean => until < day;

/** True when a membership with an end counts as absent. */
export const hasEnded = ({ until }: { until?: string | undefined }, day: string): boolean =>
  until !== undefined && isOver(until, day);

/** Splits people with an end by a day. */
export function splitEnds(people: readonly LastDay[], day: string): Ends {
  return {
    day,
    over: people.filter(({ until }) => isOver(until, day)),
    soon: people.filter(({ until }) => !isOver(until, day) && daysTo(until, day) <= announced),
  };
}

const daysTo = (until: string, day: string): number => (Date.parse(until) - Date.parse(day)) / 86_400_000;

/** Names those whose end has passed: all of them, or those who are still members. */
export function describeOver(
  { day, over }: Ends,
  isHidden: boolean,
  isThere = (name: string): boolean => name !== "",
): string[] {
  const left = over.filter(({ name }) => isThere(name));
  if (left.length === 0) return [];
  const names = isHidden ? formatCount(left.length, "person") : some(left.map(shown), maxNamed);
  return [`no longer a member as of ${day} (UTC): ${names}`];
}

/** Names those who end soon. */
export function describeSoon({ day, soon }: Ends, isHidden: boolean): string[] {
  if (soon.length === 0) return [];
  const inDays = (one: LastDay): string => {
    const days = daysTo(one.until, day);
    return `${shown(one)}, ${days === 0 ? "the last day" : `${formatCount(days, "day")} left`}`;
  };
  const names = isHidden ? formatCount(soon.length, "person") : some(soon.map(inDays), maxNamed);
  return [`ends soon as of ${day} (UTC): ${names}`];
}

const shown = ({ name, until }: LastDay): string => `${name} until ${until}`;

/** The last day of a membership. */
export const lastDay = z.string().refine(isDay, "must be a day of the calendar, such as 2026-12-31");

type Say = (text: string) => void;

/** Reports, with the day, whose membership is over or ends soon. */
export function reportEnds(
  report: { forecast: Say; warning: Say },
  ends: Ends,
  isHidden: boolean,
  isThere?: (name: string) => boolean,
): void {
  for (const text of describeOver(ends, isHidden, isThere)) report.forecast(text);
  for (const text of describeSoon(ends, isHidden)) report.warning(text);
}

/** Members as a program declares them and a state keeps them: role by address or user ID. */
export type Members = Record<string, Role>;

/** The part of a declaration that names people, with ends. */
interface Declared {
  members?: Members | undefined;
  until?: Readonly<Record<string, string>> | undefined;
  source?: string | undefined;
  team?: string | undefined;
  sensitive?: boolean | undefined;
}

/** Where people are looked up: the program's folder, and the day of the run in UTC, `2026-12-31`. */
export interface PeoplePlace {
  directory: string;
  day: string;
}

/** The members of a roster with all their ends, and what is wrong with them. */
interface Listed {
  members: Members;
  ends: LastDay[];
  problems: InputProblem[];
}

/** The members that a roster declares as of a day: those whose end has passed are absent. */
export async function findDeclared(
  declared: Declared,
  { directory, day }: PeoplePlace,
): Promise<Omit<Listed, "ends"> & { ends: Ends }> {
  const problems = combined(declared);
  const isListed = declared.source !== undefined && problems.length === 0;
  const listed = isListed ? await readPeople(declared, directory) : stated(declared, problems);
  const ends = splitEnds(listed.ends, day);
  const over = new Set(ends.over.map(({ name }) => name));
  const members = Object.fromEntries(Object.entries(listed.members).filter(([name]) => !over.has(name)));
  return { members, ends, problems: listed.problems };
}

function combined({ members, source, team, until }: Declared): InputProblem[] {
  if (source === undefined) {
    if (members === undefined) return [{ property: "members", reason: "set members or source" }];
    return team === undefined ? [] : [{ property: "team", reason: "names a team of source, and there is no source" }];
  }
  return [
    ...(members ? [{ property: "members", reason: "set either members or source, not both" }] : []),
    ...(until ? [{ property: "until", reason: "is for members; source has a column until" }] : []),
  ];
}

/** The members in place. An end of somebody whom nobody declares is a mistake: a misspelt address would have none. */
function stated({ members = {}, until = {}, sensitive }: Declared, problems: readonly InputProblem[]): Listed {
  const ends = Object.entries(until).map(([name, until]) => ({ name, until }));
  const strange = ends.filter(({ name }) => !Object.hasOwn(members, name));
  const reasons = strange.map(
    ({ name }) => `${sensitive ? "somebody" : quote(name)} is not among the members; correct the address`,
  );
  return { members, ends, problems: [...problems, ...reasons.map((reason) => ({ property: "until", reason }))] };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

/** The cells of a person that are checked, and what to write there. */
const cells = [
  ["email", address, "write an e-mail address"],
  ["role", roles.default("member"), "write admin or member"],
  ["until", lastDay.optional(), "write a day of the calendar, such as 2026-12-31"],
] as const;

/** Columns of a list of people; others belong to somebody else. */
const columns = [...cells.map(([label]) => label), "team"];

/** The people of a team in a file, and what is wrong there. */
async function readPeople({ source = "", team, sensitive }: Declared, directory: string): Promise<Listed> {
  const listed: Listed = { members: {}, ends: [], problems: [] };
  const [lines, teams] = [new Map<string, number>(), new Set<string>()];
  const problem = (reason: string): number => listed.problems.push({ property: "source", reason });
  const place = (line: number): string => placeOf({ source, sensitive }, line);
  const wrong = (line: number, text: string): number => problem(`${place(line)}: ${text}`);
  const take = (line: number, values: RowData): void => {
    for (const [label, cell, advice] of cells) {
      const value = values[label];
      const isBlank = value === undefined || value === null || (typeof value === "string" && textOf(value) === "");
      if (cell.safeParse(isBlank ? undefined : textOf(value)).success) continue;
      const shown = typeof value === "string" && !sensitive ? ` is ${quote(value)}` : " is missing or wrong";
      return void wrong(line, `${label}${shown}: ${advice}`);
    }
    const [name, role, until] = [textOf(values["email"]), textOf(values["role"]), textOf(values["until"])];
    const [key = ""] = namesOf({ email: name });
    const before = lines.get(key);
    if (before !== undefined) {
      const who = sensitive ? "the same person" : name;
      return void wrong(line, `${who} is at ${place(before)} as well; keep one of the two`);
    }
    lines.set(key, line);
    listed.members[name] = role === "admin" ? role : "member";
    if (until !== "") listed.ends.push({ name, until });
  };
  let isBegun = false;
  try {
    const rows = read({ source, key: ["email"], sensitive }, directory, ({ line, text }) => void wrong(line, text));
    for await (const block of rows) {
      for (const { line, values } of block) {
        if (!isBegun) for (const text of strangeColumns(Object.keys(values), team)) wrong(1, text);
        isBegun = true;
        const own = textOf(values["team"]);
        teams.add(own);
        if (team !== undefined && own === "") wrong(line, "the row has no team");
        if (team === undefined || own === team) take(line, values);
      }
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { members: {}, ends: [], problems: [{ property: "source", reason: error.message }] };
  }
  if (listed.problems.length === 0 && lines.size === 0) {
    const near = sensitive || team === undefined ? undefined : nearest(team, [...teams]);
    const who = team === undefined ? "nobody" : `nobody of team ${quote(team)}`;
    const advice =
      near === undefined ? "correct source or team, or leave the roster out" : `did you mean ${quote(near)}?`;
    problem(`${source} has ${who}: ${advice}`);
  }
  return listed;
}

/** What is wrong with the names of the columns: a misspelt one would be no end at all. */
function strangeColumns(labels: readonly string[], team: string | undefined): string[] {
  const left = columns.filter((column) => !labels.includes(column));
  const misspelt = labels.flatMap((label) => {
    if (columns.includes(label)) return [];
    const meant = left.find((column) => column === label.trim().toLowerCase()) ?? nearest(label, left);
    return meant === undefined ? [] : [`there is a column ${quote(label)}; did you mean ${quote(meant)}?`];
  });
  if (team !== undefined && left.includes("team"))
    return [...misspelt, "there is no column team, and the roster names one"];
  if (team === undefined && labels.includes("team"))
    return [...misspelt, "there is a column team: say with team which one is meant"];
  return misspelt;
}

/** The teams that a file names, with the first line of each. */
export async function teamsIn(source: string, directory: string): Promise<Map<string, number>> {
  const teams = new Map<string, number>();
  for await (const block of read({ source, key: ["email"] }, directory, () => undefined)) {
    for (const { line, values } of block) {
      const team = textOf(values["team"]);
      if (team !== "" && !teams.has(team)) teams.set(team, line);
    }
  }
  return teams;
}
