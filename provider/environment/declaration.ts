import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import type { FieldType } from "../../platform/contract/values.ts";
import { entryIn, isObject } from "../../platform/contract/wire.ts";
import { Mask, masked } from "../../platform/messages/masks.ts";
import { printableLine, maxReported, quote } from "../../platform/messages/text.ts";
import { fieldTypesOf, type Seed as PlatformSeed } from "../../platform/seed/schema.ts";
import {
  type Entry,
  explainMisnamed,
  find,
  keyPlace,
  type Mapping,
  type Place,
  type Problem,
  type Scalar,
  toPlainValue,
  type Value,
  describePlace,
  valuePlace,
  without,
} from "../layers/document.ts";
import { formsAt, type Layers, loadLayers, type Merged, mergeLayers, rowVerbs, toShownPath } from "../layers/layers.ts";
import { matcher } from "../people/people.ts";
import { findSettingProblems } from "../seedRows/inputs.ts";
import { explainRefusedFormat, leavesOf } from "../seedRows/source/source.ts";
import { EnvironmentError, problemsOf, suggestion, valueNamed } from "./problems.ts";
import {
  type ConfigLookup,
  type Configured,
  environmentFile,
  type EnvironmentFile,
  fillConfigured,
  grammar,
  isUnknown,
  linksIn,
  type Rule,
  type SeedDeclaration,
  listAdding,
} from "./schema.ts";

/** An Environment file without mistakes. */
export interface Declaration extends Required<
  Pick<EnvironmentFile, "organizations" | "seeds" | "apps" | "notifications">
> {
  rules: readonly Rule[];
  /** Logical names of the seeds, each after those that its rows refer to, or that add the rows which it updates or names. */
  seedOrder: readonly string[];
  /** Types of the fields that its platform has: table ID → label → type. Values of rows are held against them. */
  fields: Readonly<Record<string, Readonly<Record<string, FieldType>>>>;
  /** Where values stand that the configuration has as secrets. */
  secrets: readonly (readonly string[])[];
}

/** An Environment file with everything that it extends, whether it is sound or not. */
export interface DeclarationReading {
  layers: Layers;
  /** The merged content of the files, with places; values from the configuration as they are written. */
  root: Value | undefined;
  /** The parts without problems. */
  declared: Declaration | undefined;
  problems: readonly Problem[];
  /** True when only rules are broken: the declaration is complete then. */
  isWhole: boolean;
}

/**
 * Reads an environment file and everything that it extends, and checks all that can be checked without the platform.
 * Ends with one error that names every problem at its place. `folder` is the program's: sources become relative to it.
 */
export function declaration(file: string, folder: string, configuration?: ConfigLookup): Declaration {
  const { declared, problems } = readEnvironment(file, folder, configuration);
  if (problems.length > 0 || !declared) throw new EnvironmentError(file, problems);
  return declared;
}

/** Marks the values that come from secrets of the configuration, each by `mark`. */
export function withSecrets(declared: Declaration, mark: (value: unknown) => unknown): Declaration {
  for (const path of declared.secrets) {
    let holder = declared as unknown as Record<string, unknown>; // maps and lists all the way
    for (const step of path.slice(0, -1)) holder = holder[step] as Record<string, unknown>;
    const last = path.at(-1) ?? "";
    holder[last] = mark(holder[last]);
  }
  return declared;
}

/**
 * Reads an environment file as `declaration` does, but returns its problems instead of throwing them.
 * @param configuration of the stack; without one, values from it count as right
 * @param held rules of another version that hold as well
 */
export function readEnvironment(
  file: string,
  folder: string,
  configuration?: ConfigLookup,
  held: readonly HeldRule[] = [],
): DeclarationReading {
  const problems: Problem[] = [];
  const layers = loadLayers(resolve(folder, file), { folder, grammar }, (problem) => problems.push(problem));
  return readLayers(layers, { folder, configuration, problems, held });
}

interface ReadContext {
  folder: string;
  configuration: ConfigLookup | undefined;
  /** Problems of the files so far. */
  problems: Problem[];
  held?: readonly HeldRule[];
}

function readLayers(layers: Layers, { folder, configuration, problems, held = [] }: ReadContext): DeclarationReading {
  const report = (problem: Problem): void => void problems.push(problem);
  const merged = mergeLayers(layers, report);
  const root = merged.value;
  if (!root) return { layers, root, declared: undefined, problems, isWhole: false };
  const values = fillConfigured(root, configuration, report);
  let broken = 0;
  const breaks = (problem: Problem): void => {
    broken++;
    report(problem);
  };
  const declared = checked({ layers, merged, values, root: values.root, folder, report, breaks, held });
  const mask = new Mask([...values.hidden, ...secretTextsOf(values.root)]);
  const { secrets } = values;
  return {
    layers,
    root,
    declared: declared && { ...declared, secrets },
    problems: problems.map(({ at, message }) => ({ at, message: mask.hide(message) })),
    isWhole: problems.length === broken,
  };
}

