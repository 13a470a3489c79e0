import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EngineError, Refusal } from "../errors.ts";
import type { Emit, LogEvent } from "../events.ts";
import type { HostedCalls } from "../hosted/calls.ts";
import {
  describeEnd,
  resolveFromProject,
  start,
  type Started,
  startNode,
  type StartOptions,
} from "../processes/process.ts";
import { dynamicPackage } from "../values/urns.ts";
import type { PropertyMap } from "../values/values.ts";
import type { Config } from "../workspace/config.ts";
import type { PluginFolder, Project } from "../workspace/project.ts";
import { connectTo, type Service } from "./connection.ts";
import type { ResourceProvider } from "./provider.ts";
import { ProviderClient } from "./providerClient.ts";
import { SplitProvider } from "./splitProvider.ts";

/** Milliseconds that a provider gets for a cancellation, and again for its end, as with Pulumi. */
const gracePeriodMs = 5000;
/** Milliseconds for a provider in this process to end. */
const maxEndMs = 1000;

/** Where a provider in this process works. */
interface Hosting {
  /** The folder of the plugin; undefined for dynamic resources. */
  plugin: string | undefined;
  /** The folder of the program. */
  workdir: string;
  /** Where the engine listens: the name of the run for other processes. */
  engine: string;
  /** What the state has of a type, such as `Team`, before a program has declared any. Secrets are in clear. */
  recall: (type: string) => readonly { urn: string; id: string; outputs: PropertyMap }[];
  log: (entry: {
    severity: "info" | "warning" | "error";
    message: string;
    urn: string | undefined;
    ephemeral: boolean;
  }) => boolean | undefined;
}

/** Gives providers in this process; undefined for those that need a process of their own. */
export type HostProvider = (
  hosting: Hosting,
) => { provider: Promise<HostedCalls>; servesCode: (code: unknown) => boolean } | undefined;

/** Settings of a run for its providers. */
export interface ProviderSettings {
  project: Project;
  /** Name of the stack. */
  stack: string;
  config: Config;
  /** Where the engine listens, for log messages. */
  engineAddress: string;
  environment: NodeJS.ProcessEnv;
  recall: Hosting["recall"];
  /** Hosts providers in this process; default: each has a process of its own. */
  host?: HostProvider | undefined;
  emit: Emit;
  /** Takes the messages of a provider in this process; false where it is dropped. */
  log: (event: LogEvent) => boolean | undefined;
}

/**
 * Starts a provider: the plugin, or without one that of dynamic resources. It is in this process where the host has it, and
 * its environment is this process's; what it does not serve there gets a process of its own.
 */
export function startProvider(plugin: PluginFolder | undefined, settings: ProviderSettings): ResourceProvider {
  const { project, engineAddress, environment, host, log, recall } = settings;
  const { workdir } = project;
  const inProcess = (): ProviderClient =>
    new ProviderClient(startProcess(plugin, settings), { engineAddress, folder: plugin?.folder ?? workdir });
  const hosted =
    environment === process.env
      ? host?.({ plugin: plugin?.folder, workdir, engine: engineAddress, recall, log: logTo(log) })
      : undefined;
  if (!hosted) return inProcess();
  const own = new ProviderClient(serviceOf(hosted.provider), { engineAddress, folder: plugin?.folder ?? workdir });
  return new SplitProvider(own, inProcess, plugin ? () => true : hosted.servesCode);
}

/** Starts a provider in this process for a project of which nothing may be executed. `name`: of its package. */
export function startInProcess(host: HostProvider, name: string, settings: ProviderSettings): ResourceProvider {
  const { project, engineAddress, log, recall } = settings;
  const plugin = name === dynamicPackage ? undefined : name;
  const hosted = host({ plugin, workdir: project.workdir, engine: engineAddress, recall, log: logTo(log) });
  if (!hosted) throw new Refusal(`the package '${name}' is not served here: the Pulumi CLI runs it`);
  const own = new ProviderClient(serviceOf(hosted.provider), { engineAddress, folder: project.workdir });
  const others = (): never => {
    throw new Refusal(
      "the state has a dynamic resource of other code, which nothing executes here: remove it with the program that made it",
    );
  };
  return plugin === undefined ? new SplitProvider(own, others, hosted.servesCode) : own;
}

const logTo =
  (log: ProviderSettings["log"]): Hosting["log"] =>
  ({ severity, message, urn, ephemeral }) =>
    log({
      ...{ type: "log", severity, message },
      ...(urn === undefined ? {} : { urn }),
      ...(ephemeral ? { ephemeral } : {}),
    });

