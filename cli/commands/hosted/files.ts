import aliasProto from "@pulumi/pulumi/proto/alias_pb.js";
import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../machine/failures.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { fileAmong } from "../../../provider/environment/declaration.ts";
import {
  readEnvironmentFile,
  registerEnvironment,
  structOf,
  type EnvironmentMade,
  type EnvironmentOptions,
  type EnvironmentRead,
  type Monitor,
} from "../../../provider/pulumi/plugin/environment.ts";
import { environmentType } from "../../../provider/pulumi/plugin/schema.ts";
import { SecretValue, unknownValue } from "../../../provider/pulumi/properties.ts";

/** A project of files alone: a Pulumi.yaml whose resources are Environments. */
interface FilesProject {
  /** Its Pulumi.yaml. */
  file: string;
  folder: string;
  content: Readonly<Record<string, unknown>>;
}

/** The run of a project in the engine's process. */
interface FilesRun {
  project: string;
  stack: string;
  config: Readonly<Record<string, { text: string; secret: boolean }>>;
  monitor: Monitor;
}

const stackType = "pulumi:pulumi:Stack";

/** Parts of Pulumi.yaml that this program has, or that engines read. */
const read = ["resources", "outputs", "runtime", "name", "description", "author", "website", "license", "config"];
const ofEngines = ["stackConfigDir", "backend", "options", "plugins", "packages", "template", "requiredPulumiVersion"];

/** An Environment as Pulumi.yaml has it. */
interface Declared {
  name: string;
  file: string;
  options: EnvironmentOptions;
  /** The Environments that it waits for. */
  after: string[];
}

/**
 * Registers what a project of files declares, as the Pulumi CLI does with the plugin: the same names, types and inputs.
 * Everything is read, and found sound, before anything is registered.
 */
export async function runFiles({ file, folder, content }: FilesProject, run: FilesRun): Promise<void> {
  const { project, stack, monitor } = run;
  const refuse = (what: string): never => {
    throw new Error(`${file}: ${what}, which is no project of files alone: the Pulumi CLI runs it`);
  };
  const declared = environmentsIn(content, { project, stack, refuse });
  const mains = ["Main.yaml", "Main.json"].filter((name) => existsSync(join(folder, name)));
  if (mains[0] !== undefined) refuse(`the program is in ${mains[0]}`);
  const outputs = outputsIn(content, declared, refuse);
  const surroundings = { project, stack, folder, config: new Map(Object.entries(run.config)) };
  const reads = declared.map((each) => {
    try {
      return { ...each, read: readEnvironmentFile(each.name, each.file, each.options, surroundings) };
    } catch (error) {
      throw new Error(`${environmentType} resource '${each.name}' has a problem: ${messageOf(error)}`, {
        cause: error,
      });
    }
  });
  const request = new resourceProto.RegisterResourceRequest().setType(stackType).setName(`${project}-${stack}`);
  const urn = (await monitor.registerResource(request)).getUrn();
  const made = new Map<string, Promise<EnvironmentMade>>();
  const register = async (one: Declared & { read: EnvironmentRead }): Promise<EnvironmentMade> => {
    await Promise.resolve(); // all of them are known then
    const awaited = await Promise.all(one.after.flatMap((name) => made.get(name) ?? []));
    const options = { ...one.options, parent: urn, dependencies: awaited.map((each) => each.urn) };
    return registerEnvironment(monitor, { ...one.read, options });
  };
  for (const each of reads) made.set(each.name, register(each));
  const ended = await Promise.allSettled(made.values());
  const failed = ended.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  const values: [string, unknown][] = [];
  for (const output of outputs) values.push([output.name, valueAt(await made.get(output.of), output)]);
  const said = new resourceProto.RegisterResourceOutputsRequest().setUrn(urn);
  await monitor.registerResourceOutputs(said.setOutputs(structOf(Object.fromEntries(values))));
}

interface Reading {
  project: string;
  stack: string;
  refuse: (what: string) => never;
}

