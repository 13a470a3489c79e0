import { today } from "../../machine/today.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { entryIn } from "../../platform/contract/wire.ts";
import { differenceOf, folded } from "../../platform/messages/text.ts";
import { seed as contents, type Seed as PlatformSeed } from "../../platform/seed/schema.ts";
import {
  find,
  keyPlace,
  type Place,
  type Problem,
  toPlainValue,
  type Value,
  valuePlace,
  describePlace,
} from "../layers/document.ts";
import {
  describeOver,
  describeSoon,
  type Ends,
  findDeclared,
  type PeoplePlace,
  splitEnds,
  teamsIn,
} from "../people/people.ts";
import { toPlannedUrn } from "../pulumi/names.ts";
import { RowClaims } from "../seedRows/claims.ts";
import { keysOf, keyOf } from "../seedRows/declaration.ts";
import type { Seed as DeclaredSeed } from "../seedRows/inputs.ts";
import { problemsWith } from "../seedRows/otherSeeds.ts";
import { read, SourceError } from "../seedRows/source/read.ts";
import { placeOf } from "../seedRows/source/source.ts";
import { type Declaration, type DeclarationReading, readEnvironment } from "./declaration.ts";
import { suggestion } from "./problems.ts";
import { linksIn } from "./schema.ts";
import { type DeclaredThing, things } from "./things.ts";

/** Verbs by the names that the inputs of a seed have. */
const verbs: Readonly<Record<string, string>> = {
  additions: "rows+",
  changes: "rows~",
  removals: "rows-",
  rows: "rows",
  secretLabels: "secretLabels",
};
const position = /\b(additions|changes|removals|rows|secretLabels)\[(\d+)\]/g;

/**
 * Checks the rows of an Environment file, offline: cells, natural keys, references down to the keys of the rows of
 * other seeds, rows that two seeds declare.
 */
async function rowProblems(root: Value, declared: Declaration, folder: string): Promise<Problem[]> {
  const claims = new RowClaims(folder);
  const problems: Problem[] = [];
  for (const { name, target, seeds } of seedsOf(declared)) {
    const found = (text: string): number => problems.push(...problemsIn(root, name, text));
    try {
      const urn = urnOf(name);
      const summary = await claims.summary({ urn, name, target });
      claims.claim(urn, target, summary.digest);
      problems.push(...(await filesWithoutRow(root, declared, { name, target }, folder)));
      const linkedSeeds = Object.fromEntries(
        Object.entries(seeds).map(([label, key]) => [label, urnOf(key.slice("SeedRows ".length))]),
      );
      for (const text of await problemsWith(claims, { urn, target, digest: summary.digest, linkedSeeds }, folder)) {
        found(text);
      }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      found(error.message);
    }
  }
  return problems;
}

/** A seed by the URN that a plan gives it: messages call it as the file does. */
const urnOf = (name: string): string => toPlannedUrn("SeedRows", name);

interface PlacedSeed {
  name: string;
  /** As its resource will have it, without what only the platform knows. */
  target: DeclaredSeed;
}

const seedsOf = (declared: Declaration): (PlacedSeed & Pick<DeclaredThing, "seeds">)[] =>
  things(declared).flatMap(
    ({ kind, path: [, name = ""], inputs, seeds }) =>
      kind === "SeedRows" ? [{ name, target: inputs as unknown as DeclaredSeed, seeds }] : [], // the file was checked
  );

/** Files of a seed on rows that it does not have. */
async function filesWithoutRow(
  root: Value,
  declared: Declaration,
  { name, target }: PlacedSeed,
  folder: string,
): Promise<Problem[]> {
  if (declared.seeds[name]?.files === undefined) return [];
  const there = new Set(await keysOf(target, folder));
  return things(declared).flatMap(({ kind, above, path, inputs }) => {
    if (kind !== "RowFile" || above !== `SeedRows ${name}`) return [];
    const wanted = keyOf(target.key, inputs["row"] as RowData); // as the file was checked
    if (there.has(wanted)) return [];
    const at = valuePlace(root, [...path, "row"]);
    return [{ at, message: `seed "${name}" has no row ${JSON.stringify(wanted)}; correct the key, or add the row` }];
  });
}

