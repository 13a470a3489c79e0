import type { ServiceError } from "@grpc/grpc-js";
import aliasProto from "@pulumi/pulumi/proto/alias_pb.js";
import type { Alias } from "@pulumi/pulumi/proto/alias_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import type * as rpb from "@pulumi/pulumi/proto/resource_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { statusCodes } from "../../../machine/statusCodes.ts";
import { maxLevels, readStruct } from "../../../machine/structs.ts";
import { isObject, lostKey } from "../../../platform/contract/wire.ts";
import { declaration, fileAmong, withSecrets } from "../../environment/declaration.ts";
import type { ConfigLookup } from "../../environment/schema.ts";
import { type DeclaredThing, listAwaited, listLinkedInputs, things, topName } from "../../environment/things.ts";
import { resourceNamed } from "../../resources/resources.ts";
import { environmentType, toHiddenName, typeThrough, urnsInStack, urnThrough } from "../names.ts";
import { announcement, referrersAmong, siblingsAmong, type Announced } from "../otherSeeds.ts";
import {
  fileMarks,
  hiddenNames,
  hideProperties,
  keyRows,
  type Properties,
  secretSignature,
  SecretValue,
  signature,
  unhidden,
  unknownValue,
  withSecretCells,
  explainRefusedIgnores,
  optionsBelow,
  type OptionsBelow,
} from "../properties.ts";
import { decode } from "./wire.ts";

/** What takes registrations: an engine over a connection, or the one of this process. */
export interface Monitor {
  registerResource: (request: rpb.RegisterResourceRequest) => Promise<rpb.RegisterResourceResponse>;
  registerResourceOutputs: (request: rpb.RegisterResourceOutputsRequest) => Promise<unknown>;
}

/** The run that an Environment is part of. */
export interface ProgramRun {
  project: string;
  stack: string;
  /** The program's folder. */
  folder: string;
  config: ReadonlyMap<string, { text: string; secret: boolean }>;
}

/** Options of an Environment, as Pulumi has them for components. */
export interface EnvironmentOptions {
  parent: string;
  dependencies: string[];
  aliases: Alias[];
  protect: boolean | undefined;
  retainOnDelete: boolean | undefined;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  customTimeouts: InstanceType<typeof resourceProto.RegisterResourceRequest.CustomTimeouts> | undefined;
  /** Reference of the provider of everything in it; empty: the default one. */
  provider: string;
}

/** An Environment file with its things, read and found sound: nothing is registered yet. */
export interface EnvironmentRead {
  name: string;
  options: EnvironmentOptions;
  things: DeclaredThing[];
  below: OptionsBelow<EnvironmentOptions["customTimeouts"]>;
}

/** Reads what a file declares. Throws an EnvironmentError with all that is wrong with it. */
export function readEnvironmentFile(
  name: string,
  file: string,
  options: EnvironmentOptions,
  { project, folder, config }: ProgramRun,
): EnvironmentRead {
  const configured: ConfigLookup = (key) => config.get(`${project}:${key}`);
  const declared = withSecrets(declaration(file, folder, configured), fileMarks.secret);
  const former = options.aliases.flatMap((alias) => alias.getSpec()?.getName() || (nameOf(alias.getUrn()) ?? []));
  const all = things(declared, topName(name, former));
  const below = optionsBelow(options);
  const places = all
    .filter(({ kind }) => kind !== "AppReadiness")
    .map((thing) => ({ thing, own: below.at(thing.path, thing.others) }));
  const refused = places.flatMap(
    ({ thing, own }) => explainRefusedIgnores(definitionOf(thing), own.ignoreChanges, thing.inputs) ?? [],
  );
  const refusal = below.refusal() ?? refused[0];
  if (refusal !== undefined) throw new Error(refusal);
  return { name, options, things: all, below };
}

/** Things of an Environment without options of its own. */
export function environmentOf(name: string, all: DeclaredThing[]): EnvironmentRead {
  const options = {
    ...{ parent: "", provider: "", dependencies: [], aliases: [], ignoreChanges: [], replaceOnChanges: [] },
    ...{ protect: undefined, retainOnDelete: undefined, customTimeouts: undefined },
  };
  return { name, options, things: all, below: optionsBelow(options) };
}

