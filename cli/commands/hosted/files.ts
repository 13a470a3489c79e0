import aliasProto from "@pulumi/pulumi/proto/alias_pb.js";
import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../../machine/failures.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { fileAmong } from "../../../provider/environment/declaration.ts";
import { environmentType } from "../../../provider/pulumi/names.ts";
import {
  readEnvironmentFile,
  registerEnvironment,
  structOf,
  type EnvironmentMade,
  type EnvironmentOptions,
  type EnvironmentRead,
  type Monitor,
} from "../../../provider/pulumi/plugin/environment.ts";
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
    throw new Error(`${file}: ${what}, which a project of files can't have: the Pulumi CLI runs it`);
  };
  const declared = environmentsIn(content, { project, stack }, refuse);
  const mains = ["Main.yaml", "Main.json"].filter((name) => existsSync(join(folder, name)));
  if (mains[0] !== undefined) refuse(`the program is in ${mains[0]}`);
  const outputs = outputsIn(content, declared, refuse);
  const context = { project, stack, folder, config: new Map(Object.entries(run.config)) };
  const reads = declared.map((each) => {
    try {
      return { ...each, read: readEnvironmentFile(each.name, each.file, each.options, context) };
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

const text = ({ project, stack }: Pick<FilesRun, "project" | "stack">) =>
  z.string().transform((value, context) => {
    const filled = value
      .replaceAll("${pulumi.stack}", stack)
      .replaceAll("${pulumi.project}", project)
      .replaceAll("${pulumi.organization}", "organization");
    if (filled.includes("$") && value.includes("$"))
      context.addIssue({ code: "custom", message: "has an expression other than ${pulumi.stack}" });
    return filled;
  });

/** A list, or one item of it. */
const listOf = <Item extends z.ZodType>(item: Item) => z.preprocess((value) => [value ?? []].flat(), z.array(item));

/** The resources of a project of files; options of an Environment are as Pulumi has them for components. */
function resourcesOf(run: Pick<FilesRun, "project" | "stack">) {
  const filled = text(run);
  const own = [environmentType, "microapps:Environment"];
  const type = z.string().refine((each) => own.includes(each), {
    error: ({ input }) => `is ${quote(String(input))}`,
  });
  const named = z.strictObject({
    name: filled,
    type: filled,
    stack: filled,
    project: filled,
    noParent: z.literal(true),
  });
  const options = z.strictObject({
    protect: z.boolean().optional(),
    retainOnDelete: z.boolean().optional(),
    ignoreChanges: listOf(z.string()),
    replaceOnChanges: listOf(z.string()),
    customTimeouts: z.strictObject({ create: filled, update: filled, delete: filled }).partial().optional(),
    aliases: listOf(z.union([filled, named.partial()], { error: "is not an alias" })),
    dependsOn: listOf(z.string().regex(/^\$\{[\w-]+\}$/, "has what is no ${name} of a resource")),
  });
  const properties = z.looseObject({ file: filled });
  return z.record(
    z.string(),
    z.strictObject({ type, properties, options: z.preprocess((value) => value ?? {}, options) }),
  );
}

/** What is wrong with a part of Pulumi.yaml, to stand after its place. */
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `has ${quote(issue.keys[0] ?? "")}`;
  if (issue.code !== "invalid_type") return issue.message;
  const kinds: Readonly<Record<string, string>> = { string: "text", boolean: "true or false" };
  return `is no ${kinds[issue.expected] ?? "map"}`;
}

function environmentsIn(
  content: Readonly<Record<string, unknown>>,
  run: Pick<FilesRun, "project" | "stack">,
  refuse: (what: string) => never,
): Declared[] {
  const other = Object.keys(content).find((name) => ![...read, ...ofEngines].includes(name));
  if (other !== undefined) refuse(`it has ${quote(other)}`);
  const { runtime, resources } = content;
  if (isObject(runtime) && isObject(runtime["options"]) && Object.keys(runtime["options"]).length > 0)
    refuse("its runtime has options");
  if (!isObject(resources)) return refuse("it has no resources");
  const { data = {}, error } = resourcesOf(run).safeParse(resources);
  const [issue] = error?.issues ?? [];
  if (issue) refuse(`${["resources", ...issue.path].join(".")} ${problemOf(issue)}`);
  const declared = Object.entries(data).map(([name, { properties, options }]): Declared => {
    const { dependsOn, aliases, customTimeouts, protect, retainOnDelete, ...lists } = options;
    const { create = "", update = "", delete: remove = "" } = customTimeouts ?? {};
    const timeouts = new resourceProto.RegisterResourceRequest.CustomTimeouts();
    return {
      name,
      file: fileAmong(properties),
      after: dependsOn.map((each) => each.slice(2, -1)),
      options: {
        ...{ protect, retainOnDelete, ...lists, aliases: aliases.map(toAlias) },
        customTimeouts: customTimeouts && timeouts.setCreate(create).setUpdate(update).setDelete(remove),
        ...{ parent: "", dependencies: [], provider: "" },
      },
    };
  });
  for (const { name, after } of declared) {
    const missing = after.find((each) => !Object.hasOwn(resources, each));
    if (missing !== undefined) refuse(`resources.${name} depends on ${quote(missing)}, which it does not have`);
    if (isCircular(declared, name, name, new Set())) refuse(`resources.${name} depends on itself`);
  }
  return declared;
}

function toAlias(alias: z.output<ReturnType<typeof resourcesOf>>[string]["options"]["aliases"][number]): Alias {
  if (typeof alias === "string") return new aliasProto.Alias().setUrn(alias);
  const { name = "", type = "", stack = "", project = "", noParent } = alias;
  const spec = new aliasProto.Alias.Spec().setName(name).setType(type).setStack(stack).setProject(project);
  return new aliasProto.Alias().setSpec(noParent ? spec.setNoparent(true) : spec.setParenturn(""));
}

function isCircular(all: readonly Declared[], from: string, to: string, seen: Set<string>): boolean {
  return all.some(
    ({ name, after }) =>
      name === from &&
      after.some((each) => each === to || (!seen.has(each) && isCircular(all, each, to, seen.add(each)))),
  );
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
  if (!isObject(outputs)) return refuse("its outputs are not a map");
  return Object.entries(outputs).map(([name, value]) => {
    const [, of = "", steps = ""] = /^\$\{([\w-]+)((?:\.[\w-]+|\["[^"\]]*"\])*)\}$/.exec(String(value)) ?? [];
    const [part, ...path] = [...steps.matchAll(/\.([\w-]+)|\["([^"\]]*)"\]/g)].map(
      ([, plain, quoted]) => plain ?? quoted ?? "",
    );
    const isKnown = part === "organizations" || part === "teams" || part === "seeds" || part === "apps";
    if (!isKnown || !declared.some((each) => each.name === of))
      return refuse(
        `outputs.${name} is not a part of an Environment, such as \${${declared[0]?.name ?? "environment"}.organizations}`,
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