function serviceOf(provider: Promise<HostedCalls>): Service {
  const call = provider.then((hosted) => hosted.call);
  call.catch(() => undefined); // the first call fails with it
  return {
    call,
    departs: async (request) => (await provider).departs(request),
    ended: () => Promise.resolve(undefined),
    stop: async () => {
      const ended = provider.then(({ end }) => end());
      await Promise.race([ended, wait(maxEndMs, undefined, { ref: false })]).catch(() => undefined);
    },
  };
}

/** The executable of the plugin in a folder. */
export function executableOf({ name, folder }: PluginFolder): string {
  const where = `the plugin '${name}'`;
  if (!existsSync(folder)) throw new EngineError(`${where}: there is no folder ${folder}`);
  const extensions = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  const candidates = extensions.map((extension) => path.join(folder, `pulumi-resource-${name}${extension}`));
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (found !== undefined) return found;
  throw new EngineError(
    `${where}: there is no executable ${candidates.join(" or ")}; the Pulumi CLI starts other plugins`,
  );
}

/** Starts a provider in a process of its own, in the program's folder. It prints the port that it listens on as a line. */
function startProcess(plugin: PluginFolder | undefined, settings: ProviderSettings): Service {
  const executable = plugin && executableOf(plugin);
  const name = executable === undefined ? "the provider process" : `the plugin ${executable}`;
  let stopped = false;
  const port = Promise.withResolvers<string>();
  let isReady = false;
  const started = startCommand(plugin, executable, settings, (line, stream) => {
    if (isReady || stream === "stderr") {
      settings.emit({ type: "log", severity: stream === "stderr" ? "error" : "info", message: line, printed: stream });
      return;
    }
    isReady = true;
    if (/^\d+\s*$/.test(line)) port.resolve(line.trim());
    else port.reject(new EngineError(`${name} did not print its port first, but: ${line.slice(0, 200)}`));
  });
  const failure = started.ended.then((end) => `${name} ${describeEnd(end)}, and took what it was doing with it`);
  started.ended.then(
    (end) => port.reject(new EngineError(`could not start the provider: ${name} ${describeEnd(end)}`)),
    port.reject,
  );
  const connected = port.promise.then((number) => connectTo(`127.0.0.1:${number}`));
  // Whoever needs the client sees the failure; nobody may need it.
  const call = connected.then((connection) => connection.call);
  for (const promise of [call, failure]) promise.catch(() => started.kill());
  return {
    call,
    // A broken connection is noticed a moment before the end of the process.
    ended: async () => (stopped ? undefined : await Promise.race([failure, wait(1000, undefined)])),
    stop: async (cancel) => {
      stopped = true;
      await endProcess(started, cancel);
      await connected.then(({ close }) => close()).catch(() => undefined);
    },
  };
}

function startCommand(
  plugin: PluginFolder | undefined,
  executable: string | undefined,
  { project, stack, config, engineAddress, environment }: ProviderSettings,
  onLine: StartOptions["onLine"],
): Started {
  const cwd = project.workdir;
  if (plugin && executable !== undefined) {
    // The variables that the Pulumi CLI sets: the project, and the package's own configuration.
    const own = Object.entries(config).filter(([key]) => key.startsWith(`${plugin.name}:`));
    const values = own.map(([key, { text }]) => [key.slice(plugin.name.length + 1), text]);
    const variables = { PULUMI_PROJECT: project.name, PULUMI_CONFIG: JSON.stringify(Object.fromEntries(values)) };
    return start(executable, {
      ...{ arguments: [engineAddress], cwd, onLine },
      environment: { ...environment, ...variables },
    });
  }
  // The official host of dynamic providers, of the @pulumi/pulumi that the project has installed.
  return startNode({
    ...{ arguments: [resolveFromProject(cwd, "@pulumi/pulumi/cmd/dynamic-provider"), engineAddress], cwd, onLine },
    environment: { ...environment, PULUMI_NODEJS_PROJECT: project.name, PULUMI_NODEJS_STACK: stack },
  });
}

/** Cancels the work of a process, so that it can put in order what it is doing, and then interrupts it. */
async function endProcess(started: Started, cancel: () => Promise<void>): Promise<void> {
  const timeout = new AbortController();
  const ended = started.ended.catch(() => undefined);
  const within = (work: Promise<unknown>): Promise<unknown> =>
    Promise.race([work, ended, wait(gracePeriodMs, undefined, { signal: timeout.signal }).catch(() => undefined)]);
  await within(cancel());
  started.interrupt();
  await within(ended);
  timeout.abort();
  started.kill();
  await ended;
}
