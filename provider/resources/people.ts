import { z } from "zod";
import { isDay } from "../../machine/settings/today.ts";
import { nearest } from "../../machine/spelling.ts";
import { role as roles } from "../../platform/contract/members.ts";
import { email as address, id, type RowData } from "../../platform/contract/values.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { losingSelf, tooFewAdmins, tooManyRemovals } from "../reconcile/guards.ts";
import { read, SourceError } from "../seedRows/source/read.ts";
import { placeOf, type SourceRow } from "../seedRows/source/source.ts";
import type { Context, Diff, Given, InputProblem, Report } from "./model/resource.ts";

// Who is who, who is declared and until when, and what a team has to become of that. Nothing here talks to a platform.

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

/** The texts by which somebody is known: an address in small letters, and a user ID. */
export const namesOf = ({ email, userID }: Person): string[] => [email?.toLowerCase() ?? [], userID ?? []].flat();

/** True for one person: by ID, or by address in any letter case. */
export const isSame = (one: Person, other: Person): boolean =>
  (one.userID !== undefined && one.userID === other.userID) ||
  (one.email !== undefined && one.email.toLowerCase() === other.email?.toLowerCase());

/** People, found by address in any letter case and by user ID. */
export class People<One extends Person = Person> {
  readonly #byAddress = new Map<string, One>();
  readonly #byID = new Map<string, One>();

  constructor(people: Iterable<One> = []) {
    for (const one of people) {
      if (one.email !== undefined) this.#byAddress.set(one.email.toLowerCase(), one);
      if (one.userID !== undefined) this.#byID.set(one.userID, one);
    }
  }

  find({ email, userID }: Person): One | undefined {
    return this.#byAddress.get(email?.toLowerCase() ?? "") ?? this.#byID.get(userID ?? "");
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
  const { mode, maxRemovals, minAdmins, keepSelf, spares, isFirst = false } = options;
  const plan: MembershipPlan<Live> = {
    add: [],
    change: [],
    remove: [],
    unchanged: 0,
    ignored: 0,
    others: 0,
    refusals: [],
  };
  const twice = repeated(wanted.map(({ email, userID }) => email?.toLowerCase() ?? userID ?? ""));
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
    if (isLeft) plan.ignored++;
    else if (mode === "additive" && !isOwned) plan.others++;
    else plan.remove.push(member);
    if (member.role === "admin" && (isLeft || (mode === "additive" && !isOwned))) admins++;
  }
  const managed = live.length - plan.ignored;
  const removals = tooManyRemovals("members", plan.remove.length, managed, maxRemovals, isFirst ? 0 : undefined);
  const few = tooFewAdmins(admins, minAdmins ?? (live.some(({ role }) => role === "admin") ? 1 : 0));
  const self = keepSelf && losingSelf(nameOf(keepSelf) || "The user", fateOf(keepSelf, plan));
  plan.refusals.push(...[removals, few, self].filter((refusal) => refusal !== undefined));
  return plan;
}