interface Work {
  layers: Layers;
  merged: Merged;
  values: Configured;
  root: Value;
  folder: string;
  report: (problem: Problem) => void;
  /** Problems of broken rules. */
  breaks: (problem: Problem) => void;
  held: readonly HeldRule[];
}

function checked(work: Work): Omit<Declaration, "secrets"> | undefined {
  const { root, folder, report } = work;
  if (root.kind === "scalar" ? root.value === null : root.kind === "map" && root.entries.size === 0) {
    report({ at: root.at, message: "declares nothing; an empty environment is written organizations: {}" });
    return undefined;
  }
  // zod compiles each schema when it is used first, which takes longer than to check one file.
  const result = environmentFile.safeParse(toPlainValue(root), { jitless: true });
  if (!result.success) {
    for (const problem of problemsOf(result.error, environmentFile, root)) report(problem);
  }
  // Sound parts are checked further, so that everything is reported at once.
  // Where there are more problems than are reported, no more are looked for.
  if ((result.error?.issues.length ?? 0) > maxReported) return undefined;
  const sound = result.success
    ? result.data
    : environmentFile.safeParse(toPlainValue(pruned(root, result.error.issues))).data;
  if (!sound) return undefined;
  const { organizations = {}, seeds = {}, apps = {}, notifications = {}, rules = [] } = sound;
  const check: FileChecks = { root, folder, report, declared: { organizations, seeds, apps } };
  const placed = checkOrganizations(check, organizations);
  checkFormerKeys(check, "seed", ["seeds"], seeds, namesIn(root, ["seeds"]));
  checkFormerKeys(check, "app", ["apps"], apps, namesIn(root, ["apps"]));
  checkFormerKeys(check, "notification", ["notifications"], notifications, namesIn(root, ["notifications"]));
  for (const [name, { appID }] of Object.entries(notifications))
    checkApp(check, ["notifications", name, "appID"], appID);
  const located = Object.entries(seeds).map(([name, seed]) => [name, checkSeed(check, name, seed, seeds)] as const);
  checkFiles(check, seeds, sound.platform?.tables ?? {});
  const order = seedOrder(check, seeds);
  checkRules({ ...work, report: work.breaks, unknown: work.values.unknown, sound }, rules, work.held);
  return {
    organizations: placed,
    seeds: Object.fromEntries(located),
    apps,
    notifications,
    rules,
    seedOrder: order,
    fields: sound.platform ? fieldTypesOf(sound.platform) : {},
  };
}

/** State shared by the checks of a file. */
interface FileChecks {
  root: Value;
  folder: string;
  report: (problem: Problem) => void;
  /** The parts of the file without problems. */
  declared: Required<Pick<EnvironmentFile, "organizations" | "seeds" | "apps">>;
}

/** Reports a name that is none of these; `now` is what it became, if it is a former one. */
function checkKnown(
  report: FileChecks["report"],
  kind: string,
  name: string,
  names: string[],
  at: Place,
  now: string | undefined,
): void {
  if (names.includes(name)) return;
  const instead = now === undefined ? suggestion(name, names) : `it is called "${now}" now`;
  report({ at, message: `there is no ${kind} "${name}"; ${instead}` });
}

/** The keys of the map at a path, also of entries that are wrong inside. */
function namesIn(root: Value, path: readonly string[]): string[] {
  const value = find(root, path)?.value;
  return value?.kind === "map" ? [...value.entries.keys()] : [];
}

/** The tree without the entries that have a problem: a member, a team, an organization, a seed, an app. */
function pruned(root: Value, issues: readonly { path: readonly PropertyKey[] }[]): Value {
  return issues.reduce<Value>((tree, { path }) => without(tree, path.slice(0, depth(path))), root);
}

function depth([kind, , inner, , innermost]: readonly PropertyKey[]): number {
  if (kind === "seeds" && inner === "files") return 4;
  if (kind === "organizations" && inner === "teams") return innermost === "members" ? 6 : 4;
  return 2;
}