const isPlaced = /^(?:(?!: ).)+?:\d|^(?:additions|changes|removals|rows|secretLabels)\[\d/;

/** Problems of a text, a line each. A line without a place behind one that has one explains it, and is a part of it. */
function problemsIn(root: Value, name: string, text: string): Problem[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const last = lines.at(-1);
    if (last !== undefined && isPlaced.test(last) && !isPlaced.test(line)) lines.splice(-1, 1, `${last}. ${line}`);
    else lines.push(line);
  }
  return lines.map((line) => problemOf(root, name, line));
}

/** A sentence about rows at its place: a line of the source, or where the file has what is done to it. */
function problemOf(root: Value, name: string, line: string): Problem {
  const placeIn = (list: string, index: string): Place =>
    valuePlace(root, ["seeds", name, verbs[list] ?? list, Number(index)]);
  const text = line.replaceAll(position, (_, list: string, index: string) => describePlace(placeIn(list, index)));
  const [whole, file, at, column] = /^((?:(?!: ).)+?):(\d+)(?::(\d+))?(?=[: ])/.exec(text) ?? [];
  if (whole === undefined || file === undefined) return { at: keyPlace(root, ["seeds", name]), message: text };
  return {
    at: { file, line: Number(at), column: Number(column ?? 1) },
    message: text.slice(whole.length).replace(/^:? /, ""),
  };
}

const foldedKey = (value: unknown): unknown =>
  typeof value === "string" ? folded(value) : typeof value === "number" ? String(value) : value;

/** Natural keys of a seed that nobody can tell apart at a glance: two rows, where one was meant more likely. */
async function keysAlike(root: Value, { name, target }: PlacedSeed, folder: string): Promise<Problem[]> {
  if (target.sensitive || target.key.some((label) => target.secretLabels?.includes(label))) return [];
  const lines = new Map<string, { key: string; line: number }>();
  const found: Problem[] = [];
  for await (const block of read(target, folder)) {
    for (const { values, line } of block) {
      const key = keyOf(target.key, values);
      const bare = JSON.stringify(target.key.map((label) => foldedKey(values[label])));
      const twin = lines.get(bare);
      if (!twin) lines.set(bare, { key, line });
      else if (twin.key !== key) {
        const what = differenceOf(key, twin.key) ?? "their types";
        const text = `${placeOf(target, line)}: the key ${JSON.stringify(key)} differs from ${JSON.stringify(twin.key)} at ${placeOf(target, twin.line)} by ${what} alone: two rows; if one is meant, delete the other`;
        if (found.push(problemOf(root, name, text)) === maxAlike) return found;
      }
    }
  }
  return found;
}

/** Keys of one seed that look alike and are named. */
const maxAlike = 20;

/** Findings of a check; warnings stop nothing. */
interface Checked extends DeclarationReading {
  warnings: Problem[];
}

/** An Environment file with everything that is wrong about it, as far as that can be known without a platform. */
export async function checkEnvironment(file: string, folder: string): Promise<Checked> {
  const reading = readEnvironment(file, folder);
  const { root, declared, problems } = reading;
  // Rows of a part with problems would only repeat them.
  if (!root || !declared || problems.length > 0) return { ...reading, warnings: [] };
  const people = await checkPeople(root, declared, { directory: folder, day: today() });
  const found = [
    ...platformProblems(root, declared),
    ...people.problems,
    ...(await rowProblems(root, declared, folder)),
  ];
  const warnings = people.warnings;
  if (found.length === 0) for (const seed of seedsOf(declared)) warnings.push(...(await keysAlike(root, seed, folder)));
  return { ...reading, problems: found, warnings };
}

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
async function checkPeople(root: Value, declared: Declaration, place: PeoplePlace): Promise<Found> {
  const found: Found = { problems: [], warnings: [] };
  for (const placed of teamsOf(declared)) {
    const { team, path } = placed;
    const list = team.roster ? "roster" : "members";
    const at = keyPlace(root, [...path, list]);
    const { problems, ends } = await peopleOf(placed, place);
    const source = valuePlace(root, [...path, "roster", "source"]);
    for (const text of problems) found.problems.push(toProblem(text, team.roster?.source ? source : at));
    for (const text of sentencesOf(placed, ends)) found.warnings.push({ at, message: text });
  }
  if (found.problems.length === 0) found.warnings.push(...(await strangeTeams(declared, place)));
  return found;
}

/** What is said of the ends of people's membership, team by team. */
const endsOf =
  (describe: (placed: Placed, ends: Ends) => string[]) =>
  async (declared: Declaration, place: PeoplePlace): Promise<string[]> => {
    const all: string[] = [];
    for (const placed of teamsOf(declared)) all.push(...describe(placed, (await peopleOf(placed, place)).ends));
    return all;
  };

