import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { FieldType } from "../contract/fields.ts";
import { find, keyPlace, plain, valuePlace, type Place, type Problem, type Value } from "../layers/document.ts";
import { loadLayers, mergedLayers, shown } from "../layers/layers.ts";
import { misnamed } from "../layers/writtenNumbers.ts";
import { refusedFormat } from "../sources/formats.ts";
import { linkedLabels } from "../sources/source.ts";
import { checkFormerKeys, keyNow, spot, teamNow } from "./formerKeys.ts";
import { grammar } from "./grammar.ts";
import { environmentError, problemsOf, suggestion } from "./problems.ts";
import { environmentFile, type EnvironmentFile, type SeedDeclaration } from "./schema.ts";

/** What an environment file declares, once nothing about it is wrong. */
export interface Declaration extends Required<Omit<EnvironmentFile, "platform">> {
  /** Logical names of the seeds, each after those that its rows refer to. */
  seedOrder: readonly string[];
  /** Types of the fields that its platform has: table ID → label → type. Values of rows are held against them. */
  fields: Readonly<Record<string, Readonly<Record<string, FieldType>>>>;
}

/**
 * Reads an environment file and everything that it extends, and checks all that can be checked without the platform.
 * Ends with one error that names every problem at its place. `folder` is the program's: sources become relative to it.
 */
export function declaration(file: string, folder: string): Declaration {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const layers = loadLayers(resolve(folder, file), { folder, grammar }, report);
  const { value: root } = mergedLayers(layers, report);
  const declared = root && checked(root, folder, report);
  if (problems.length > 0 || !declared) throw environmentError(file, problems);
  return declared;
}

function checked(root: Value, folder: string, report: (problem: Problem) => void): Declaration | undefined {
  if (root.kind === "scalar" ? root.value === null : root.kind === "map" && root.entries.size === 0) {
    report({ at: root.at, message: "declares nothing; an empty environment is written organizations: {}" });
    return undefined;
  }
  const result = environmentFile.safeParse(plain(root));
  if (!result.success) {
    for (const problem of problemsOf(result.error, environmentFile, root)) report(problem);
  }
  // What is sound is checked further all the same, so that everything is reported at once.
  const sound = result.success ? result.data : environmentFile.safeParse(plain(pruned(root, result.error.issues))).data;
  if (!sound) return undefined;
  const { organizations = {}, seeds = {}, apps = {} } = sound;
  const check: Check = { root, folder, report, declared: { organizations, seeds, apps } };
  checkOrganizations(check, organizations);
  checkFormerKeys(check, "seed", ["seeds"], seeds, namesIn(root, ["seeds"]));
  checkFormerKeys(check, "app", ["apps"], apps, namesIn(root, ["apps"]));
  const located = Object.entries(seeds).map(([name, seed]) => [name, checkedSeed(check, name, seed, seeds)] as const);
  const seedOrder = ordered(check, seeds);
  return { organizations, seeds: Object.fromEntries(located), apps, seedOrder, fields: fieldsOf(sound.platform) };
}

/** The fields of a platform's tables, of those that have any; none where it takes values of other types as well. */
function fieldsOf(platform: EnvironmentFile["platform"]): Declaration["fields"] {
  if (!platform?.settings.strict) return {};
  const tables = Object.entries(platform.tables).flatMap(([key, { id = key, fields }]) => {
    const types = Object.entries(fields).map(([label, { type }]) => [label, type] as const);
    return types.length === 0 ? [] : [[id, Object.fromEntries(types)] as const];
  });
  return Object.fromEntries(tables);
}

interface Check {
  root: Value;
  folder: string;
  report: (problem: Problem) => void;
  /** What of the file is sound. */
  declared: Omit<Declaration, "seedOrder" | "fields">;
}

/** The tree without the entries that have a problem: a member, a team, an organization, a seed, an app. */
function pruned(root: Value, issues: readonly { path: readonly PropertyKey[] }[]): Value {
  return issues.reduce<Value>((tree, { path }) => without(tree, path.slice(0, depth(path))), root);
}

function depth([kind, , inner, , innermost]: readonly PropertyKey[]): number {
  if (kind === "organizations" && inner === "teams") return innermost === "members" ? 6 : 4;
  return 2;
}

function without(tree: Value, [step, ...rest]: readonly PropertyKey[]): Value {
  if (tree.kind !== "map" || step === undefined) return tree;
  const entries = new Map(tree.entries);
  const entry = entries.get(String(step));
  if (!entry) return tree;
  if (rest.length === 0) entries.delete(String(step));
  else if (entry.value.kind === "map") entries.set(String(step), { ...entry, value: without(entry.value, rest) });
  else entries.delete(String(step));
  return { ...tree, entries };
}

function checkOrganizations(check: Check, organizations: Declaration["organizations"]): void {
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
      checkMembers(check, [...path, "roster", "members"], roster.members);
      checkApp(check, [...path, "roster"], roster);
      if (members) {
        const at = keyPlace(root, [...path, "roster"]);
        report({ at, message: `team "${team}" has members and a roster; declare its members in one of them` });
      }
    }
  }
}

type Members = NonNullable<NonNullable<Declaration["organizations"][string]["teams"]>[string]["members"]>;