const nameOf = (urn: string): string | undefined => (urn === "" ? undefined : urn.slice(urn.lastIndexOf("::") + 2));

function definitionOf({ kind }: DeclaredThing) {
  const definition = resourceNamed(kind);
  if (!definition) throw new Error(`there is no ${kind}`);
  return definition;
}

/** A registered Environment, and what others may have of it. */
export interface EnvironmentMade {
  urn: string;
  /** IDs of organizations and teams, row counts of seeds, links to apps; each by the name below the Environment. */
  outputs: Record<"organizations" | "teams" | "seeds" | "apps", unknown>;
  /** URNs of the resources that each output comes from. */
  dependencies: Record<string, string[]>;
}

/** One registered resource. */
interface Made {
  urn: string;
  id: string;
  values: Properties;
  secrets: ReadonlySet<string>;
}

/** Registers an Environment and everything in it, each as soon as what it needs is there. */
export async function registerEnvironment(monitor: Monitor, read: EnvironmentRead): Promise<EnvironmentMade> {
  const { name, options } = read;
  const request = requestOf(environmentType, name, options.parent, options);
  request.setDependenciesList(options.dependencies).setAliasesList(options.aliases).setObject(structOf({}));
  const urn = (await monitor.registerResource(request)).getUrn();
  const registration = new Registration(monitor, read, urn);
  const made = await registration.all();
  const outputs = outputsOf(read.things, made);
  await monitor.registerResourceOutputs(
    new resourceProto.RegisterResourceOutputsRequest().setUrn(urn).setOutputs(structOf(outputs.outputs)),
  );
  return { urn, ...outputs };
}

/** A request with what a component and its parts have in common. */
function requestOf(
  type: string,
  name: string,
  parent: string,
  {
    protect,
    retainOnDelete,
    ignoreChanges,
    replaceOnChanges,
    customTimeouts,
  }: Omit<EnvironmentOptions, "parent" | "dependencies" | "aliases" | "provider">,
): rpb.RegisterResourceRequest {
  const request = new resourceProto.RegisterResourceRequest().setType(type).setName(name).setParent(parent);
  request.setIgnorechangesList(ignoreChanges).setReplaceonchangesList(replaceOnChanges);
  request.setAcceptsecrets(true).setAcceptresources(true).setSupportspartialvalues(true).setAliasspecs(true);
  if (protect !== undefined) request.setProtect(protect);
  if (retainOnDelete !== undefined) request.setRetainondelete(retainOnDelete);
  return customTimeouts ? request.setCustomtimeouts(customTimeouts) : request;
}

/** Registers the things of one Environment. */
class Registration {
  readonly #monitor: Monitor;
  readonly #read: EnvironmentRead;
  readonly #urn: string;
  readonly #things: ReadonlyMap<string, DeclaredThing>;
  readonly #announced = new Map<string, Announced>();
  readonly #made = new Map<string, Promise<Made>>();

