import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { stringify } from "yaml";
import { messageOf } from "../../machine/failures.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { entryIn } from "../../platform/contract/wire.ts";
import { formatCount, some } from "../../platform/messages/text.ts";
import { listLinkedInputs, things } from "../../provider/environment/things.ts";
import { toSlashes } from "../../provider/files/files.ts";
import { nameOf } from "../../provider/people/people.ts";
import { dynamicType, providerOf, environmentType } from "../../provider/pulumi/names.ts";
import {
  check,
  inputsIn,
  pickSettable,
  type Properties,
  secretSignature,
  secretsOf,
  signature,
} from "../../provider/pulumi/properties.ts";
import type { Resource, Context } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { seedRows } from "../../provider/resources/seedRows.ts";
import { modeline, packageSchemaFrom } from "../tableSchema/outputs.ts";
import { DumpMask, type MaskRequest, type MasksFile, pasted } from "./masks.ts";
import { declareOrganizations, type DumpedOrganization, readOrganizations, unlessEmpty } from "./people.ts";
import { type DumpedSeed, inJson, isOfLinks, nameLinksFile, seedsOf, writeSeed } from "./seeds.ts";
import { DumpError, type TableOption, TableRows } from "./tables.ts";

/** Selection and form of a dump. */
export interface DumpRequest {
  organizations: readonly string[];
  teams: readonly string[];
  tables: readonly TableOption[];
  /** Which import file is written beside the environment. */
  importFor: ImportTarget | "none";
  /** Name of the Environment in the program. */
  name: string;
  force: boolean;
  /** Masks for what is to leave the house. */
  mask?: MaskRequest | undefined;
}

/** Contents of a finished dump. */
export interface DumpSummary {
  organizations: number;
  teams: number;
  members: number;
  tables: { table: string; seed: string; file: string; rows: number }[];
  /** Written files, below the folder. */
  files: string[];
  /** Notes on what the files can't declare. */
  warnings: string[];
  /** Labels of a masked dump that stand in it as they are. */
  unmasked?: string[];
}

const environmentName = "environment.yaml";
const importName = "import.json";

