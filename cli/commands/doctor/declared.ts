import { existsSync } from "node:fs";
import path from "node:path";
import type { Stack } from "../../../engine/index.ts";
import { readEnvironment } from "../../../provider/environment/declaration.ts";
import { things, type DeclaredThing } from "../../../provider/environment/things/things.ts";
import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";
import { valuePlace, type Value } from "../../../provider/layers/document.ts";
import { describePlace } from "../../../provider/layers/verbs.ts";
import type { RowDeclaration } from "../../../provider/resources/rows/declared/declaration.ts";
import type { RowTarget } from "../../../provider/resources/rows/declared/target.ts";
import { read, SourceError } from "../../../provider/sources/read.ts";
import { isHidden } from "../../../provider/sources/source.ts";
import { environmentsFile, environmentsIn } from "../../changes/base/environments.ts";
import { ofType, seedsIn } from "../managed.ts";

/** A table that the program writes, or that its rows refer to. */
export interface ProgramTable {
  table: string;
  /** Labels of the natural key, without the column that names the parent row. */
  key: readonly string[];
  /** The table of its parent rows. */
  parent?: string | undefined;
  /** Other labels that rows declare. */
  labels: readonly string[];
  /** True if no message may name a key. */
  isHidden: boolean;
  /** Where the program names it, and its key. */
  at: { table: string; key: string };
}

/** Resources of a stack's program, as far as its files and its state show them without running it. */
export interface ProgramResources {
  /** Names of the Environment files that were read. */
  files: string[];
  /** The first problem of an Environment file, with the name of the file. */
  problem: { file: string; text: string } | undefined;
  tables: ProgramTable[];
  /** Organizations of the state. */
  organizations: { id: string; name: string }[];
  /** Names of the organizations that Environment files declare. */
  organizationNames: string[];
  /** IDs of the state's teams. */
  teams: string[];
  /** True if apps are generated, which takes the API key. */
  usesApps: boolean;
}

/** Stands for the place when no file has it. */
export const somewhere: ProgramTable["at"] = { table: "in the program", key: "in the program" };

export const nothingDeclared: ProgramResources = {
  files: [],
  problem: undefined,
  tables: [],
  organizations: [],
  organizationNames: [],
  teams: [],
  usesApps: false,
};

/** Reads the state of a stack, and its Environment files beside Pulumi.yaml and beside the program. */
export async function readDeclared(stack: Stack): Promise<ProgramResources> {
  const { resources } = await stack.read();
  const known: ProgramTable[] = seedsIn(resources).map(({ table, key: whole, parent, outputs }) => {
    const key = withoutParent(whole, parent);
    const { labels } = outputs;
    const hidden = outputs["sensitive"] === true || !Array.isArray(labels);
    const others = Array.isArray(labels) ? labels.map(String).filter((label) => !key.includes(label)) : [];
    return { table, key, parent: parent?.table, labels: others, isHidden: hidden, at: somewhere };
  });
  const organizations = ofType(resources, "Organization").map(({ id, outputs: { name } }) => ({
    id,
    name: typeof name === "string" ? name : "",
  }));
  const teams = [...new Set(ofType(resources, "Team").map(({ id }) => id))];
  const usesApps = ofType(resources, "GeneratedApp").length > 0;
  const all: ProgramResources = {
    ...{ files: [], problem: undefined, tables: [], organizationNames: [] },
    ...{ organizations, teams, usesApps },
  };
  const seeds: ProgramTable[] = [];
  const links: ProgramTable[] = [];
  for (const { file, folder } of filesOf(stack)) {
    const { root, declared, problems } = readEnvironment(file, folder);
    all.files.push(file);
    const [first] = problems;
    if (first) all.problem ??= { file, text: `${describePlace(first.at)}: ${first.message}` };
    if (!declared || !root) continue;
    for (const thing of things(declared)) {
      const { kind, inputs } = thing;
      if (kind === "Organization") all.organizationNames.push(String(inputs["name"]));
      if (kind === "GeneratedApp") all.usesApps = true;
      if (kind !== "SeedRows") continue;
      seeds.push(await tableOf(thing, root, folder));
      links.push(...linksOf(thing));
    }
  }
  return { ...all, tables: merged(seeds, known, links) };
}

/** Files of the stack: those that environments.yaml names, or the one that is called as the stack is. */
function filesOf({ name, project: { root, workdir } }: Stack): { file: string; folder: string }[] {
  const listed = environmentsIn(textIfAny(root, environmentsFile, maxMegabytesOfLayer) ?? "{}").entries;
  const named = listed.filter(({ stack }) => stack === name).map(({ file }) => ({ file, folder: root }));
  if (named.length > 0) return named;
  const file = `${name}.yaml`;
  return [...new Set([root, workdir])]
    .filter((folder) => existsSync(path.join(folder, file)))
    .map((folder) => ({ file, folder }));
}

async function tableOf({ inputs, path: at }: DeclaredThing, root: Value, folder: string): Promise<ProgramTable> {
  const seed = inputs as unknown as RowDeclaration & RowTarget; // the file was checked
  const { table, parent } = seed;
  const key = withoutParent(seed.key, parent);
  // The column that names the parent row is none of the table's.
  const isOther = (label: string): boolean => label !== parent?.by && !key.includes(label);
  const labels = (await labelsOf(seed, folder)).filter(isOther);
  const placeOf = (property: string): string => describePlace(valuePlace(root, [...at, property]));
  const places = { table: placeOf("table"), key: placeOf("key") };
  const isSecret = key.some((label) => isHidden(seed, label));
  return { table, key, parent: parent?.table, labels, isHidden: isSecret, at: places };
}

/** The labels of a key that the table has: the parent row is no label of it. */
function withoutParent(key: readonly string[], parent: { by: string } | undefined): readonly string[] {
  const own = key.filter((label) => label !== parent?.by);
  return own.length > 0 ? own : key;
}

/** Tables that rows refer to, and that no seed has to be of. */
function linksOf({ inputs, seeds }: DeclaredThing): ProgramTable[] {
  const { references = {}, parent } = inputs as Partial<RowTarget>; // the file was checked
  const links = [...Object.entries(references), ...(parent ? [[parent.by, parent] as const] : [])];
  return links.flatMap(([label, { table, key }]) =>
    seeds[label] === undefined ? [{ table, key: [key], labels: [], isHidden: true, at: somewhere }] : [],
  );
}

/** Labels of the first rows: `environment check` reads them all. */
async function labelsOf(seed: RowDeclaration, folder: string): Promise<string[]> {
  try {
    for await (const rows of read(seed, folder, () => undefined)) {
      return [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error; // reported by `environment check`
  }
  return [];
}

/** One of each table: what a file declares counts more than what the state remembers, and that more than a reference. */
function merged(
  seeds: readonly ProgramTable[],
  known: readonly ProgramTable[],
  links: readonly ProgramTable[],
): ProgramTable[] {
  const byTable = new Map<string, ProgramTable>();
  for (const each of seeds) {
    const { labels = [] } = byTable.get(each.table) ?? {};
    byTable.set(each.table, { ...each, labels: [...new Set([...labels, ...each.labels])] });
  }
  for (const each of [...known, ...links]) if (!byTable.has(each.table)) byTable.set(each.table, each);
  return [...byTable.values()];
}
