import { isObject } from "../../../platform/contract/wire.ts";
import { keyPlace, valuePlace, type Place, type Problem, type Value } from "../../layers/document.ts";
import {
  describeOver,
  describeSoon,
  findDeclared,
  splitEnds,
  teamsIn,
  type Ends,
  type PeoplePlace,
} from "../../resources/people.ts";
import type { Declaration } from "../declaration.ts";
import { suggestion } from "../problems.ts";

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

/** A team with its place in the file. */
interface Placed {
  team: Team;
  name: string;
  path: readonly string[];
}

/** Mistakes in lists of people, which stop a run, and warnings. */
interface Found {
  problems: Problem[];
  warnings: Problem[];
}

/** Checks the people of an Environment file, with the files that name them. Offline. */
export async function checkPeople(root: Value, declared: Declaration, place: PeoplePlace): Promise<Found> {
  const found: Found = { problems: [], warnings: [] };
  for (const placed of teamsOf(declared)) {
    const { team, path } = placed;
    const list = team.roster ? "roster" : "members";
    const at = keyPlace(root, [...path, list]);
    const { problems, ends } = await peopleOf(placed, place);
    const source = valuePlace(root, [...path, "roster", "source"]);
    for (const text of problems) found.problems.push(toProblem(text, team.roster?.source ? source : at));
    found.problems.push(...demotedAdministrators(root, placed));
    for (const text of sentencesOf(placed, ends)) found.warnings.push({ at, message: text });
  }
  if (found.problems.length === 0) found.warnings.push(...(await strangeTeams(declared, place)));
  return found;
}

/** Those whom a team names as its administrator and declares plain members. */
function demotedAdministrators(root: Value, { team: { adminID, members = {}, roster }, path }: Placed): Problem[] {
  if (adminID === undefined) return [];
  const all: Readonly<Record<string, unknown>> = roster?.members ?? members;
  const one = Object.hasOwn(all, adminID) ? all[adminID] : undefined;
  if ((isObject(one) ? one["role"] : one) !== "member") return [];
  const at = keyPlace(root, [...path, ...(roster ? ["roster", "members"] : ["members"]), adminID]);
  return [{ at, message: `${adminID} is the adminID of this team and declared a plain member; declare admin` }];
}

/** Sentences about people whose end has passed, or comes soon. */
export async function listEnds(declared: Declaration, place: PeoplePlace): Promise<string[]> {
  const all: string[] = [];
  for (const placed of teamsOf(declared)) {
    const { ends } = await peopleOf(placed, place);
    all.push(...sentencesOf(placed, ends));
  }
  return all;
}

/** The people whose end has passed, by their teams: who they are on a day decides what a run does on it. */
export async function listEnded(declared: Declaration, place: PeoplePlace): Promise<string[]> {
  const all: string[] = [];
  for (const placed of teamsOf(declared)) {
    const { ends } = await peopleOf(placed, place);
    all.push(...ends.over.map((one) => JSON.stringify([placed.name, one])));
  }
  return all;
}

const sentencesOf = ({ name }: Placed, ends: Ends): string[] =>
  [...describeOver(ends, false), ...describeSoon(ends, false)].map((text) => `${name}: ${text}`);

const teamsOf = ({ organizations }: Declaration): Placed[] =>
  Object.entries(organizations).flatMap(([organization, { teams = {} }]) =>
    Object.entries(teams).map(([key, team]) => ({
      team,
      name: `${organization}/${key}`,
      path: ["organizations", organization, "teams", key],
    })),
  );

async function peopleOf({ team }: Placed, place: PeoplePlace): Promise<{ problems: string[]; ends: Ends }> {
  const { members = {}, roster } = team;
  if (roster?.source !== undefined) {
    const { problems, ends } = await findDeclared({ source: roster.source, team: roster.team }, place);
    return { problems: problems.map(({ reason }) => reason), ends };
  }
  const all: Readonly<Record<string, string | { until?: string | undefined }>> = roster?.members ?? members;
  const people = Object.entries(all).flatMap(([name, one]) => {
    const until = typeof one === "object" ? one.until : undefined;
    return typeof until === "string" ? [{ name, until }] : [];
  });
  return { problems: [], ends: splitEnds(people, place.day) };
}

/** Rows of teams that no roster of the file takes. */
async function strangeTeams(declared: Declaration, { directory }: PeoplePlace): Promise<Problem[]> {
  const rosters = teamsOf(declared).flatMap(({ team: { roster } }) =>
    roster?.source !== undefined && roster.team !== undefined ? [{ source: roster.source, team: roster.team }] : [],
  );
  const found: Problem[] = [];
  for (const [source, all] of Map.groupBy(rosters, ({ source }) => source)) {
    const known = all.map(({ team }) => team);
    for (const [team, line] of await teamsIn(source, directory)) {
      if (known.includes(team)) continue;
      const message = `no roster takes team "${team}"; ${suggestion(team, known)}`;
      found.push({ at: { file: source, line, column: 1 }, message });
    }
  }
  return found;
}

/** A sentence about a file at its line there, or at the place where the file is named. */
function toProblem(text: string, at: Place): Problem {
  const [, file, line, message] = /^(\S+?):(\d+): (.*)$/s.exec(text) ?? [];
  if (file === undefined || message === undefined) return { at, message: text };
  return { at: { file, line: Number(line), column: 1 }, message };
}