/** Checks organizations; returns them with the sources of rosters relative to the program's folder. */
function checkOrganizations(
  check: FileChecks,
  organizations: Declaration["organizations"],
): Declaration["organizations"] {
  const { root, report } = check;
  const names = new Map<string, string>();
  checkFormerKeys(check, "organization", ["organizations"], organizations, namesIn(root, ["organizations"]));
  for (const [organization, { name, teams = {} }] of Object.entries(organizations)) {
    const twin = names.get(name);
    if (twin !== undefined) {
      const at = valuePlace(root, ["organizations", organization, "name"]);
      report({ at, message: `organization "${twin}" has the name "${name}", too; names are unique, choose another` });
    }
    names.set(name, organization);
    const teamsPath = ["organizations", organization, "teams"];
    checkFormerKeys(check, "team", teamsPath, teams, namesIn(root, teamsPath));
    checkTeamNames(check, teamsPath, teams);
    for (const [team, { adminID, members, roster }] of Object.entries(teams)) {
      const path = [...teamsPath, team];
      const list = [...path, ...(roster ? ["roster", "members"] : ["members"])];
      checkMembers(check, [...path, "members"], members ?? {});
      const own: unknown = entryIn(roster?.members ?? members ?? {}, adminID ?? "");
      if ((isObject(own) ? own["role"] : own) === "member") {
        const at = keyPlace(root, [...list, adminID ?? ""]);
        const message = `${adminID ?? ""} is the adminID of this team and declared a plain member; declare admin`;
        report({ at, message });
      }
      if (!roster) continue;
      checkRoster(check, [...path, "roster"], roster);
      if (members) {
        const at = keyPlace(root, [...path, "roster"]);
        report({ at, message: `team "${team}" has members and a roster; declare its members in one of them` });
      }
    }
  }
  return Object.fromEntries(
    Object.entries(organizations).map(([name, { teams, ...organization }]) => {
      const at = ["organizations", name, "teams"];
      const placed = Object.entries(teams ?? {}).map(([key, team]) => [key, withSource(check, [...at, key], team)]);
      return [name, { ...organization, ...(teams ? { teams: Object.fromEntries(placed) as typeof teams } : {}) }];
    }),
  );
}

/** The team of everybody, which the platform makes with an organization. */
const ownTeam = "All Members";

/** Reports teams that no organization can have: two of one name, or of that of its own team. */
function checkTeamNames(
  { root, report }: FileChecks,
  path: readonly string[],
  teams: Readonly<Record<string, { name: string }>>,
): void {
  const first = new Map<string, string>();
  for (const [key, { name }] of Object.entries(teams)) {
    const twin = first.get(name);
    if (twin === undefined) first.set(name, key);
    if (twin === undefined && name !== ownTeam) continue;
    const whose = twin === undefined ? "every organization has a team of its own of this name" : `so is team "${twin}"`;
    const message = `a team is called ${quote(name)}, and ${whose}: choose another`;
    report({ at: valuePlace(root, [...path, key, "name"]), message });
  }
}

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];
type Roster = NonNullable<Team["roster"]>;

function checkRoster(check: FileChecks, path: readonly string[], roster: Roster): void {
  const { root, report } = check;
  const { members, source } = roster;
  checkMembers(check, [...path, "members"], members ?? {});
  checkApp(check, [...path, "targetInitialApp"], roster.targetInitialApp);
  if (members && source !== undefined)
    report({
      at: keyPlace(root, [...path, "source"]),
      message: "members and source are both given; remove one of them",
    });
  if (!members && source === undefined)
    report({ at: keyPlace(root, path), message: "the roster has neither members nor source; add one of them" });
}

function withSource(check: FileChecks, path: readonly string[], team: Team): Team {
  const { roster } = team;
  if (roster?.source === undefined) return team;
  return { ...team, roster: { ...roster, source: checkSource(check, [...path, "roster", "source"], roster.source) } };
}

/** A person with the place to which the invitation leads. */
interface Opening {
  role?: string | undefined;
  targetInitialApp?: string | { app: string } | undefined;
}

function checkMembers(
  check: FileChecks,
  path: readonly string[],
  members: Readonly<Record<string, string | Opening>>,
): void {
  const { root, report } = check;
  const addresses = new Map<string, string>();
  for (const [email, member] of Object.entries(members)) {
    const at = keyPlace(root, [...path, email]);
    const twin = addresses.get(email.toLowerCase());
    if (twin === undefined) addresses.set(email.toLowerCase(), email);
    else {
      const there = spot(keyPlace(root, [...path, twin]), at);
      report({ at, message: `"${email}" is the same member as "${twin}" ${there}; keep one of them` });
    }
    if (typeof member === "object") checkApp(check, [...path, email, "targetInitialApp"], member.targetInitialApp);
  }
}

/** Checks that an app of the file that something names exists. */
function checkApp(
  { root, report, declared }: FileChecks,
  path: readonly string[],
  target: string | { app: string } | undefined,
): void {
  if (typeof target !== "object") return;
  const place = valuePlace(root, [...path, "app"]);
  checkKnown(report, "app", target.app, namesIn(root, ["apps"]), place, keyNow(target.app, declared.apps));
}

type Seeds = Readonly<Record<string, SeedDeclaration>>;

/** The seeds that the rows of a seed refer to, each with the path of the mention below the seed. */
const mentions = (seed: SeedDeclaration): { seed: string; path: string[] }[] =>
  linksIn(seed).flatMap(({ to, path }) => ("seed" in to ? [{ seed: to.seed, path: [...path, "seed"] }] : []));