  constructor(monitor: Monitor, read: EnvironmentRead, urn: string) {
    [this.#monitor, this.#read, this.#urn] = [monitor, read, urn];
    this.#things = new Map(read.things.map((thing) => [thing.key, thing]));
    for (const thing of read.things) {
      const own = thing.kind === "SeedRows" ? this.#announce(thing) : undefined;
      if (own) this.#announced.set(thing.key, own);
    }
  }

  /** Registers all of them. Throws the first failure, once nothing is under way any more. */
  async all(): Promise<Map<string, Made>> {
    const { things } = this.#read;
    for (const thing of things) this.#made.set(thing.key, this.#register(thing));
    const ended = await Promise.allSettled(this.#made.values());
    const failed = ended.find((each) => each.status === "rejected");
    if (failed) throw failed.reason;
    return new Map(await Promise.all([...this.#made].map(async ([key, made]) => [key, await made] as const)));
  }

  async #of(key: string): Promise<Made> {
    const made = this.#made.get(key);
    // A thing may need one that stands below it in the file.
    if (!made) await Promise.resolve();
    const found = made ?? this.#made.get(key);
    if (!found) throw new Error(`"${key}" was checked and is not there`);
    return found;
  }

  async #register(thing: DeclaredThing): Promise<Made> {
    await Promise.resolve(); // all of them are known then
    const definition = definitionOf(thing);
    const parent = thing.above === undefined ? this.#urn : (await this.#of(thing.above)).urn;
    const awaited = listAwaited(thing, this.#read.things);
    const dependencies = await Promise.all(awaited.map(async (key) => (await this.#of(key)).urn));
    const { inputs, needs } = await this.#inputsOf(thing);
    const { sealed } = withSecretCells(definition, inputs, fileMarks);
    const options = this.#read.below.at(thing.path, thing.others);
    const type = typeThrough("plugin", thing.kind);
    const request = requestOf(type, thing.name.now, parent, {
      ...{ ignoreChanges: [], replaceOnChanges: [], customTimeouts: undefined, ...options },
      protect: this.#read.options.protect,
      retainOnDelete: thing.retain, // that of the Environment is handed on by engines
    });
    const object = structOf(hideProperties(definition, sealed));
    const hidden = hiddenNames(definition);
    for (const [field] of object.getFieldsMap().toArray() as [string, unknown][]) {
      const urns = new resourceProto.RegisterResourceRequest.PropertyDependencies();
      const name = hidden.find((each) => toHiddenName(each) === field) ?? field;
      request.getPropertydependenciesMap().set(field, urns.setUrnsList(needs[name] ?? []));
    }
    const all = new Set([...dependencies, ...Object.values(needs).flat()]);
    request
      .setCustom(true)
      .setObject(object)
      .setDependenciesList([...all])
      .setAliasesList(this.#aliasesOf(thing));
    request.setProvider(this.#read.options.provider);
    const answer = await this.#monitor.registerResource(request);
    const { values, secrets } = decode(answer.getObject());
    const id = answer.getId() === "" ? unknownValue : answer.getId();
    return { urn: answer.getUrn(), id, values: unhidden(definition, values), secrets };
  }

  /** The inputs of a thing, and the URNs that they come from. */
  async #inputsOf(thing: DeclaredThing): Promise<{ inputs: Properties; needs: Record<string, string[]> }> {
    const links = listLinkedInputs(thing, async ({ of, id }) => {
      if (of === undefined) return { id, urns: [] };
      const made = await this.#of(of);
      return { id: made.id, urns: [made.urn] };
    });
    const inputs: Properties = { ...thing.inputs };
    const needs: Record<string, string[]> = {};
    for (const [name, linked] of Object.entries(links)) {
      const found = await Promise.all([linked].flat().flatMap((one) => one ?? []));
      inputs[name] = Array.isArray(linked) ? found.map(({ id }) => id) : found[0]?.id;
      needs[name] = found.flatMap(({ urns }) => urns);
    }
    if (thing.kind !== "SeedRows") return { inputs, needs };
    const seeds = await Promise.all(
      Object.entries(thing.seeds).map(async ([label, key]) => ({ label, seed: await this.#of(key) })),
    );
    const urnsOf = (labels: readonly string[]): string[] =>
      seeds.flatMap(({ label, seed }) => (labels.includes(label) ? [seed.urn] : []));
    const { references, parent, expect } = thing.inputs;
    if (isObject(references)) needs["references"] = urnsOf(Object.keys(references));
    if (isObject(parent)) needs["parent"] = urnsOf([String(parent["by"])]);
    const related = isObject(expect) && isObject(expect["relationships"]) ? Object.keys(expect["relationships"]) : [];
    needs["expect"] = urnsOf(related);
    if (seeds.length > 0) {
      const renewals = seeds.map(({ label, seed }) => [label, seed.values["renewals"] ?? 0] as const);
      const isKnown = renewals.every(([, times]) => times !== unknownValue);
      inputs["linkedSeeds"] = Object.fromEntries(seeds.map(({ label, seed }) => [label, seed.urn]));
      inputs["linkRenewals"] = isKnown ? Object.fromEntries(renewals) : unknownValue;
      needs["linkedSeeds"] = needs["linkRenewals"] = seeds.map(({ seed }) => seed.urn);
    }
    const own = this.#announced.get(thing.key);
    const all = [...this.#announced.values()];
    const others = own && { siblings: siblingsAmong(all, own), referrers: referrersAmong(all, own) };
    return { inputs: { ...inputs, ...keyRows(definitionOf(thing), inputs, fileMarks), ...others }, needs };
  }

  #announce(thing: DeclaredThing): Announced | undefined {
    const { references, parent } = thing.inputs;
    const above = isObject(parent) ? { [String(parent["by"])]: { table: parent["table"], key: parent["key"] } } : {};
    const links = { ...(isObject(references) ? references : {}), ...above } as Announced["references"];
    const own = { name: thing.name.now, urn: this.#urnOf(thing), references: links };
    return announcement(own, thing.inputs, fileMarks);
  }

  /** Types from the Environment down to a thing. */
  #kindsTo({ kind, above }: DeclaredThing): string[] {
    const parent = above === undefined ? undefined : this.#things.get(above);
    return parent ? [...this.#kindsTo(parent), kind] : [kind];
  }

  #urnOf(thing: DeclaredThing, kind: "plugin" | "dynamic" = "plugin", name = thing.name.now): string {
    const above = this.#urn.slice(0, this.#urn.lastIndexOf("::"));
    return `${above}${this.#kindsTo(thing)
      .map((each) => `$${typeThrough(kind, each)}`)
      .join("")}::${name}`;
  }

  /** Former names, and these through dynamic resources, as a program has them. */
  #aliasesOf(thing: DeclaredThing): Alias[] {
    const { own, inherited, urns: former = [] } = thing.name;
    const [, , stack = ""] = this.#urn.split(":");
    const names = own.map((name) =>
      new aliasProto.Alias().setSpec(new aliasProto.Alias.Spec().setName(name).setParenturn("")),
    );
    const others = [...own, ...inherited].map((name) => this.#urnOf(thing, "dynamic", name));
    const alone = former.flatMap((urn) => urnsInStack(stack, urn));
    const urns = [...others, urnThrough("dynamic", this.#urnOf(thing)), ...alone];
    return [...names, ...urns.map((urn) => new aliasProto.Alias().setUrn(urn))];
  }
}

/** The outputs of an Environment, and what they come from. */
function outputsOf(all: readonly DeclaredThing[], made: ReadonlyMap<string, Made>): Omit<EnvironmentMade, "urn"> {
  const collected = (kind: DeclaredThing["kind"], name: string) => {
    const found = all.flatMap((thing) => {
      const one = thing.kind === kind ? made.get(thing.key) : undefined;
      if (!one) return [];
      const wait =
        kind === "GeneratedApp"
          ? all.find(({ above, kind: of }) => of === "AppReadiness" && above === thing.key)
          : undefined;
      const ready = wait && made.get(wait.key);
      const value = ready?.values["status"] === unknownValue ? unknownValue : name === "id" ? one.id : one.values[name];
      const urns = [one.urn, ...(ready ? [ready.urn] : [])];
      return [{ key: thing.key.slice(thing.key.indexOf(" ") + 1), value, urns, isSecret: one.secrets.has(name) }];
    });
    // As one output of a program, which is known once all of it is.
    const values = found.some(({ value }) => value === unknownValue || value === undefined)
      ? unknownValue
      : Object.fromEntries(found.map(({ key, value }) => [key, value]));
    const value = found.some(({ isSecret }) => isSecret) ? new SecretValue(values) : values;
    return { value, urns: found.flatMap(({ urns }) => urns) };
  };
  const parts = {
    organizations: collected("Organization", "id"),
    teams: collected("Team", "id"),
    seeds: collected("SeedRows", "rowCount"),
    apps: collected("GeneratedApp", "appLink"),
  };
  const each = <Value>(pick: (part: (typeof parts)["apps"]) => Value) =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, pick(part)]));
  return {
    outputs: each(({ value }) => value) as EnvironmentMade["outputs"],
    dependencies: each(({ urns }) => urns),
  };
}

/** Values as an engine gets them: without what is undefined, secrets marked. */
export function structOf(values: Readonly<Record<string, unknown>>): Struct {
  const lost = lostKey(values);
  if (lost) throw new Error(`${lost.join(".")}: no property can have this name; choose another`);
  const text = JSON.stringify(values, (_, value: unknown) =>
    value instanceof SecretValue ? { [signature]: secretSignature, value: value.value } : value,
  );
  return structProto.Struct.fromJavaScript(JSON.parse(text) as Record<string, never>);
}

// Names that an SDK takes for its own.
const taken = { levels: maxLevels, isTaken: (name: string) => name !== "toString" && !name.startsWith("__pulumi") };

/**
 * Constructs an Environment: registers it and all that its file declares with the monitor that the request names.
 * @param provider the reference by which the engine knows this provider; undefined where it does not tell
 */
export async function construct(
  request: pb.ConstructRequest,
  provider: string | undefined,
): Promise<pb.ConstructResponse> {
  const run = runOf(request);
  const sent: Record<string, unknown> = readStruct(request.getInputs(), taken);
  const file = fileAmong({ ...sent, file: plain(sent["file"] ?? undefined) });
  const read = readEnvironmentFile(request.getName(), file, optionsOf(request, provider), run);
  const [{ default: grpc }, { default: service }] = await Promise.all([
    import("@grpc/grpc-js"),
    import("@pulumi/pulumi/proto/resource_grpc_pb.js"),
  ]);
  const client = new service.ResourceMonitorClient(request.getMonitorendpoint(), grpc.credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
  });
  const monitor: Monitor = {
    registerResource: (each) => asked((done) => client.registerResource(each, done)),
    registerResourceOutputs: (each) => asked((done) => client.registerResourceOutputs(each, done)),
  };
  try {
    const { urn, outputs, dependencies } = await registerEnvironment(monitor, read);
    const answer = new providerProto.ConstructResponse().setUrn(urn).setState(structOf(outputs));
    for (const [name, urns] of Object.entries(dependencies)) {
      const names = new providerProto.ConstructResponse.PropertyDependencies().setUrnsList(urns);
      answer.getStatedependenciesMap().set(name, names);
    }
    return answer;
  } catch (error) {
    // An engine that ends has reported why, and would report a failure here as another one.
    const { code } = error as { code?: number };
    if (code === statusCodes.UNAVAILABLE || code === statusCodes.CANCELLED)
      return new providerProto.ConstructResponse();
    throw error;
  } finally {
    client.close();
  }
}

const asked = <Answer>(ask: (done: (error: ServiceError | null, answer: Answer) => void) => void) =>
  new Promise<Answer>((resolve, reject) => ask((error, answer) => (error ? reject(error) : resolve(answer))));

function runOf(request: pb.ConstructRequest): ProgramRun {
  const secret = new Set(request.getConfigsecretkeysList());
  const entries = request.getConfigMap().toArray();
  return {
    project: request.getProject(),
    stack: request.getStack(),
    folder: process.cwd(),
    config: new Map(entries.map(([key, text]) => [key, { text, secret: secret.has(key) }])),
  };
}

function optionsOf(request: pb.ConstructRequest, own: string | undefined): EnvironmentOptions {
  const sent = request.getCustomtimeouts();
  const timeouts = sent && new resourceProto.RegisterResourceRequest.CustomTimeouts();
  timeouts
    ?.setCreate(sent?.getCreate() ?? "")
    .setUpdate(sent?.getUpdate() ?? "")
    .setDelete(sent?.getDelete() ?? "");
  return {
    parent: request.getParent(),
    dependencies: request.getDependenciesList(),
    aliases: request.getAliasesList(),
    protect: request.hasProtect() ? request.getProtect() : undefined,
    retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
    customTimeouts: timeouts,
    provider: request.getProvidersMap().get("microapps") ?? own ?? "",
  };
}

/** Signature of a value that an engine sends with where it comes from. */
const outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** The path in a value that may be an output. Its errors name the file, so it can't be a secret. */
function plain(value: unknown): unknown {
  if (value === unknownValue) throw new Error("file is not known yet: give a path that no resource decides");
  if (!isObject(value)) return value;
  const kind = value[signature];
  if (kind === secretSignature || value["secret"] === true)
    throw new Error("file is a secret, and every error names it: give a plain path");
  return kind === outputSignature ? plain("value" in value ? value["value"] : unknownValue) : value;
}
