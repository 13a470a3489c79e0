import { isDay } from "../../../machine/settings/today.ts";
import { nearest } from "../../../machine/spelling.ts";
import { role as roles } from "../../contract/members.ts";
import { email as address, type RowData } from "../../contract/values.ts";
import { quote } from "../../messages/text.ts";
import type { Role } from "../../reconcile/rosters.ts";
import { read } from "../../sources/read.ts";
import { placeOf, type SourceRow } from "../../sources/source.ts";
import type { LastDay } from "./ends.ts";

/** Columns of a list of people; others belong to somebody else. */
const columns = ["email", "role", "until", "team"];

/** A file with people, and the team of it that is meant. */
export interface PeopleFile {
  source: string;
  team?: string | undefined;
  /** Messages show no values. */
  sensitive?: boolean | undefined;
}

/** People of a team in a file, and what is wrong there. */
export interface PeopleRead {
  members: Record<string, Role>;
  ends: LastDay[];
  problems: string[];
}

/** The people of a team in a file. Throws a SourceError for a file that can't be read. */
export async function readPeople(file: PeopleFile, directory: string): Promise<PeopleRead> {
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