/** Reports files on fields of `platform` that hold none, or that are named by their labels. */
function checkFiles({ root, report }: FileChecks, seeds: Seeds, tables: PlatformSeed["tables"]): void {
  for (const [name, { table, files = {} }] of Object.entries(seeds)) {
    const own = Object.entries(tables).find(([key, { id = key }]) => id === table)?.[1];
    for (const [file, { fieldID }] of Object.entries(files)) {
      const message = own && fileProblem(fieldID, own, table);
      if (message !== undefined) report({ at: valuePlace(root, ["seeds", name, "files", file, "fieldID"]), message });
    }
  }
}

/** The reason why a file can't be on a field, as far as `platform` shows its ID. */
function fileProblem(fieldID: string, { fields }: PlatformSeed["tables"][string], table: string): string | undefined {
  const field = Object.values(fields).find(({ id }) => id === fieldID);
  if (field?.type === "file") return undefined;
  if (field)
    return `field "${fieldID}" of table "${table}" is a ${field.type} field under platform, and holds no file; correct one of the two`;
  const labelled = entryIn(fields, fieldID);
  if (!labelled) return undefined;
  const id = labelled.id === undefined ? "the platform made its ID: write that" : `its ID is ${labelled.id}`;
  return `"${fieldID}" is the label of a field of table "${table}", and ${id}`;
}

/** The seed with its source relative to the program's folder. */
function checkSeed(check: FileChecks, name: string, seed: SeedDeclaration, seeds: Seeds): SeedDeclaration {
  const { root, report, declared } = check;
  const path = ["seeds", name];
  for (const mention of mentions(seed)) {
    const at = valuePlace(root, [...path, ...mention.path]);
    checkKnown(report, "seed", mention.seed, namesIn(root, ["seeds"]), at, keyNow(mention.seed, seeds));
    const labels = seeds[mention.seed]?.key ?? [];
    if (labels.length > 1) {
      const message = `seed "${mention.seed}" has a key of ${labels.length} labels (${labels.join(", ")}); refer to rows that one label tells apart`;
      report({ at, message });
    }
  }
  // Links by a seed's name have what the check needs: their labels.
  const settings = { ...seed, fields: undefined } as Parameters<typeof findSettingProblems>[0];
  for (const { property, below, reason } of findSettingProblems(settings))
    report({ at: valuePlace(root, [...path, property, ...below]), message: reason });
  for (const [index, viewer] of (seed.teamViewers ?? []).entries()) {
    if (typeof viewer === "string") continue;
    const names = namesIn(root, ["organizations"]).flatMap((organization) =>
      namesIn(root, ["organizations", organization, "teams"]).map((team) => `${organization}/${team}`),
    );
    const at = valuePlace(root, [...path, "teamViewers", index, "team"]);
    checkKnown(report, "team", viewer.team, names, at, teamNow(viewer.team, declared.organizations));
  }
  if (seed.rows && seed.source !== undefined) {
    report({ at: keyPlace(root, [...path, "source"]), message: "rows and source are both given; remove one of them" });
  } else if (!seed.rows && seed.source === undefined) {
    report({ at: keyPlace(root, path), message: `seed "${name}" has neither rows nor source; add one of them` });
  }
  if (seed.rows) {
    checkKeys(check, [...path, "rows"], seed.key, seed.rows);
    for (const [index, row] of seed.rows.entries()) checkWritten(check, [...path, "rows", index], Object.keys(row));
  }
  checkRowEdits(check, path, seed);
  return {
    ...seed,
    ...(seed.source === undefined ? {} : { source: checkSource(check, [...path, "source"], seed.source) }),
  };
}

/** The path of a source from the program's folder; reports what is wrong with it. */
function checkSource(check: FileChecks, path: readonly string[], source: string): string {
  const { name, isFile } = checkFile(check, path, source);
  const refusal = isFile ? explainRefusedFormat(name) : undefined;
  if (refusal !== undefined) check.report({ at: valuePlace(check.root, path), message: `${name} ${refusal}` });
  return name;
}

/** The path of a file from the program's folder; reports where it is none. */
function checkFile(
  { root, folder, report }: FileChecks,
  path: readonly string[],
  value: string,
): { name: string; isFile: boolean } {
  const at = valuePlace(root, path);
  const property = path.at(-1) ?? "";
  if (isAbsolute(value)) {
    report({ at, message: `${property} "${value}" is an absolute path; name it relative to ${at.file}` });
    return { name: value, isFile: false };
  }
  const file = resolve(folder, dirname(at.file), value);
  const name = toShownPath(file, folder);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) report({ at, message: `there is no file ${name}; correct ${property}` });
  else if (!found.isFile()) report({ at, message: `${name} is not a file; name the file with the rows` });
  return { name, isFile: found?.isFile() ?? false };
}

