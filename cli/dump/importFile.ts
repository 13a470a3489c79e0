import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { entryIn } from "../../platform/contract/wire.ts";
import { listLinkedInputs, things } from "../../provider/environment/things.ts";
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
import { declareOrganizations, type DumpedOrganization } from "./people.ts";
import type { DumpedSeed } from "./seeds.ts";
import type { TableRows } from "./tables.ts";

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
export function existingPeople(organizations: readonly DumpedOrganization[]): Existing[] {
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
export async function existingSeed(
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
export type ImportTarget = "files" | "dynamic" | "plugin";

/**
 * The file for `pulumi import --file`. Resources of an Environment have the names and parents that it gives them. For dynamic
 * resources, whose import calls no provider, each entry has the whole state. For the plugin, which reads what it imports,
 * IDs are enough, except for rows, which have none.
 * @param folder of the dump, from the program's folder, in which an import runs
 */
export function importText(
  dumped: readonly Existing[],
  target: ImportTarget,
  environment: string,
  folder: string,
): string {
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