const sentencesOf = ({ name }: Placed, ends: Ends): string[] =>
  [...describeOver(ends, false), ...describeSoon(ends, false)].map((text) => `${name}: ${text}`);

/** Sentences about people whose end has passed, or comes soon. */
export const listEnds = endsOf(sentencesOf);

/** The people whose end has passed, by their teams: who they are on a day decides what a run does on it. */
export const listEnded = endsOf(({ name }, { over }) => over.map((one) => JSON.stringify([name, one])));

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

type Table = PlatformSeed["tables"][string];

/** A link of a seed: its label, its target, and its place in the file. */
interface Link {
  label: string;
  table: string;
  key: string;
  path: readonly string[];
}

/**
 * Contradictions between seeds and `platform` of the same file: missing or different tables and links. A file that
 * describes no tables there is not checked.
 */
function platformProblems(root: Value, declared: Declaration): Problem[] {
  const value = find(root, ["platform"])?.value;
  const platform = value && contents.safeParse(toPlainValue(value), { jitless: true }).data;
  const tables = new Map(Object.entries(platform?.tables ?? {}).map(([key, table]) => [table.id ?? key, table]));
  if (!platform || tables.size === 0) return [];
  const idOf = (key: string): string => entryIn(platform.tables, key)?.id ?? key;
  return Object.entries(declared.seeds).flatMap(([name, seed]) => {
    const problems: Problem[] = [];
    const at = (path: readonly string[], message: string): number =>
      problems.push({ at: valuePlace(root, ["seeds", name, ...path]), message });
    const missing = (table: string): string =>
      `platform has no table "${table}"; ${suggestion(table, [...tables.keys()])}`;
    const own = tables.get(seed.table);
    if (!own) at(["table"], missing(seed.table));
    for (const link of linksOf(declared, name)) {
      const target = tables.get(link.table);
      // The other seed reports a problem of its own table.
      if (!target && link.path.at(-1) !== "seed") at(link.path, missing(link.table));
      else if (target) for (const message of keyProblems(link, target)) at(link.path, message);
      if (!own || link.path[0] !== "references") continue;
      const wrong = fieldProblem(link, own, seed.table, target && idOf);
      if (wrong !== undefined) at(link.path.slice(0, 2), wrong);
    }
    const parent = own?.parent === undefined ? undefined : idOf(own.parent);
    const named = linksOf(declared, name).find(({ path }) => path[0] === "parent")?.table;
    if (own && named !== undefined && named !== parent) {
      const is = parent === undefined ? "no sub-table" : `a sub-table of "${parent}"`;
      at(["parent"], `table "${seed.table}" is ${is} under platform; correct parent, or platform`);
    }
    return problems;
  });
}

function linksOf({ seeds }: Declaration, name: string): Link[] {
  const seed = entryIn(seeds, name);
  return (seed ? linksIn(seed) : []).flatMap(({ label, to, path }) => {
    if (!("seed" in to)) return [{ label, table: to.table, key: to.key, path: [...path, "table"] }];
    const target = entryIn(seeds, to.seed);
    return target ? [{ label, table: target.table, key: target.key[0] ?? "", path: [...path, "seed"] }] : [];
  });
}

function keyProblems({ key, table }: Link, { fields }: Table): string[] {
  const labels = Object.keys(fields);
  if (labels.length === 0 || labels.includes(key)) return [];
  return [`table "${table}" has no field "${key}" under platform; ${suggestion(key, labels)}`];
}

/**
 * The reason why a label can't be the seed's link, if the table has fields.
 * @param idOf undefined where the linked table is missing, which is a problem by itself
 */
function fieldProblem(
  { label, table }: Link,
  { fields }: Table,
  own: string,
  idOf: ((key: string) => string) | undefined,
): string | undefined {
  const labels = Object.keys(fields);
  if (labels.length === 0) return undefined;
  const field = entryIn(fields, label);
  if (!field) return `table "${own}" has no field "${label}" under platform; ${suggestion(label, labels)}`;
  if (field.table === undefined)
    return `"${label}" of table "${own}" is a ${field.type} field under platform, no link; correct one of the two`;
  const leads = idOf?.(field.table);
  if (leads === undefined || leads === table) return undefined;
  return `"${label}" of table "${own}" links to table "${leads}" under platform, not to "${table}"; correct one of the two`;
}
