import { keepMemorySmall } from "../../machine/processes.ts";
import { isObject } from "../../platform/contract/wire.ts";
import type { Resource } from "../resources/resource.ts";
import { resourceNamed } from "../resources/resources.ts";
import { configuration, type Configuration, configure, UnknownSetting } from "./configuration.ts";
import { endWithEngine } from "./lifetime.ts";
import { explicitInput, findOwnResource, pickOwnSettings } from "./names.ts";
import { type Call, type Departure, Failure, Operations, type RunOptions } from "./operations.ts";
import { reporterTo } from "./progress.ts";
import {
  hideProperties,
  type Properties,
  secrecy,
  secretCells,
  secretsOf,
  secretTexts,
  unhidden,
  fromDynamic,
  remembering,
} from "./properties.ts";

/** The configuration as the dynamic-provider host hands it over. */
interface HostConfiguration {
  get: (key: string) => unknown;
  /** All of it by key, as @pulumi/pulumi keeps it; its own type hides it. */
  rawConfig?: unknown;
}

interface Refused {
  property: string;
  reason: string;
}

interface Compared {
  changes: boolean;
  replaces: string[];
  deleteBeforeReplace: boolean;
}

/**
 * The interface that the dynamic-provider host of @pulumi/pulumi calls. Property values are plain, secrets in clear.
 */
export interface TypeProvider {
  configure: (request: { config: HostConfiguration }) => Promise<void>;
  check: (olds: Properties, news: Properties) => Promise<{ inputs: Properties; failures: Refused[] }>;
  diff: (id: string, olds: Properties, news: Properties) => Promise<Compared>;
  create: (inputs: Properties) => Promise<{ id: string; outs: Properties }>;
  read: (id: string, state: Properties) => Promise<{ id: string; props?: Properties; inputs?: Properties }>;
  update: (id: string, olds: Properties, news: Properties) => Promise<{ outs: Properties }>;
  delete: (id: string, state: Properties) => Promise<void>;
}

// One host process serves one configuration.
let own: DynamicProviders | undefined;

/** The provider of one resource type, for the dynamic-provider host. */
export function handler(name: string): TypeProvider {
  const resource = resourceOf(name);
  own ??= started();
  return own.of(resource);
}

function resourceOf(name: string): Resource {
  const resource = resourceNamed(name);
  if (!resource) throw new Error(`pulumi-microapps has no resource ${name}: it may come from a newer version`);
  return resource;
}

function started(): DynamicProviders {
  const [, , engine] = process.argv;
  const providers = new DynamicProviders({ engine, report: reporterTo(engine) });
  const stop = (): void => providers.stop();
  endWithEngine(engine, () => {
    providers.operations.orphaned();
    stop();
  });
  endOnSignal();
  return providers;
}

/** The providers of all types in a process, or of one configuration in the engine's own. */
export class DynamicProviders {
  readonly operations: Operations;
  readonly #stopped = new AbortController();
  /** Set once the engine has checked something: then it works with what is configured now. */
  isCurrent = false;
  /** The option `ignoreChanges` of each resource that was checked, by its URN. */
  readonly ignores = new Map<string, readonly string[]>();
  host: HostConfiguration | undefined;
  /** The parsed configuration of the host, which does not change while it runs. */
  #current: { host: HostConfiguration | undefined; configuration: Configuration } | undefined;