type Rows = NonNullable<SeedDeclaration["rows"]>;

function checkKeys({ root, report }: FileChecks, path: readonly string[], labels: readonly string[], rows: Rows): void {
  const seen = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const here = [...path, index];
    const missing = labels.filter((label) => row[label] === undefined || row[label] === null || row[label] === "");
    if (missing.length > 0) {
      const message = `the row lacks ${missing.join(" and ")}, its natural key; add it`;
      report({ at: valuePlace(root, here), message });
      continue;
    }
    const key = JSON.stringify(labels.map((label) => row[label]));
    const twin = seen.get(key);
    if (twin === undefined) seen.set(key, index);
    else {
      const at = valuePlace(root, [...here, labels[0] ?? ""]);
      const labelled = labels.map((label) => `${label} ${JSON.stringify(row[label])}`).join(", ");
      const there = spot(valuePlace(root, [...path, twin, labels[0] ?? ""]), at);
      report({ at, message: `the row ${there} has the same natural key (${labelled}); change or remove one` });
    }
  }
}

/** Checks the verbs for rows, as far as that does not depend on the source. */
function checkRowEdits(check: FileChecks, path: readonly string[], seed: SeedDeclaration): void {
  for (const verb of ["rows+", "rows~"] as const) {
    if (!seed[verb]) continue;
    checkKeys(check, [...path, verb], seed.key, seed[verb]);
    for (const [index, row] of seed[verb].entries()) checkWritten(check, [...path, verb, index], Object.keys(row));
  }
  for (const [index, removal] of (seed["rows-"] ?? []).entries())
    checkNamed(check, [...path, "rows-"], index, removal, seed);
  for (const [name, { row }] of Object.entries(seed.files ?? {}))
    checkNamed(check, [...path, "files", name], "row", row, seed);
}

/** Checks a row that is named by its natural key. */
function checkNamed(
  check: FileChecks,
  above: readonly PropertyKey[],
  step: string | number,
  row: unknown,
  { key }: SeedDeclaration,
): void {
  const here = [...above, step];
  const values = [row].flat();
  if (values.length !== key.length) {
    const message = `a row is named by ${key.join(" and ")}, not by ${values.length} values; correct it`;
    check.report({ at: valuePlace(check.root, here), message });
  }
  checkWritten(check, Array.isArray(row) ? here : above, Array.isArray(row) ? values.keys() : [step]);
}

/** Cells of rows that are read as other numbers than stand there. */
function checkWritten({ root, report }: FileChecks, row: readonly PropertyKey[], labels: Iterable<PropertyKey>): void {
  for (const label of labels) {
    const value = find(root, [...row, label])?.value;
    const reason = value?.kind === "scalar" ? explainMisnamed(value.written, value.value) : undefined;
    const which = typeof label === "string" ? label : String(row.findLast((step) => typeof step === "string"));
    if (value && reason !== undefined) report({ at: value.at, message: `${which}: ${reason}` });
  }
}

/** The seeds that add rows which a seed updates or names by their table, but for those that wait for it in turn. */
function listFirst(name: string, seeds: Seeds): string[] {
  const leadsHere = (from: string, seen: Set<string>): boolean => {
    if (from === name) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    const next = seeds[from] ? mentions(seeds[from]).map(({ seed }) => seed) : [];
    return [...next, ...listAdding(from, seeds)].some((each) => leadsHere(each, seen));
  };
  return listAdding(name, seeds).filter((other) => !leadsHere(other, new Set()));
}

/** The seeds such that each comes after those that its rows refer to, or that add the rows which it updates or names. */
function seedOrder({ root, report }: FileChecks, seeds: Seeds): string[] {
  const done = new Set<string>();
  const visit = (name: string, chain: readonly string[], at: Place): void => {
    if (chain.includes(name)) {
      const circle = [...chain.slice(chain.indexOf(name)), name].join(" → ");
      report({
        at,
        message: `seeds refer to each other in a circle: ${circle}; leave one reference out, or refer to rows that are there already by {table, key}`,
      });
      return;
    }
    const seed = seeds[name];
    if (done.has(name) || !seed) return;
    for (const mention of mentions(seed)) {
      visit(mention.seed, [...chain, name], valuePlace(root, ["seeds", name, ...mention.path]));
    }
    for (const other of listFirst(name, seeds)) visit(other, [...chain, name], at);
    done.add(name);
  };
  for (const name of Object.keys(seeds)) visit(name, [], root.at);
  return [...done];
}

/** The files with rows and people that a declaration names. */
export const listSources = ({ seeds, organizations }: Pick<Declaration, "seeds" | "organizations">): string[] =>
  [
    ...Object.values(seeds).map(({ source }) => source),
    ...Object.values(organizations)
      .flatMap(({ teams = {} }) => Object.values(teams))
      .map(({ roster }) => roster?.source),
  ].flatMap((source) => source ?? []);

