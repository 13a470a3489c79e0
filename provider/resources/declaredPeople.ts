import { z } from "zod";
import { nearest } from "../../machine/spelling.ts";
import { isDay } from "../../machine/today.ts";
import { role as roles } from "../../platform/contract/people.ts";
import { email as address, type RowData } from "../../platform/contract/values.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { namesOf, type Role } from "../people/people.ts";
import { read, SourceError } from "../seedRows/source/read.ts";
import { placeOf } from "../seedRows/source/source.ts";
import type { InputProblem } from "./common.ts";
import type { Context, Report } from "./resource.ts";

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

/** Reports, with the day, whose membership is over or ends soon. */
export function reportEnds(report: Report, ends: Ends, isHidden: boolean, isThere?: (name: string) => boolean): void {
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

/** Where people are looked up, and as of which day. */
export type PeoplePlace = Pick<Context, "directory" | "day">;

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