  constructor(options: Omit<RunOptions, "configuration" | "directory" | "signal">) {
    const [directory, { signal }] = [process.cwd(), this.#stopped];
    this.operations = new Operations({ ...options, directory, signal, configuration: () => this.#configured() });
  }

  of(resource: Resource): TypeProvider {
    if (resource.name === "SeedRows") keepMemorySmall();
    return new DynamicProvider(resource, this);
  }

  /** Throws where this version has no such resource. */
  named(name: string): TypeProvider {
    return this.of(resourceOf(name));
  }

  /** For an engine in this process: what becomes of what a deletion of such a resource is about. */
  async departs(properties: Properties): Promise<Departure | undefined> {
    const resource = resourceNamed(findOwnResource(String(properties["__provider"])) ?? "");
    return resource && new DynamicProvider(resource, this).departs(properties);
  }

  /** Ends running operations between two calls of the platform; the state keeps what is done. */
  stop(): void {
    this.#stopped.abort();
  }

  /** The configuration of the host. Throws when it can't be used. */
  #configured(): Configuration {
    const { host } = this;
    if (this.#current && this.#current.host === host) return this.#current.configuration;
    try {
      const { settings, explicit } = settingsOf(host);
      this.#current = { host, configuration: configure(settings, process.env, explicit) };
      return this.#current.configuration;
    } catch (error) {
      if (!(error instanceof UnknownSetting) || this.isCurrent) throw error;
      throw new UnknownSetting(
        `${error.message} (a refresh or destroy goes by what was configured at the last up: correct it, then run up first)`,
      );
    }
  }
}

/** Ends this process in order when an engine ends it: its notes of the run are removed. */
function endOnSignal(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}

/** The settings of the host, or, of one that does not list its keys, those with a key of ours: programs check the rest. */
function settingsOf(host: HostConfiguration | undefined): { settings: Record<string, unknown>; explicit: boolean } {
  const known = configuration.keyof().options.map((key) => `microapps:${key}`);
  const values = isObject(host?.rawConfig)
    ? host.rawConfig
    : Object.fromEntries(known.map((key) => [key, host?.get(key)]));
  return {
    settings: pickOwnSettings(values),
    // Keys without a package are those of an explicit provider that was the plugin's before.
    explicit: host?.get(explicitInput) !== undefined || Object.keys(values).some((key) => !key.includes(":")),
  };
}

/** One resource type, as the host calls it. */
class DynamicProvider implements TypeProvider {
  readonly #resource: Resource;
  readonly #providers: DynamicProviders;

  constructor(resource: Resource, providers: DynamicProviders) {
    this.#resource = resource;
    this.#providers = providers;
  }

  get #operations(): Operations {
    return this.#providers.operations;
  }

  // The host has this provider in its cache before `configure` has ended, so it must not wait for anything.
  configure({ config }: { config: HostConfiguration }): Promise<void> {
    this.#providers.host = config;
    return Promise.resolve();
  }

  async check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: Refused[] }> {
    this.#providers.isCurrent = true;
    const { call, inputs: declared, secrets, isPreview, ignoreChanges = [], olds: old } = this.#asked(news, olds);
    if (call.urn !== undefined) this.#providers.ignores.set(call.urn, ignoreChanges);
    this.#operations.forecasts.isUpdate = isPreview === false;
    const wanted = { ...declared, ...secrecy(this.#resource, new Set(secrets)) };
    const { inputs, problems } = await this.#operations.check(call, old, wanted).catch(fail);
    return {
      inputs: remembering(this.#shown(inputs), secrets),
      // No property is named: an engine prints the value of one that is.
      failures: problems.map((reason) => ({ property: "", reason })),
    };
  }

  async diff(id: string, state: Properties, news: Properties): Promise<Compared> {
    const { call, inputs, olds } = this.#asked(news, state);
    const change = await this.#operations.diff(call, id, olds, inputs).catch(fail);
    // A state of the plugin has to get the provider by which the host finds this one again.
    const isOfPlugin = state["__provider"] === undefined;
    return {
      changes: change.changed.length > 0 || isOfPlugin,
      replaces: change.replaces,
      deleteBeforeReplace: this.#resource.deleteBeforeReplace ?? false,
    };
  }

  async create(news: Properties): Promise<{ id: string; outs: Properties }> {
    const { call, inputs, secrets } = this.#asked(news);
    const { id, outputs } = await this.#operations.create(call, inputs).catch(tellWith(this.#resource, news));
    return { id, outs: remembering(this.#shown(outputs), secrets) };
  }

  async read(id: string, properties: Properties): Promise<{ id: string; props?: Properties; inputs?: Properties }> {
    const { call, inputs: state, secrets } = this.#asked(properties);
    const found = await this.#operations.read(call, id, state).catch(fail);
    if (!found) return { id: "" };
    return {
      id: found.id,
      props: remembering(this.#shown(found.outputs), secrets),
      ...(found.inputs ? { inputs: this.#shown(found.inputs) } : {}),
    };
  }

  async update(id: string, state: Properties, news: Properties): Promise<{ outs: Properties }> {
    const { call, inputs, secrets, olds } = this.#asked(news, state);
    const outputs = await this.#operations.update(call, id, olds, inputs).catch(tellWith(this.#resource, news));
    return { outs: remembering(this.#shown(outputs), secrets) };
  }

  delete(id: string, properties: Properties): Promise<void> {
    const { call, inputs: state } = this.#asked(properties);
    return this.#operations.delete(call, id, state).catch(fail);
  }

  departs(properties: Properties): Promise<Departure | undefined> {
    const { call, inputs: state } = this.#asked(properties);
    return this.#operations.departs(call, state).catch(fail);
  }

  /** Properties as the engine has them, of which some are hidden. */
  #shown(properties: Properties): Properties {
    return hideProperties(this.#resource, properties);
  }

  /** Splits an engine's properties into inputs and what is said about them; messages hide the secrets of them and of the state. */
  #asked(properties: Properties, state: Properties = {}) {
    const known = (properties: Properties) => fromDynamic(unhidden(this.#resource, properties));
    const [now, old] = [known(properties), known(state)];
    const all = [now, old];
    const names = all.flatMap(({ inputs, secrets }) => [...secrets, ...secretsOf(this.#resource, inputs)]);
    // The host hands over no URN. An engine saves outputs with an update alone, and a rename is none (it would send a
    // notification again): until there is one, a refresh and a deletion speak under the former name.
    const { resourceUrn } = now.inputs;
    const urn = typeof resourceUrn === "string" ? resourceUrn : undefined;
    const call: Call = {
      resource: this.#resource,
      urn,
      ignores: this.#providers.ignores.get(urn ?? "") ?? [],
      secrets: all.flatMap(({ inputs }) => secretTexts(inputs, names, secretCells(this.#resource, inputs))),
    };
    return { ...now, olds: old.inputs, call };
  }
}

/**
 * Throws the error as the host reports it: it prints text and stack of some, so these are this package's name and the sentence. What
 * failed in part it recognises by `id`, `properties` and `reasons`.
 */
function fail(error: unknown, outputsOf: (outputs: Properties) => Properties = (outputs) => outputs): never {
  if (!(error instanceof Failure)) throw error;
  const { message, partial } = error;
  const failure = new Error(message);
  Object.assign(failure, { stack: message, toString: () => "pulumi-microapps" });
  if (partial) {
    Object.assign(failure, { id: partial.id, properties: outputsOf(partial.outputs), reasons: [message] });
  }
  throw failure;
}

const tellWith =
  (resource: Resource, inputs: Properties) =>
  (error: unknown): never =>
    // The host forgets the provider of what failed in part: without it the next run could not go on.
    fail(error, (outputs) => ({
      ...remembering(hideProperties(resource, outputs), fromDynamic(inputs).secrets),
      __provider: inputs["__provider"],
    }));
