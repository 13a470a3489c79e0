import { setTimeout as sleep } from "node:timers/promises";
import { resources } from "../resources/resources.ts";
import { PartialFailure, type Context, type Resource } from "../resources/resource.ts";
import { configure, withoutSecrets, type Configuration } from "./configuration.ts";
import { endWithParent } from "./parent.ts";
import { connect, type Platform } from "./platform.ts";
import { reporterTo, type Reporter } from "./progress.ts";
import { check, diff, type Properties } from "./properties.ts";

/** The configuration as the dynamic-provider host hands it over. */
interface HostConfiguration {
  get: (key: string) => unknown;
}

/** What the dynamic-provider host of @pulumi/pulumi calls. Property values are plain, secrets in clear. */
interface Provider {
  configure: (request: { config: HostConfiguration }) => Promise<void>;
  check: (olds: Properties, news: Properties) => Promise<{ inputs: Properties; failures: unknown[] }>;
  diff: (id: string, olds: Properties, news: Properties) => Promise<object>;
  create: (inputs: Properties) => Promise<{ id: string; outs: Properties }>;
  read: (id: string, state: Properties) => Promise<{ id: string; props?: Properties; inputs?: Properties }>;
  update: (id: string, olds: Properties, news: Properties) => Promise<{ outs: Properties }>;
  delete: (id: string, state: Properties) => Promise<void>;
}

// One host process serves one configuration; the platform is connected to once, by the first who needs it.
let host: HostConfiguration | undefined;
let platform: Promise<Platform> | undefined;
let report: Reporter | undefined;
const stopped = new AbortController();

/** The provider of one resource type, for the dynamic-provider host. */
export function handler(name: string): Provider {
  const resource = resources.find((one) => one.name === name);
  if (!resource) throw new Error(`pulumi-microapps has no resource ${name}: it may come from a newer version`);
  if (!report) {
    report = reporterTo(process.argv[2]);
    printOnce();
    endWithParent(() => stopped.abort());
  }
  return providerOf(resource, report);
}

function providerOf(resource: Resource, report: Reporter): Provider {
  const directory = process.cwd();

  /** Runs one call; a failure of it becomes one sentence without secrets and without a stack. */
  const call = async <Answer>(
    urn: unknown,
    work: (offline: Pick<Context, "report" | "directory">, settings: Configuration) => Promise<Answer>,
  ): Promise<Answer> => {
    let settings: Configuration | undefined;
    const clean = (text: string): string => withoutSecrets(text, settings);
    const reported = report(typeof urn === "string" ? urn : undefined, clean);
    try {
      settings = configure((key) => host?.get(key), process.env);
      return await work({ report: reported, directory }, settings);
    } catch (error) {
      throw told(error, clean);
    } finally {
      await reported.heard();
    }
  };

  const online = async (offline: Pick<Context, "report" | "directory">, settings: Configuration): Promise<Context> => {
    platform ??= connect(settings, directory, stopped.signal);
    try {
      const { client, members } = await platform;
      return {
        ...offline,
        client,
        members,
        signal: stopped.signal,
        sleep: (milliseconds) => sleep(milliseconds, undefined, { signal: stopped.signal }),
        now: Date.now,
      };
    } catch (error) {
      platform = undefined;
      throw error;
    }
  };

  return {
    // The host has this provider in its cache before `configure` has ended, so it must not wait for anything.
    configure: ({ config }) => {
      host = config;
      return Promise.resolve();
    },

    check: (olds, news) =>
      call(news["resourceUrn"], async (context) => {
        const { inputs, problems } = await check(resource, context, olds, news);
        return { inputs, failures: problems };
      }),

    diff: (_id, olds, news) =>
      call(news["resourceUrn"], async (context) => {
        const { changed, replaces } = await diff(resource, context, olds, news);
        return { changes: changed, replaces, deleteBeforeReplace: resource.deleteBeforeReplace ?? false };
      }),

    create: (inputs) =>
      call(inputs["resourceUrn"], async (offline, settings) => {
        const context = await online(offline, settings);
        const { id, outputs } = await resource
          .create(context, resource.inputs.parse(inputs))
          .catch(withProvider(inputs));
        return { id, outs: outputs };
      }),

    read: (id, state) =>
      call(state["resourceUrn"], async (offline, settings) => {
        // A state holds what the resource itself returned.
        const found = await resource.read(await online(offline, settings), id, state);
        if (!found) return { id: "" };
        return {
          id: found.id,
          props: found.outputs,
          ...(resource.keepsInputs ? {} : { inputs: inputsIn(resource, found.outputs) }),
        };
      }),

    update: (id, olds, news) =>
      call(news["resourceUrn"], async (offline, settings) => {
        const context = await online(offline, settings);
        const inputs = resource.inputs.parse(news);
        return { outs: await resource.update(context, id, olds as never, inputs).catch(withProvider(news)) };
      }),

    delete: (id, state) =>
      call(state["resourceUrn"], async (offline, settings) => {
        await resource.delete(await online(offline, settings), id, state);
      }),
  };
}

const inputsIn = (resource: Resource, outputs: Properties): Properties =>
  Object.fromEntries(Object.entries(outputs).filter(([name]) => name in resource.inputs.shape));

/** The host forgets the provider of what failed in part: without it the next run could not go on. */
const withProvider =
  (inputs: Properties) =>
  (error: unknown): never => {
    if (!(error instanceof PartialFailure)) throw error;
    throw new PartialFailure(error.message, error.id, { ...error.outputs, __provider: inputs["__provider"] });
  };

/** Begins what the host prints of an error that it answers as well. */
const alsoAnswered = "also answered: ";

/** Keeps the host from printing what it answers as well: an engine would tell it twice. */
function printOnce(): void {
  const print = console.error;
  console.error = (...parts: unknown[]): void => {
    if (!String(parts[0]).startsWith(alsoAnswered)) print(...parts);
  };
}

/**
 * The error as the host reports it: it prints text and stack of some, and sends the message of all; what failed in part
 * it recognises by `id`, `properties` and `reasons`.
 */
function told(error: unknown, clean: (text: string) => string): Error {
  const message = clean(error instanceof Error ? error.message : String(error));
  const told = new Error(message);
  told.stack = message;
  told.toString = () => alsoAnswered;
  if (error instanceof PartialFailure) {
    Object.assign(told, { id: error.id, properties: error.outputs, reasons: [message] });
  }
  return told;
}