/** Reads what is asked for and writes it into the folder, all of it or nothing. `context` may read only. */
export async function dump(context: Context, request: DumpRequest, folder: string): Promise<DumpSummary> {
  const { tables, importFor, force } = request;
  const own = tables.map(({ file }) => file);
  const rowFiles = own.flatMap((file) => [file, nameLinksFile(file, own)]);
  const files = [
    ...new Set([environmentName, ...rowFiles, ...rowFiles.map(inJson), ...(importFor === "none" ? [] : [importName])]),
  ];
  refuse(request, files, folder);
  const mask = request.mask && new DumpMask(request.mask, tables);
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const firstMade = mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.part-`);
  try {
    const organizations = await readOrganizations(context, request.organizations, request.teams, warn, mask);
    const read: TableRows[] = [];
    for (const option of tables) read.push(await TableRows.read(context, option, mask?.tableMask(option)));
    mask?.assertComplete();
    const filled = read.filter(({ count, option }) => {
      if (count === 0) warn(`table ${option.table} has no rows: it is left out`);
      return count > 0;
    });
    const declared = seedsOf(filled, warn);
    const main = declared.filter((seed) => !isOfLinks(seed));
    if (mask) refuseOpenLinks(main);
    const { seeds, whole } = await writeSeeds(declared, draft, warn, mask);
    for (const seed of seeds)
      if (importFor !== "none" && !whole.includes(seed)) warn(leftOut(seed, "links of it lead to rows that are gone"));
    const text = environmentText(organizations, seeds, folder, mask !== undefined);
    writeFileSync(join(draft, environmentName), text, { mode: 0o600 });
    if (importFor !== "none") {
      const [below = ""] = [toSlashes(relative(context.directory, folder))].filter(
        (path) => !/^(\.\.|\/|\w:)/.test(path),
      );
      const existing = [...existingPeople(organizations), ...(await existingSeeds(context, whole, draft, warn))];
      writeFileSync(join(draft, importName), importText(existing, importFor, request.name, below), { mode: 0o600 });
    }
    context.signal.throwIfAborted();
    const written = publish(files, draft, folder, force);
    const more = mask ? { unmasked: listUnmasked(mask) } : {};
    return { ...counted(organizations, main), files: written, warnings, ...more };
  } finally {
    rmSync(draft, { recursive: true, force: true });
    if (firstMade !== undefined) removeEmpty(dirname(folder), firstMade);
  }
}

/** Removes a folder and those above it up to `last`, as long as they are empty: a dump that failed leaves nothing. */
function removeEmpty(folder: string, last: string): void {
  const above = resolve(last);
  for (let at = resolve(folder); at.length >= above.length && readdirSync(at).length === 0; at = dirname(at))
    rmdirSync(at);
}

/** Writes the files of seeds; returns those with rows, and the complete ones. */
async function writeSeeds(
  declared: readonly DumpedSeed[],
  draft: string,
  warn: (text: string) => void,
  mask: DumpMask | undefined,
): Promise<{ seeds: DumpedSeed[]; whole: DumpedSeed[] }> {
  const main = declared.filter((seed) => !isOfLinks(seed));
  const seeds: DumpedSeed[] = [];
  const whole: DumpedSeed[] = [];
  for (const seed of declared) {
    const { count, isWhole } = await writeSeed(seed, draft, warn, mask?.dateMover(seed, main));
    if (isOfLinks(seed) && count === 0) {
      // All of them led to rows that are gone.
      rmSync(join(draft, seed.declaration.source));
      continue;
    }
    seeds.push(seed);
    if (isWhole) whole.push(seed);
  }
  return { seeds, whole };
}

/** Throws where links lead to rows that are not dumped: their IDs must not be written. */
function refuseOpenLinks(seeds: readonly DumpedSeed[]): void {
  for (const { rows, references } of seeds) {
    const open = rows.columns.links.find(([label]) => !references.has(label));
    if (open)
      throw new DumpError(
        `table ${rows.option.table}: "${open[0]}" leads to rows of a table that is not dumped, or that has no key of one label, and IDs of the platform are not written: dump that table as well, or write drop as its rule`,
      );
  }
}

/** The environment file of what was dumped into a folder. A masked one has an emulated platform, and no ID of the other one. */
function environmentText(
  organizations: readonly DumpedOrganization[],
  seeds: readonly DumpedSeed[],
  folder: string,
  isMasked = false,
): string {
  const tables = Object.fromEntries(
    seeds.map(({ name, rows, declaration }) => [
      name,
      isMasked ? { ...declaration, table: rows.option.seed } : declaration,
    ]),
  );
  const content = {
    ...unlessEmpty("organizations", declareOrganizations(organizations)),
    ...unlessEmpty("seeds", tables),
    ...(isMasked ? { platform: platformOf(seeds.filter((seed) => !isOfLinks(seed))) } : {}),
  };
  return modeline(packageSchemaFrom(folder)) + stringify(content, { lineWidth: 0 });
}

/** An emulated platform with the tables of the seeds. */
function platformOf(seeds: readonly DumpedSeed[]): object {
  const typesOf = ({ rows, references }: DumpedSeed) =>
    rows.columns.labels.filter((label) => !references.has(label)).map((label) => rows.columns.typeOf(label));
  const isStrict = !seeds.some((seed) => typesOf(seed).some((type) => type === "boolean" || type === "json"));
  const tables = seeds.map(({ rows, references, parent }) => {
    const fields = rows.columns.labels.map((label): [string, unknown] => {
      const target = references.get(label);
      if (target) {
        const { seed, key } = target.option;
        return [label, { type: "linked", table: seed, field: key[0] }];
      }
      return [label, rows.columns.typeOf(label) === "number" ? "number" : "text"];
    });
    return [
      rows.option.seed,
      { ...(parent ? { parent: parent.rows.option.seed } : {}), fields: Object.fromEntries(fields) },
    ] as const;
  });
  return { tables: Object.fromEntries(tables), ...(isStrict ? {} : { settings: { strict: false } }) };
}

/** Renames what was written into the folder; returns its files. */
function publish(files: readonly string[], draft: string, folder: string, force: boolean): string[] {
  const written = files.filter((file) => existsSync(join(draft, file)));
  for (const file of written) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    renameSync(join(draft, file), join(folder, file));
  }
  // A leftover file of an earlier dump would be taken for a part of this one.
  if (force) for (const file of files) if (!written.includes(file)) rmSync(join(folder, file), { force: true });
  return written;
}

/** Labels that stand in a masked dump as they are, `<table>.<label>`. */
const listUnmasked = ({ tables }: DumpMask): string[] =>
  tables.flatMap(({ option, labels }) =>
    labels.flatMap(({ label, rule, values }) =>
      values > 0 && (rule === undefined || rule.rule.kind === "keep") ? [`${option.table}.${label}`] : [],
    ),
  );

/** Ends when the request can't be carried out, before anything is read. */
function refuse(request: DumpRequest, files: readonly string[], folder: string): void {
  const { organizations, teams, tables, force, mask } = request;
  if (organizations.length + teams.length + tables.length === 0) {
    throw new DumpError(
      "say what to dump: --organization <id>, --team <id>, --table <id>:<key label>; or --stack <name>, whose state knows",
    );
  }
  for (const each of ["table", "seed", "file"] as const) {
    const all = tables.map((option) => option[each]);
    const twice = all.find((one, index) => all.indexOf(one) < index);
    if (twice !== undefined)
      throw new DumpError(`two --table have the same ${each}, ${twice}: name another file after the key`);
  }
  if (mask) refuseStrangers(folder, files);
  const there = files.filter((file) => existsSync(join(folder, file)));
  if (there.length > 0 && !force) {
    throw new DumpError(`${folder} has ${there.join(", ")} already: choose another folder, or overwrite with --force`);
  }
}

/** Files of an earlier dump in clear would leave the house beside a masked one. */
function refuseStrangers(folder: string, files: readonly string[]): void {
  if (!existsSync(folder)) return;
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory());
  const strange = all
    .map(({ parentPath, name }) => toSlashes(relative(folder, join(parentPath, name))))
    .filter((file) => !files.includes(file));
  if (strange.length > 0)
    throw new DumpError(
      `${folder} has ${some(strange, 3)} beside what is dumped: a masked dump takes a folder of its own, so that no plain text goes with it`,
    );
}

const leftOut = ({ rows }: DumpedSeed, reason: string): string =>
  `table ${rows.option.table} is left out of ${importName}, since its rows are not as its file says: ${reason}`;

async function existingSeeds(
  context: Context,
  seeds: readonly DumpedSeed[],
  draft: string,
  warn: (text: string) => void,
): Promise<Existing[]> {
  const found: Existing[] = [];
  for (const seed of seeds) {
    try {
      found.push(await existingSeed({ ...context, directory: draft }, seed));
    } catch (error) {
      if (context.signal.aborted) throw error;
      const reason = messageOf(error);
      warn(leftOut(seed, reason));
    }
  }
  return found;
}

function counted(organizations: readonly DumpedOrganization[], seeds: readonly DumpedSeed[]) {
  const teams = organizations.flatMap((one) => one.teams);
  return {
    organizations: organizations.length,
    teams: teams.length,
    members: teams.flatMap(({ members }) => members).length,
    tables: seeds.map(({ rows: { option, count }, declaration }) => ({
      ...{ table: option.table, seed: option.seed, file: declaration.source, rows: count },
    })),
  };
}

/** Effects of a masks file. */
interface MasksCheck {
  labels: { table: string; label: string; rule: string | undefined; values: number; unmasked: boolean }[];
  /** Reasons for which a dump would stop. */
  problems: string[];
  /** Rules to write for the labels that have none, as YAML. */
  missing: string;
}

/** Reads the tables, and finds out what the rules of a masks file would leave unmasked. Writes nothing and needs no secret. */
export async function checkMasks(
  context: Context,
  file: MasksFile,
  { tables, organizations, teams }: Pick<DumpRequest, "tables" | "organizations" | "teams">,
): Promise<MasksCheck> {
  if (tables.length + organizations.length + teams.length === 0)
    throw new DumpError(
      "say what to check: --table <id>:<key label>, --team <id>; or --stack <name>, whose state knows",
    );
  const mask = new DumpMask({ file, secret: randomBytes(32).toString("hex") }, tables);
  for (const option of tables) await TableRows.read(context, option, mask.tableMask(option));
  const has = { organizations: organizations.length + teams.length > 0, teams: teams.length > 0 };
  const unruled = (["organizations", "teams"] as const).flatMap((what) =>
    has[what] && !file[what] ? [`${what} have no rule: write ${what}: {name: keep} or ${what}: {name: name}`] : [],
  );
  const unmasked = listUnmasked(mask);
  const labels = mask.tables.flatMap(({ option: { table }, labels }) =>
    labels.map(({ label, rule, values, links }) => ({
      ...{ table, label, values: values + links, unmasked: unmasked.includes(`${table}.${label}`) },
      rule: rule?.rule.kind ?? (values === 0 && links > 0 ? "link" : undefined),
    })),
  );
  return { labels, problems: [...mask.listProblems(), ...unruled], missing: mask.listMissing() };
}

/** The check for people. It quotes no value. */
export function describeCheck({ labels, problems, missing }: MasksCheck): string {
  const lines = labels.map(
    ({ table, label, rule, values, unmasked }) =>
      `  ${table}.${label}: ${rule ?? "no rule"}, ${formatCount(values, "value")}${unmasked ? ", unmasked" : ""}`,
  );
  const outcome =
    problems.length === 0
      ? ["A dump has all the rules that it needs."]
      : ["A dump would stop:", ...problems.map((text) => `  ${text}`)];
  return ["Rules by label:", ...lines, ...outcome, ...pasted(missing)].join("\n");
}

/** A resource that is on the platform, as a state has it. */
export interface Existing {
  /** Name of the type. */
  type: string;
  /** Logical names, from the organization or seed down. */
  path: string[];
  id: string;
  inputs: Properties;
  outputs: Properties;
}

const stateOf = (definition: unknown, path: string[], id: string, outputs: Properties): Existing => {
  const resource = definition as Resource; // as the list of all resources has it
  return { type: resource.name, path, id, inputs: inputsIn(resource, outputs), outputs };
};

/** Organizations, teams and members as an import would leave them: the things that the file declares. */
function existingPeople(organizations: readonly DumpedOrganization[]): Existing[] {
  const ids = new Map<string, string>();
  const declared = {
    organizations: declareOrganizations(organizations),
    seeds: {},
    seedOrder: [],
    apps: {},
    notifications: {},
    fields: {},
  };
  return things(declared).map((thing) => {
    const { id, ...more } = findOnPlatform(organizations, thing.path);
    ids.set(thing.key, id);
    const links = listLinkedInputs(thing, ({ of = "" }) => ids.get(of));
    const outputs = { ...links, ...withoutUndefined(thing.inputs), ...more };
    return stateOf(resourceNamed(thing.kind), thing.name.now.slice(1).split("/"), id, outputs);
  });
}

/** The ID of what stands at a path of the file. */
function findOnPlatform(
  organizations: readonly DumpedOrganization[],
  [, organizationKey, , teamKey, , name]: readonly string[],
): { id: string; memberUserID?: string } {
  const organization = organizations.find(({ key }) => key === organizationKey);
  const team = organization?.teams.find(({ key }) => key === teamKey);
  const member = team?.members.find((one) => nameOf(one) === name);
  if (team && member) return { id: `${team.id}/${member.userID}`, memberUserID: member.userID };
  return { id: (team ?? organization)?.id ?? "" };
}

/**
 * The state of a seed that owns its rows: the result of creating it, since everything exists already. With a client
 * that may only read, this also proves that the file matches the table. Throws when it does not.
 */
async function existingSeed(
  context: Context,
  { name, declaration, references, parent }: DumpedSeed,
): Promise<Existing> {
  const keyed = ({ option: { table, key } }: TableRows) => ({ table, key: key[0] ?? "" });
  const linked = [...references].flatMap(([label, target]) =>
    entryIn(declaration.references, label) ? [[label, keyed(target)] as const] : [],
  );
  const declared = {
    ...declaration,
    ...(linked.length > 0 ? { references: Object.fromEntries(linked) } : {}),
    ...(parent ? { parent: { ...keyed(parent.rows), by: parent.by } } : {}),
  };
  const definition = seedRows as unknown as Resource; // as the list of all resources has it
  const { inputs, problems } = await check(definition, { ...context, seed: () => randomBytes(32) }, {}, declared);
  if (problems.length > 0) throw new Error(problems.map(({ reason }) => reason).join("\n"));
  const { id, outputs } = await definition.create(context, inputs);
  const { found: _, ...owned } = outputs; // an imported seed owns its rows, so none counts as found
  return { type: definition.name, path: [name], id, inputs, outputs: owned };
}

/** Resources of an Environment of files alone, of one in a program, or single ones of the plugin. */
type ImportTarget = "files" | "dynamic" | "plugin";

/**
 * The file for `pulumi import --file`. Resources of an Environment have the names and parents that it gives them. For dynamic
 * resources, whose import calls no provider, each entry has the whole state. For the plugin, which reads what it imports,
 * IDs are enough, except for rows, which have none.
 * @param folder of the dump, from the program's folder, in which an import runs
 */
function importText(dumped: readonly Existing[], target: ImportTarget, environment: string, folder: string): string {
  const inFolder = ({ source, ...rest }: Properties): Properties =>
    typeof source === "string" ? { ...rest, source: posix.join(folder, source) } : rest;
  const existing = dumped.map((one) => ({ ...one, inputs: inFolder(one.inputs), outputs: inFolder(one.outputs) }));
  const nameOf = (path: readonly string[]): string => [environment, ...path].join("/");
  const below = (one: Existing): object => ({
    ...(target === "files" ? pluginEntry(one) : dynamicEntry(one)),
    // Only teams and members have a parent that is a resource itself.
    ...{ name: nameOf(one.path), parent: nameOf(one.path.slice(0, -1)) },
  });
  const component = { type: environmentType, name: environment, component: true };
  const resources = target === "plugin" ? existing.map(pluginEntry) : [component, ...existing.map(below)];
  return `${JSON.stringify({ resources }, undefined, 2)}\n`;
}

function dynamicEntry({ type, id, inputs, outputs }: Existing): object {
  const own = (properties: Properties): Properties => ({
    ...inSecret(type, properties),
    __provider: providerOf(type),
  });
  // A check gives an engine outputs that are known already, and refuses them as inputs.
  const declared = Object.entries(inputs).filter(([name]) => name in (resourceNamed(type)?.inputs.shape ?? {}));
  return { type: dynamicType(type), id, inputs: own(Object.fromEntries(declared)), outputs: own(outputs) };
}

function pluginEntry({ type, path, id, inputs, outputs }: Existing): object {
  const name = path.join("-").replaceAll(/[^\w-]/g, "-");
  const entry = { type: `microapps:index:${type}`, name, id };
  const resource = type === "SeedRows" ? resourceNamed(type) : undefined;
  if (!resource) return entry;
  return { ...entry, inputs: inSecret(type, pickSettable(resource, inputs)), outputs: inSecret(type, outputs) };
}

/** Marks secret properties as Pulumi does, so that it encrypts them in the state: the salt of a seed. */
function inSecret(type: string, properties: Properties): Properties {
  const resource = resourceNamed(type);
  const secrets = new Set(resource ? secretsOf(resource, properties) : []);
  const mark = (value: unknown): object => ({ [signature]: secretSignature, plaintext: JSON.stringify(value) });
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, secrets.has(name) ? mark(value) : value]),
  );
}