function checkMembers(check: Check, path: readonly string[], members: Members): void {
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

/** Whether there is the app that an invitation opens. */
function checkApp(
  { root, report, declared }: Check,
  path: readonly string[],
  { targetInitialApp: target }: { targetInitialApp?: string | { app: string } | undefined },
): void {
  if (typeof target !== "object") return;
  const place = valuePlace(root, [...path, "targetInitialApp", "app"]);
  known(report, "app", target.app, namesIn(root, ["apps"]), place, keyNow(target.app, declared.apps));
}

/** Reports a name that is none of these; `now` is what it became, if it is a former one. */
function known(
  report: Check["report"],
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

/** The seeds that the rows of a seed refer to, each with the path of the mention below the seed. */
function mentions({ references = {}, parent }: SeedDeclaration): { seed: string; path: string[] }[] {
  const labels = Object.entries(references).flatMap(([label, rows]) =>
    "seed" in rows ? [{ seed: rows.seed, path: ["references", label, "seed"] }] : [],
  );
  return parent && "seed" in parent ? [...labels, { seed: parent.seed, path: ["parent", "seed"] }] : labels;
}

/** The seed with its source relative to the program's folder. */
function checkedSeed(check: Check, name: string, seed: SeedDeclaration, seeds: Declaration["seeds"]): SeedDeclaration {
  const { root, report, declared } = check;
  const path = ["seeds", name];
  for (const mention of mentions(seed)) {
    const at = valuePlace(root, [...path, ...mention.path]);
    known(report, "seed", mention.seed, namesIn(root, ["seeds"]), at, keyNow(mention.seed, seeds));
    const labels = seeds[mention.seed]?.key ?? [];
    if (labels.length > 1) {
      const message = `seed "${mention.seed}" has a key of ${labels.length} labels (${labels.join(", ")}); refer to rows that one label tells apart`;
      report({ at, message });
    }
  }
  for (const [index, viewer] of (seed.teamViewers ?? []).entries()) {
    if (typeof viewer === "string") continue;
    const names = namesIn(root, ["organizations"]).flatMap((organization) =>
      namesIn(root, ["organizations", organization, "teams"]).map((team) => `${organization}/${team}`),
    );
    const at = valuePlace(root, [...path, "teamViewers", index, "team"]);
    known(report, "team", viewer.team, names, at, teamNow(viewer.team, declared.organizations));
  }
  if (seed.rows && seed.source !== undefined) {
    report({ at: keyPlace(root, [...path, "source"]), message: "rows and source are both given; remove one of them" });
  } else if (!seed.rows && seed.source === undefined) {
    report({ at: keyPlace(root, path), message: `seed "${name}" has neither rows nor source; add one of them` });
  }
  if (seed.rows) {
    checkKeys(check, [...path, "rows"], seed.key, seed.rows);
    const labels = [...new Set([...seed.key, ...linkedLabels(seed)])];
    for (const index of seed.rows.keys()) checkWritten(check, [...path, "rows", index], labels);
  }
  checkRowEdits(check, path, seed);
  return seed.source === undefined ? seed : { ...seed, source: checkedSource(check, [...path, "source"], seed.source) };
}

function checkedSource({ root, folder, report }: Check, path: readonly string[], source: string): string {
  const at = valuePlace(root, path);
  if (isAbsolute(source)) {
    report({ at, message: `source "${source}" is an absolute path; name it relative to ${at.file}` });
    return source;
  }
  const file = resolve(folder, dirname(at.file), source);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) report({ at, message: `there is no file ${shown(file, folder)}; correct source` });
  else if (!found.isFile()) report({ at, message: `${shown(file, folder)} is no file; name the file with the rows` });
  else {
    const refusal = refusedFormat(file);
    if (refusal !== undefined) report({ at, message: `${shown(file, folder)} ${refusal}` });
  }
  return shown(file, folder);
}

type Rows = NonNullable<SeedDeclaration["rows"]>;

function checkKeys({ root, report }: Check, path: readonly string[], labels: readonly string[], rows: Rows): void {
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
      const said = labels.map((label) => `${label} ${JSON.stringify(row[label])}`).join(", ");
      const there = spot(valuePlace(root, [...path, twin, labels[0] ?? ""]), at);
      report({ at, message: `the row ${there} has the same natural key (${said}); change or remove one` });
    }
  }
}

/** What the verbs say of rows, as far as it does not depend on the source. */
function checkRowEdits(check: Check, path: readonly string[], seed: SeedDeclaration): void {
  const labels = [...new Set([...seed.key, ...linkedLabels(seed)])];
  for (const verb of ["rows+", "rows~"] as const) {
    if (!seed[verb]) continue;
    checkKeys(check, [...path, verb], seed.key, seed[verb]);
    for (const index of seed[verb].keys()) checkWritten(check, [...path, verb, index], labels);
  }
  for (const [index, removal] of (seed["rows-"] ?? []).entries()) {
    const here = [...path, "rows-", index];
    const values = [removal].flat();
    if (values.length !== seed.key.length) {
      const message = `a row is named by ${seed.key.join(" and ")}, not by ${values.length} values; correct it`;
      check.report({ at: valuePlace(check.root, here), message });
    }
    checkWritten(
      check,
      Array.isArray(removal) ? here : [...path, "rows-"],
      Array.isArray(removal) ? values.keys() : [index],
    );
  }
}

/** Keys of rows that are read as other numbers than stand there. */
function checkWritten({ root, report }: Check, row: readonly PropertyKey[], labels: Iterable<PropertyKey>): void {
  for (const label of labels) {
    const value = find(root, [...row, label])?.value;
    const reason = value?.kind === "scalar" ? misnamed(value.written, value.value) : undefined;
    const which = typeof label === "string" ? label : String(row.findLast((step) => typeof step === "string"));
    if (value && reason !== undefined) report({ at: value.at, message: `${which}: ${reason}` });
  }
}

/** The seeds such that each comes after those that its rows refer to. */
function ordered({ root, report }: Check, seeds: Declaration["seeds"]): string[] {
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
    done.add(name);
  };
  for (const name of Object.keys(seeds)) visit(name, [], root.at);
  return [...done];
}