/** The path among the arguments of an Environment. Throws for what is no argument of it. */
export function fileAmong(args: Readonly<Record<string, unknown>>): string {
  for (const name of Object.keys(args).filter((each) => each !== "file" && args[each] !== undefined)) {
    const gone = answerRemoved("inputs", `Environment.${name}`);
    throw new Error(gone ?? `${printableLine(name)} is not an input of an Environment, which only has file`);
  }
  const { file } = args;
  if (typeof file !== "string") throw new Error("an Environment has a file, by its path as it stands");
  return file;
}

/** The former keys of an entry, as the file has them: one text or a list. */
export type Formerly = string | readonly string[] | undefined;

/** What an entry was before; what is listed twice, as an overlay may do, counts once. */
const formersIn = (formerly: Formerly): string[] =>
  formerly === undefined ? [] : [...new Set(typeof formerly === "string" ? [formerly] : formerly)];

const isUrn = (former: string): boolean => former.startsWith("urn:");

/** The keys that an entry had before. */
export const formerKeys = (formerly: Formerly): string[] => formersIn(formerly).filter((each) => !isUrn(each));

/** The URNs of the resources that an entry was before. */
export const formerUrns = (formerly: Formerly): string[] => formersIn(formerly).filter(isUrn);

/** Entries by the key that they have now. */
type Entries = Readonly<Record<string, { formerly?: Formerly }>>;

/** Where something stands, as seen from another place. */
const spot = (there: Place, from: Place): string =>
  there.line === 0
    ? `at ${there.file}`
    : there.file === from.file
      ? `in line ${there.line}`
      : `in ${there.file}:${there.line}`;

/**
 * Reports former keys that can't be meant: each is the key of one entry at most, and of none that is declared.
 * @param kind what the entries are, in the singular
 * @param path where their map stands
 * @param declared keys of the map, those of entries that are wrong inside among them
 */
function checkFormerKeys(
  { root, report }: FileChecks,
  kind: string,
  path: readonly string[],
  entries: Entries,
  declared: readonly string[],
): void {
  const takers = new Map<string, { key: string; at: Place }>();
  for (const [key, { formerly }] of Object.entries(entries)) {
    for (const former of formersIn(formerly)) {
      const at = placeOf(root, [...path, key, "formerly"], formerly, former);
      const taker = takers.get(former);
      if (former === key) {
        report({ at, message: `${kind} "${key}" has the key "${former}" now; remove it from formerly` });
      } else if (declared.includes(former)) {
        const there = spot(keyPlace(root, [...path, former]), at);
        report({
          at,
          message: `${kind} "${former}" is declared ${there}, so "${key}" is not what it became; remove one of the two, or give the one ${there} another key`,
        });
      } else if (taker) {
        const there = spot(taker.at, at);
        report({ at, message: `${kind} "${taker.key}" was "${former}" formerly, too (${there}); keep one of them` });
      } else takers.set(former, { key, at });
    }
  }
}

function placeOf(root: Value, path: readonly string[], formerly: Formerly, former: string): Place {
  const index = typeof formerly === "string" ? -1 : (formerly?.indexOf(former) ?? -1);
  return valuePlace(root, index < 0 ? path : [...path, index]);
}

/** The key that an entry has now which had this one formerly, if any. */
const keyNow = (former: string, entries: Entries): string | undefined =>
  Object.entries(entries).find(([, { formerly }]) => formerKeys(formerly).includes(former))?.[0];

/** Organizations with their teams, by the keys that they have now. */
type Organizations = Readonly<Record<string, { formerly?: Formerly; teams?: Entries | undefined }>>;

/** Current name of a team that is named by former keys of it or its organization; it may no longer be declared. */
function findPresentName(name: string, organizations: Organizations): string {
  const [organization = "", team = ""] = name.split("/");
  const keyOf = (key: string, entries: Entries): string =>
    Object.hasOwn(entries, key) ? key : (keyNow(key, entries) ?? key);
  const there = keyOf(organization, organizations);
  const teams = entryIn(organizations, there)?.teams;
  return `${there}/${keyOf(team, teams ?? {})}`;
}

/** The present name of a declared team. */
function teamNow(name: string, organizations: Organizations): string | undefined {
  const now = findPresentName(name, organizations);
  const [organization = "", team = ""] = now.split("/");
  const teams = entryIn(organizations, organization)?.teams;
  return teams && Object.hasOwn(teams, team) ? now : undefined;
}

const lists = ["rows", ...rowVerbs];