function fateOf(self: Person, { change, remove }: MembershipPlan): "removed" | "demoted" | undefined {
  if (remove.some((member) => isSame(self, member))) return "removed";
  const isDemoted = change.some(
    ({ member, role }) => role === "member" && member.role === "admin" && isSame(self, member),
  );
  return isDemoted ? "demoted" : undefined;
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

// Inputs that name one person.

export const user = {
  email: address.optional().meta({
    description: "The user's e-mail address; an unknown one is invited. Either this or userID.",
    replaces: true,
  }),
  userID: id.optional().meta({ description: "The user's ID. Either this or email.", replaces: true }),
};

/** Output with the user's ID. */
export const userFound = {
  memberUserID: id.meta({ description: "ID of the user, also of one who was named by address.", stable: true }),
};

/** Why the inputs do not name exactly one user. */
export function checkNamedOnce({ inputs, unknown }: Given<Person>): InputProblem[] {
  const named = [inputs.email, inputs.userID].filter((value) => value !== undefined).length;
  if (unknown.has("email") || unknown.has("userID") || named === 1) return [];
  return [{ property: "email", reason: named === 0 ? "set email or userID" : "set either email or userID, not both" }];
}

/** The change without that of an address in letter case alone: it is the same user's. */
export function exceptSpelling(change: Diff, old: Person, { inputs }: Given<Person>): Diff {
  const sameAddress = old.email !== undefined && old.email.toLowerCase() === inputs.email?.toLowerCase();
  const meant = (name: string): boolean => !(name === "email" && sameAddress);
  return { changed: change.changed.filter(meant), replaces: change.replaces.filter(meant) };
}

const onInvitation = "Acts when a user is invited.";

/** Inputs for the target of an invitation. */
export const invitationTargets = {
  targetRoute: z
    .enum(["app", "go"])
    .optional()
    .meta({
      description: `Where the invitation leads. ${onInvitation}`,
      ignoredInDiff: true,
    }),
  targetInitialApp: id.optional().meta({
    description: `App that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
    link: true,
  }),
  targetInitialScreen: id.optional().meta({
    description: `Screen that the invitation opens. ${onInvitation}`,
    ignoredInDiff: true,
  }),
};

/** That people of a state were members before it, in one sentence; version 0.1.0 left them in the team. */
export const managedFromNowOn = (count: number): string =>
  `${formatCount(count, "person")} ${count === 1 ? "was found there and is" : "were found there and are"} managed from now on`;

// Last days.

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

/** Inputs of a resource that declares one person. */
export const ending = {
  until: lastDay.optional().meta({
    description: "Last day (UTC) of the membership: after it the declaration counts as absent.",
  }),
  ended: z.boolean().optional().meta({
    description: "True once the last day has passed.",
    computed: true,
    internal: true,
  }),
};

/** Reports, with the day, whose membership is over or ends soon. */
export function reportEnds(report: Report, ends: Ends, isHidden: boolean, isThere?: (name: string) => boolean): void {
  for (const text of describeOver(ends, isHidden, isThere)) report.forecast(text);
  for (const text of describeSoon(ends, isHidden)) report.warning(text);
}

// The people whom a roster declares: in place, or in a list.

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

/** Where people are looked up, and as of which day. */
export type PeoplePlace = Pick<Context, "directory" | "day">;

/** The members of a roster as of a day. */
export interface DeclaredPeople {
  members: Members;
  ends: Ends;
  problems: InputProblem[];
}

/** The members that a roster declares as of a day: those whose end has passed are absent. */
export async function findDeclared(declared: Declared, { directory, day }: PeoplePlace): Promise<DeclaredPeople> {
  const { members: stated, source, team, until = {} } = declared;
  const problems = combined(declared);
  if (source === undefined || problems.length > 0) {
    const members = stated ?? {};
    problems.push(...strangeEnds(declared, members));
    const people = Object.entries(until).map(([name, until]) => ({ name, until }));
    return withoutOver(members, splitEnds(people, day), problems);
  }
  try {
    const listed = await readPeople({ source, team, sensitive: declared.sensitive }, directory);
    const wrong = listed.problems.map((reason) => ({ property: "source", reason }));
    return withoutOver(listed.members, splitEnds(listed.ends, day), wrong);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const problem = { property: "source", reason: error.message };
    return { members: {}, ends: splitEnds([], day), problems: [problem] };
  }
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

/** Ends of people whom nobody declares: a misspelt address would have no end. */
function strangeEnds({ until = {}, sensitive }: Declared, members: Members): InputProblem[] {
  const names = new Set(Object.keys(members));
  const strange = Object.keys(until).filter((name) => !names.has(name));
  const shown = (name: string): string => (sensitive ? "somebody" : quote(name));
  return strange.map((name) => ({
    property: "until",
    reason: `${shown(name)} is not among the members; correct the address`,
  }));
}

function withoutOver(members: Members, ends: Ends, problems: InputProblem[]): DeclaredPeople {
  const over = new Set(ends.over.map(({ name }) => name));
  const left = Object.entries(members).filter(([name]) => !over.has(name));
  return { members: Object.fromEntries(left), ends, problems };
}

/** Columns of a list of people; others belong to somebody else. */
const columns = ["email", "role", "until", "team"];

/** A file with people, and the team of it that is meant. */
interface PeopleFile {
  source: string;
  team?: string | undefined;
  /** Messages show no values. */
  sensitive?: boolean | undefined;
}

/** People of a team in a file, and what is wrong there. */
interface PeopleRead {
  members: Record<string, Role>;
  ends: LastDay[];
  problems: string[];
}

/** The people of a team in a file. Throws a SourceError for a file that can't be read. */
async function readPeople(file: PeopleFile, directory: string): Promise<PeopleRead> {
  const { source, sensitive } = file;
  const reader = new PeopleReader(file);
  const declared = { source, key: ["email"], sensitive };
  const wrong = ({ line, text }: { line: number; text: string }): void => reader.wrong(line, text);
  for await (const block of read(declared, directory, wrong)) for (const row of block) reader.take(row);
  return reader.end();
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

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

class PeopleReader {
  readonly #file: PeopleFile;
  readonly #members: Record<string, Role> = {};
  readonly #ends: LastDay[] = [];
  readonly #problems: string[] = [];
  /** Lines by address in small letters. */
  readonly #lines = new Map<string, number>();
  readonly #teams = new Set<string>();
  #isBegun = false;

  constructor(file: PeopleFile) {
    this.#file = file;
  }

  wrong(line: number, text: string): void {
    this.#problems.push(`${placeOf(this.#file, line)}: ${text}`);
  }

  take({ line, values }: SourceRow): void {
    if (!this.#isBegun) this.#begin(Object.keys(values));
    const wanted = this.#file.team;
    if (wanted !== undefined) {
      const team = textOf(values["team"]);
      this.#teams.add(team);
      if (team === "") this.wrong(line, "the row has no team");
      if (team !== wanted) return;
    }
    const reason = this.#keep(line, values);
    if (reason !== undefined) this.wrong(line, reason);
  }

  /** Keeps the person of a row; returns what is wrong with it. */
  #keep(line: number, values: RowData): string | undefined {
    const name = textOf(values["email"]);
    if (!address.safeParse(name).success) return this.#refusal("email", values["email"], "write an e-mail address");
    const before = this.#lines.get(name.toLowerCase());
    if (before !== undefined) {
      const who = this.#file.sensitive ? "the same person" : name;
      return `${who} stands at ${placeOf(this.#file, before)} as well; keep one of the two`;
    }
    this.#lines.set(name.toLowerCase(), line);
    const { data: role } = roles.safeParse(textOf(values["role"]) || "member");
    if (role === undefined) return this.#refusal("role", values["role"], "write admin or member");
    const until = textOf(values["until"]);
    if (!(until === "" && isNothing(values["until"])) && !isDay(until))
      return this.#refusal("until", values["until"], "write a day of the calendar, such as 2026-12-31");
    this.#members[name] = role;
    if (until !== "") this.#ends.push({ name, until });
    return undefined;
  }

  end(): PeopleRead {
    const { source, team, sensitive } = this.#file;
    const [members, ends, problems] = [this.#members, this.#ends, this.#problems];
    if (problems.length === 0 && this.#lines.size === 0) {
      const near = sensitive || team === undefined ? undefined : nearest(team, [...this.#teams]);
      const who = team === undefined ? "nobody" : `nobody of team ${quote(team)}`;
      const advice =
        near === undefined ? "correct source or team, or leave the roster out" : `did you mean ${quote(near)}?`;
      problems.push(`${source} has ${who}: ${advice}`);
    }
    return { members, ends, problems };
  }

  /** Checks the names of the columns: a misspelt one would be no end at all. */
  #begin(labels: readonly string[]): void {
    this.#isBegun = true;
    const left = columns.filter((column) => !labels.includes(column));
    for (const label of labels) {
      if (columns.includes(label)) continue;
      const meant = left.find((column) => column === label.trim().toLowerCase()) ?? nearest(label, left);
      if (meant !== undefined) this.wrong(1, `there is a column ${quote(label)}; did you mean ${quote(meant)}?`);
    }
    const isNamed = this.#file.team !== undefined;
    if (isNamed && left.includes("team")) this.wrong(1, "there is no column team, and the roster names one");
    if (!isNamed && labels.includes("team")) this.wrong(1, "there is a column team: say with team which one is meant");
  }

  #refusal(label: string, value: unknown, advice: string): string {
    const isShown = typeof value === "string" && !this.#file.sensitive;
    return `${label}${isShown ? ` is ${quote(value)}` : " is missing or wrong"}: ${advice}`;
  }
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === "";