function environmentsIn(content: Readonly<Record<string, unknown>>, { project, stack, refuse }: Reading): Declared[] {
  const other = Object.keys(content).find((name) => ![...read, ...ofEngines].includes(name));
  if (other !== undefined) refuse(`it has ${quote(other)}`);
  const { runtime, resources, main } = content;
  if (main !== undefined) refuse("it has main");
  if (isObject(runtime) && isObject(runtime["options"]) && Object.keys(runtime["options"]).length > 0)
    refuse("its runtime has options");
  if (!isObject(resources)) return refuse("it has no resources");
  const text = (where: string, value: unknown): string => {
    if (typeof value !== "string") return refuse(`${where} is no text`);
    const filled = value
      .replaceAll("${pulumi.stack}", stack)
      .replaceAll("${pulumi.project}", project)
      .replaceAll("${pulumi.organization}", "organization");
    return value.includes("$") && filled.includes("$")
      ? refuse(`${where} has an expression other than \${pulumi.stack}`)
      : filled;
  };
  const declared = Object.entries(resources).map(([name, resource]): Declared => {
    const where = `resources.${name}`;
    if (!isObject(resource)) return refuse(`${where} is no map`);
    const { type, properties = {}, options = {}, ...others } = resource;
    const [more] = Object.keys(others);
    if (more !== undefined) refuse(`${where} has ${quote(more)}`);
    if (type !== environmentType && type !== "microapps:Environment")
      refuse(`${where} is of type ${quote(String(type))}`);
    if (!isObject(properties)) return refuse(`${where}.properties is no map`);
    if (!isObject(options)) return refuse(`${where}.options is no map`);
    const file = fileAmong({ ...properties, file: text(`${where}.properties.file`, properties["file"]) });
    return { name, file, ...optionsIn(`${where}.options`, options, text, refuse) };
  });
  for (const { name, after } of declared) {
    const missing = after.find((each) => !Object.hasOwn(resources, each));
    if (missing !== undefined) refuse(`resources.${name} depends on ${quote(missing)}, which it does not have`);
    if (isCircular(declared, name, name, new Set())) refuse(`resources.${name} depends on itself`);
  }
  return declared;
}

function isCircular(all: readonly Declared[], from: string, to: string, seen: Set<string>): boolean {
  return all.some(
    ({ name, after }) =>
      name === from &&
      after.some((each) => each === to || (!seen.has(each) && isCircular(all, each, to, seen.add(each)))),
  );
}

const booleans = ["protect", "retainOnDelete"] as const;
const lists = ["ignoreChanges", "replaceOnChanges"] as const;
const timeouts = ["create", "update", "delete"] as const;

/** Options of an Environment, as Pulumi has them for components. */
function optionsIn(
  where: string,
  options: Readonly<Record<string, unknown>>,
  text: (where: string, value: unknown) => string,
  refuse: (what: string) => never,
): Pick<Declared, "options" | "after"> {
  const known = [...booleans, ...lists, "customTimeouts", "aliases", "dependsOn"];
  const other = Object.keys(options).find((name) => !known.includes(name));
  if (other !== undefined) refuse(`${where} has ${quote(other)}`);
  const [protect, retainOnDelete] = booleans.map((name) => {
    const value = options[name];
    return value === undefined || typeof value === "boolean" ? value : refuse(`${where}.${name} is no true or false`);
  });
  const listOf = (name: string): unknown[] => {
    const value = options[name] ?? [];
    return Array.isArray(value) ? value : [value];
  };
  const [ignoreChanges = [], replaceOnChanges = []] = lists.map((name) =>
    listOf(name).map((path) => (typeof path === "string" ? path : refuse(`${where}.${name} has what is no text`))),
  );
  const after = listOf("dependsOn").map((each) => {
    const [, name] = /^\$\{([\w-]+)\}$/.exec(String(each)) ?? [];
    return name ?? refuse(`${where}.dependsOn has what is no \${name} of a resource`);
  });
  const stated = { protect, retainOnDelete, ignoreChanges, replaceOnChanges };
  const aliases = listOf("aliases").map((each) => aliasIn(`${where}.aliases`, each, text, refuse));
  const customTimeouts = timeoutsIn(`${where}.customTimeouts`, options["customTimeouts"], text, refuse);
  return { options: { ...stated, aliases, customTimeouts, parent: "", dependencies: [], provider: "" }, after };
}