/** Replaces the secret values of a file's seeds by `form`. */
function withSecretRows(root: Value, form: (value: Value) => Value): Value {
  if (root.kind !== "map") return root;
  const sensitive = new Set<string>();
  const inSeeds = changed(root, "seeds", (seeds) =>
    each(seeds, (seed, name) => {
      if (seed.kind !== "map") return seed;
      const isSensitive = ![undefined, null, false].includes(valueOf(seed, "sensitive") as undefined);
      if (isSensitive) sensitive.add(name);
      const labels = new Set([valueOf(seed, "secretLabels")].flat().map(String));
      return lists.reduce<Mapping>(
        (all, list) =>
          changed(all, list, (rows) =>
            isSensitive
              ? form(rows)
              : each(rows, (row) => each(row, (cell, label) => (labels.has(label) ? form(cell) : cell))),
          ),
        seed,
      );
    }),
  );
  return inSeeds;
}

/** The file without secret cells of its rows; shows a value from the configuration by its key. */
export const withoutSecretRows = (root: Value): Value =>
  withSecretRows(root, (value) => {
    const isKey = value.kind === "map" && value.entries.size === 1 && value.entries.has("config");
    return isKey ? value : ({ kind: "scalar", at: value.at, value: masked } satisfies Scalar);
  });

/** The texts of rows that no message may show. */
function secretTextsOf(root: Value): string[] {
  const texts: string[] = [];
  withSecretRows(root, (value) => {
    texts.push(...leavesOf(toPlainValue(value)));
    return value;
  });
  return texts;
}

const valueOf = ({ entries }: Mapping, name: string): unknown => {
  const entry = entries.get(name);
  return entry && toPlainValue(entry.value);
};

function changed(map: Mapping, name: string, form: (value: Value) => Value): Mapping {
  const entry = map.entries.get(name);
  return entry ? { ...map, entries: new Map([...map.entries, [name, { ...entry, value: form(entry.value) }]]) } : map;
}

/** Each item of a list or map. */
function each(value: Value, form: (value: Value, name: string) => Value): Value {
  if (value.kind === "list") return { ...value, items: value.items.map((item, at) => form(item, String(at))) };
  if (value.kind !== "map") return value;
  const entries = [...value.entries].map(([name, entry]): [string, Entry] => [
    name,
    { ...entry, value: form(entry.value, name) },
  ]);
  return { ...value, entries: new Map(entries) };
}

// Rules of a layer for itself and all that extend it.

/** A file whose rules are to hold. */
interface Ruled extends Pick<Work, "layers" | "merged" | "root" | "report"> {
  /** Where values stand that only a stack knows. */
  unknown: ReadonlySet<string>;
  /** The parts without problems, with the defaults of the file. */
  sound: unknown;
}

/** A rule of another version of the file, which holds as well, and where it stands there. */
export interface HeldRule {
  rule: Rule;
  at: Place;
}

/** Reports each rule that is broken, with its own place, and each that can't be meant. */
function checkRules(ruled: Ruled, rules: readonly Rule[], held: readonly HeldRule[] = []): void {
  const { root, report } = ruled;
  for (const { rule, at } of held) {
    if (rules.some((one) => isDeepStrictEqual(one, rule))) continue;
    const steps = stepsOf(rule.path);
    if (steps) new Judge(ruled, rule, at, "the base's rule").check(steps);
  }
  for (const [index, rule] of rules.entries()) {
    const here = ["rules", index];
    const at = keyPlace(root, here);
    const steps = stepsOf(rule.path);
    const path = typeof rule.path === "string" ? rule.path : rule.path.join(".");
    if (!steps) {
      const message = `nothing in an Environment file can stand at ${path}; correct the path`;
      report({ at: valuePlace(root, [...here, "path"]), message });
      continue;
    }
    const { atMost, atLeast, only, fixed, never, required } = rule;
    if ([atMost, atLeast, only, fixed, never, required].every((kind) => kind === undefined)) {
      report({ at, message: "the rule is empty; give it atMost, atLeast, only, fixed, never or required" });
    }
    const isBounded = atMost !== undefined || atLeast !== undefined;
    if (isBounded && !formsAt(environmentFile, steps).some((form) => form instanceof z.ZodNumber)) {
      report({ at, message: `${path} is not a number; use only, fixed, never or required` });
      continue;
    }
    new Judge(ruled, rule, at).check(steps);
  }
}

/**
 * The steps of a path; undefined when nothing of the schema can stand there. The dots of an e-mail address belong to it;
 * for other keys with dots there are lists.
 */
function stepsOf(path: Rule["path"]): string[] | undefined {
  if (typeof path !== "string") return formsAt(environmentFile, path).length > 0 ? path : undefined;
  const walk = (schema: z.core.$ZodType, parts: readonly string[]): string[] | undefined => {
    const [first, ...rest] = parts;
    if (first === undefined) return [];
    for (const form of formsAt(schema, [])) {
      if (form instanceof z.ZodObject && Object.hasOwn(form.shape, first)) {
        const below = walk((form.shape as z.core.$ZodShape)[first] ?? form, rest);
        if (below) return [first, ...below];
      }
      if (!(form instanceof z.ZodRecord)) continue;
      for (let count = 1; count <= parts.length; count++) {
        const key = parts.slice(0, count).join(".");
        // Else a misspelt key would be a part of the name before it.
        if (count > 1 && !key.includes("@")) continue;
        const below = walk(form.valueType, parts.slice(count));
        if (below) return [key, ...below];
      }
    }
    return undefined;
  };
  return walk(environmentFile, path.split("."));
}

