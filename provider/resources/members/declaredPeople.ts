import { quote } from "../../messages/text.ts";
import { SourceError } from "../../sources/read.ts";
import type { InputProblem } from "../model/resource.ts";
import { isOver, splitEnds, type Ends } from "./ends.ts";
import { readPeople } from "./peopleList.ts";
import type { Members } from "./rosterLists.ts";

/** The part of a declaration that names people: in place or in a file, with ends. */
interface Declared {
  members?: Members | undefined;
  until?: Readonly<Record<string, string>> | undefined;
  source?: string | undefined;
  team?: string | undefined;
  sensitive?: boolean | undefined;
}

/** Where people are looked up, and as of which day. */
export interface PeoplePlace {
  /** The program's folder. */
  directory: string;
  day: string;
}

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
    const read = await readPeople({ source, team, sensitive: declared.sensitive }, directory);
    const wrong = read.problems.map((reason) => ({ property: "source", reason }));
    return withoutOver(read.members, splitEnds(read.ends, day), wrong);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const problem = { property: "source", reason: error.message };
    return { members: {}, ends: splitEnds([], day), problems: [problem] };
  }
}

/** True when a membership with an end counts as absent. */
export const hasEnded = ({ until }: { until?: string | undefined }, day: string): boolean =>
  until !== undefined && isOver(until, day);

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
