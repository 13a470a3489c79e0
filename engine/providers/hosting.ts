import type { ServiceError } from "@grpc/grpc-js";
import { setTimeout as wait } from "node:timers/promises";
import type { LogEvent } from "../events.ts";
import type { PluginFolder } from "../workspace/plugins.ts";
import type { OwnService, ResourceProviderClient } from "./connection.ts";
import type { ResourceProvider } from "./provider.ts";
import { ProviderClient } from "./providerClient.ts";
import { SplitProvider } from "./splitProvider.ts";

/** Milliseconds for a provider to end by itself. */
const maxEndMs = 1_000;

/** Surroundings of a provider in this process. */
export interface Hosting {
  /** The folder of the plugin; undefined for dynamic resources. */
  plugin: string | undefined;
  /** The folder of the program. */
  workdir: string;
  /** Where the engine listens: the name of the run for other processes. */
  engine: string;
  log: (entry: {
    severity: "info" | "warning" | "error";
    message: string;
    urn: string | undefined;
    ephemeral: boolean;
  }) => void;
}

/** A provider in this process. Its calls have the names, and take the messages, of gRPC. */
export interface HostedProvider {
  call: (method: string, request: never, done: (error: ServiceError | null, answer?: unknown) => void) => void;
  /** Ends its run: what it answered is saved. */
  end: () => Promise<void>;
}

/** Gives providers in this process; undefined for those that need a process of their own. */
export type HostProvider = (
  hosting: Hosting,
) => { provider: Promise<HostedProvider>; servesCode: (code: unknown) => boolean } | undefined;

/** Settings of a run for its providers. */
export interface ProviderSettings {
  project: { workdir: string };
  /** Where the engine listens, for log messages. */
  engineAddress: string;
  environment: NodeJS.ProcessEnv;
  /** Hosts providers in this process; default: each has a process of its own. */
  host?: HostProvider | undefined;
  /** Takes the messages of such a provider. */
  log: (event: LogEvent) => void;
}

/**
 * Starts a provider in this process; undefined where it needs one of its own: with an environment that is not this
 * process's, too. `startProcess` starts that one for what the provider here does not serve.
 */
export function startHosted(
  plugin: PluginFolder | undefined,
  { project: { workdir }, engineAddress, environment, host, log }: ProviderSettings,
  startProcess: () => ProviderClient,
): ResourceProvider | undefined {
  if (!host || environment !== process.env) return undefined;
  const hosting = { plugin: plugin?.folder, workdir, engine: engineAddress };
  const hosted = host({
    ...hosting,
    log: ({ severity, message, urn, ephemeral }) =>
      log({
        type: "log",
        severity,
        message,
        ...(urn === undefined ? {} : { urn }),
        ...(ephemeral ? { ephemeral } : {}),
      }),
  });
  if (!hosted) return undefined;
  const own = new ProviderClient(serviceOf(hosted.provider), { engineAddress, folder: plugin?.folder ?? workdir });
  return new SplitProvider(own, startProcess, plugin ? () => true : hosted.servesCode);
}

function serviceOf(provider: Promise<HostedProvider>): OwnService {
  const client = provider.then(clientOf);
  client.catch(() => undefined); // the first call fails with it
  return {
    client,
    ended: () => Promise.resolve(undefined),
    stop: async () => {
      const ended = provider.then(({ end }) => end());
      await Promise.race([ended, wait(maxEndMs, undefined, { ref: false })]).catch(() => undefined);
    },
  };
}

/** The calls of a provider as methods of a client. */
const clientOf = ({ call }: HostedProvider): ResourceProviderClient =>
  new Proxy({} as ResourceProviderClient, {
    get: (_, method: string) => {
      if (method === "then") return undefined; // it is no promise
      if (method === "close") return () => undefined;
      return (request: never, done: Parameters<HostedProvider["call"]>[2]) => call(method, request, done);
    },
  });