interface Match {
  path: string[];
  value: unknown;
}

/** The values at the steps; with `partly`, also where only the steps after the last pattern lead to nothing. */
function matches(content: unknown, steps: readonly string[], partly = false): Match[] {
  const isPattern = (step: string): boolean => step.includes("*");
  const last = steps.findLastIndex(isPattern);
  let found: Match[] = [{ path: [], value: content }];
  for (const [index, step] of steps.entries()) {
    found = found.flatMap(({ path, value }) => {
      // The role of a member may stand for the member.
      if (step === "role" && typeof value === "string") return [{ path, value }];
      const fits = matcher(step);
      const keys = !isObject(value) ? [] : isPattern(step) ? Object.keys(value).filter(fits) : [step];
      const below = keys.map((key) => ({ path: [...path, key], value: isObject(value) ? value[key] : undefined }));
      if (partly && index > last && below.length === 0) return [{ path: [...path, step], value: undefined }];
      return below.filter(({ value }) => partly || value !== undefined);
    });
  }
  return found;
}

class Judge {
  readonly #ruled: Ruled;
  readonly #rule: Rule;
  readonly #at: Place;
  readonly #sentence: string;

  constructor(ruled: Ruled, rule: Rule, at: Place, named = "the rule") {
    this.#ruled = ruled;
    this.#rule = rule;
    const because = rule.because === undefined ? "" : `, because ${rule.because}`;
    this.#sentence = `${named} at ${describePlace(at)} says %${because}`;
    this.#at = at;
  }

  check(steps: readonly string[]): void {
    const { atMost, atLeast, only, fixed, never, required } = this.#rule;
    const { root, sound, unknown } = this.#ruled;
    for (const { path, value } of matches(sound, steps)) {
      if (isUnknown(unknown, path)) continue;
      if (atMost !== undefined && !(typeof value === "number" && value <= atMost)) {
        this.#broken(path, value, `at most ${atMost}`);
      }
      if (atLeast !== undefined && !(typeof value === "number" && value >= atLeast)) {
        this.#broken(path, value, `at least ${atLeast}`);
      }
      const values = Array.isArray(value) ? (value as unknown[]) : [value];
      const other = only && values.find((one) => !(only as unknown[]).includes(one));
      if (other !== undefined) this.#broken(path, other, `only ${only?.join(" or ") ?? ""}`);
    }
    const written = toPlainValue(root);
    if (never) {
      for (const { path, value } of matches(written, steps)) {
        if (value !== false && value !== null) this.#broken(path, value, "never");
      }
    }
    if (required) {
      for (const { path, value } of matches(written, steps, true)) {
        if (value === undefined || value === null) this.#broken(path, undefined, "it is required");
      }
    }
    if (fixed) this.#checkFixed(steps);
  }

  /** Checks that all layers together have the values of the layers up to the rule's. */
  #checkFixed(steps: readonly string[]): void {
    const { layers, merged, root } = this.#ruled;
    const index = layers.trees.findIndex(({ at }) => at.file === this.#at.file);
    const before = mergeLayers(layers, () => undefined, index + 1).value;
    if (!before) return;
    for (const { path, value } of matches(toPlainValue(before), steps)) {
      const now = find(merged.value ?? root, path)?.value;
      if (now && isDeepStrictEqual(toPlainValue(now), value)) continue;
      const reason = `it stays ${valueNamed(find(before, path)?.value)} (${describePlace(valuePlace(before, path))})`;
      if (now) this.#broken(path, toPlainValue(now), reason);
      else {
        const taken = path.flatMap((_, at) => merged.taken.get(JSON.stringify(path.slice(0, at + 1))) ?? []);
        const at = taken[0] ?? keyPlace(root, path);
        this.#ruled.report({ at, message: `${path.join(".")} is removed; ${this.#saying(reason)}` });
      }
    }
  }

  #broken(path: readonly string[], value: unknown, reason: string): void {
    const { root, report } = this.#ruled;
    const written = find(root, path)?.value;
    const what = written
      ? ` is ${valueNamed(written)}`
      : value === undefined
        ? " is missing"
        : ` is ${JSON.stringify(value)} by default`;
    const at = written?.at ?? keyPlace(root, path);
    report({ at, message: `${path.join(".")}${what}; ${this.#saying(reason)}` });
  }

  #saying(sentence: string): string {
    return this.#sentence.replace("%", () => sentence);
  }
}