function timeoutsIn(
  where: string,
  value: unknown,
  text: (where: string, value: unknown) => string,
  refuse: (what: string) => never,
): EnvironmentOptions["customTimeouts"] {
  if (value === undefined) return undefined;
  if (!isObject(value)) return refuse(`${where} is no map`);
  const other = Object.keys(value).find((name) => !(timeouts as readonly string[]).includes(name));
  if (other !== undefined) refuse(`${where} has ${quote(other)}`);
  const [create = "", update = "", remove = ""] = timeouts.map((name) =>
    value[name] === undefined ? "" : text(`${where}.${name}`, value[name]),
  );
  return new resourceProto.RegisterResourceRequest.CustomTimeouts()
    .setCreate(create)
    .setUpdate(update)
    .setDelete(remove);
}

function aliasIn(
  where: string,
  value: unknown,
  text: (where: string, value: unknown) => string,
  refuse: (what: string) => never,
): Alias {
  if (typeof value === "string") return new aliasProto.Alias().setUrn(text(where, value));
  if (!isObject(value)) return refuse(`${where} has what is no alias`);
  const spec = new aliasProto.Alias.Spec().setParenturn("");
  for (const [name, part] of Object.entries(value)) {
    if (name === "name") spec.setName(text(`${where}.name`, part));
    else if (name === "type") spec.setType(text(`${where}.type`, part));
    else if (name === "stack") spec.setStack(text(`${where}.stack`, part));
    else if (name === "project") spec.setProject(text(`${where}.project`, part));
    else if (name === "noParent" && part === true) spec.setNoparent(true);
    else refuse(`${where} has ${quote(name)}`);
  }
  return new aliasProto.Alias().setSpec(spec);
}

/** An output of the stack: a part of what an Environment gives. */
interface Output {
  name: string;
  of: string;
  /** The output of the Environment, and the path in it. */
  part: keyof EnvironmentMade["outputs"];
  path: string[];
}

function outputsIn(
  { outputs = {} }: Readonly<Record<string, unknown>>,
  declared: readonly Declared[],
  refuse: (what: string) => never,
): Output[] {
  if (!isObject(outputs)) return refuse("its outputs are no map");
  return Object.entries(outputs).map(([name, value]) => {
    const [, of = "", steps = ""] = /^\$\{([\w-]+)((?:\.[\w-]+|\["[^"\]]*"\])*)\}$/.exec(String(value)) ?? [];
    const [part, ...path] = [...steps.matchAll(/\.([\w-]+)|\["([^"\]]*)"\]/g)].map(
      ([, plain, quoted]) => plain ?? quoted ?? "",
    );
    const isKnown = part === "organizations" || part === "teams" || part === "seeds" || part === "apps";
    if (!isKnown || !declared.some((each) => each.name === of))
      return refuse(
        `outputs.${name} is no part of an Environment, such as \${${declared[0]?.name ?? "environment"}.organizations}`,
      );
    return { name, of, part, path };
  });
}

function valueAt(made: EnvironmentMade | undefined, { name, part, path }: Output): unknown {
  const whole = made?.outputs[part];
  let value = whole instanceof SecretValue ? whole.value : whole;
  for (const step of path) {
    if (value === unknownValue) break;
    if (!isObject(value) || !Object.hasOwn(value, step))
      throw new Error(`outputs.${name} names ${quote(step)}, and there is none among ${part}`);
    value = value[step];
  }
  return whole instanceof SecretValue ? new SecretValue(value) : value;
}
