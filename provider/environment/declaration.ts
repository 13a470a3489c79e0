import { resolve } from "node:path";
import { fieldTypesOf } from "../../emulator/seed/file.ts";
import type { FieldType } from "../../platform/contract/fields.ts";
import { Mask } from "../../platform/messages/masks.ts";
import { keyPlace, type Problem, toPlainValue, type Value, valuePlace, without } from "../layers/document.ts";
import { type Layers, loadLayers, mergeLayers } from "../layers/layers.ts";
import type { Merged } from "../layers/merge.ts";
import { maxReported } from "../messages/firstLines.ts";
import { type ConfigLookup, type Configured, fillConfigured } from "./configured.ts";
import { checkFormerKeys, keyNow, spot } from "./formerKeys.ts";
import { grammar } from "./grammar.ts";
import type { Rule } from "./policy.ts";
import { checkKnown, EnvironmentError, type FileChecks, namesIn, problemsOf } from "./problems.ts";
import { checkRules, type HeldRule } from "./rules.ts";
import { environmentFile, type EnvironmentFile } from "./schema.ts";
import { secretTextsOf } from "./secretRows.ts";
import { checkSeed, checkSource, seedOrder } from "./seedChecks.ts";

/** An Environment file without mistakes. */
export interface Declaration extends Required<Pick<EnvironmentFile, "organizations" | "seeds" | "apps">> {
  rules: readonly Rule[];
  /** Logical names of the seeds, each after those that its rows refer to. */
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

interface Surroundings {
  folder: string;
  configuration: ConfigLookup | undefined;
  /** Problems of the files so far. */
  problems: Problem[];
  held?: readonly HeldRule[];
}

function readLayers(layers: Layers, { folder, configuration, problems, held = [] }: Surroundings): DeclarationReading {
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
  const result = environmentFile.safeParse(toPlainValue(root));
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
  const { organizations = {}, seeds = {}, apps = {}, rules = [] } = sound;
  const check: FileChecks = { root, folder, report, declared: { organizations, seeds, apps } };
  const placed = checkOrganizations(check, organizations);
  checkFormerKeys(check, "seed", ["seeds"], seeds, namesIn(root, ["seeds"]));
  checkFormerKeys(check, "app", ["apps"], apps, namesIn(root, ["apps"]));
  const located = Object.entries(seeds).map(([name, seed]) => [name, checkSeed(check, name, seed, seeds)] as const);
  const order = seedOrder(check, seeds);
  checkRules({ ...work, report: work.breaks, unknown: work.values.unknown, sound }, rules, work.held);
  return {
    organizations: placed,
    seeds: Object.fromEntries(located),
    apps,
    rules,
    seedOrder: order,
    fields: sound.platform ? fieldTypesOf(sound.platform) : {},
  };
}

/** The tree without the entries that have a problem: a member, a team, an organization, a seed, an app. */
function pruned(root: Value, issues: readonly { path: readonly PropertyKey[] }[]): Value {
  return issues.reduce<Value>((tree, { path }) => without(tree, path.slice(0, depth(path))), root);
}

function depth([kind, , inner, , innermost]: readonly PropertyKey[]): number {
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
    for (const [team, { members, roster }] of Object.entries(teams)) {
      const path = [...teamsPath, team];
      checkMembers(check, [...path, "members"], members ?? {});
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

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];
type Roster = NonNullable<Team["roster"]>;

function checkRoster(check: FileChecks, path: readonly string[], roster: Roster): void {
  const { root, report } = check;
  const { members, source } = roster;
  checkMembers(check, [...path, "members"], members ?? {});
  checkApp(check, path, roster);
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
    if (typeof member === "object") checkApp(check, [...path, email], member);
  }
}

/** Checks that the app opened by an invitation exists. */
function checkApp(
  { root, report, declared }: FileChecks,
  path: readonly string[],
  { targetInitialApp: target }: Opening,
): void {
  if (typeof target !== "object") return;
  const place = valuePlace(root, [...path, "targetInitialApp", "app"]);
  checkKnown(report, "app", target.app, namesIn(root, ["apps"]), place, keyNow(target.app, declared.apps));
}
