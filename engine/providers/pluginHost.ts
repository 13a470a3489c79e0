import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EngineError, messageOf, Refusal } from "../errors.ts";
import { resolveFromProject, start, type Started, startNode, type StartOptions } from "../processes/process.ts";
import { serve, type Service } from "../processes/service.ts";
import { isObject } from "../values/json.ts";
import type { Config } from "../workspace/config.ts";
import type { PluginFolder } from "../workspace/plugins.ts";
import { type Project, readYaml } from "../workspace/project.ts";

export interface PluginOptions {
  project: Project;
  config: Config;
  /** Where the engine listens, for log messages. */
  engineAddress: string;
  environment: NodeJS.ProcessEnv;
}

/** Milliseconds that a plugin gets for a cancellation, and again for its end, as with Pulumi. */
const gracePeriodMs = 5000;
/** Characters of the last output that are kept to explain why a plugin ended. */
const maxOutputCharacters = 4000;

/** Finds how the plugin in a folder is started: by its executable, or by the runtime that PulumiPlugin.yaml names. */
export function entryOf({ name, folder }: PluginFolder): { executable: string } | { manifest: string } {
  const where = `the plugin '${name}'`;
  if (!existsSync(folder)) throw new EngineError(`${where}: there is no folder ${folder}`);
  if (!statSync(folder).isDirectory()) throw new EngineError(`${where}: ${folder} is not a folder`);
  const extensions = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  const candidates = extensions.map((extension) => path.join(folder, `pulumi-resource-${name}${extension}`));
  const executable = candidates.find((candidate) => existsSync(candidate) && statSync(candidate).isFile());
  if (executable !== undefined) return { executable };
  const manifest = path.join(folder, "PulumiPlugin.yaml");
  if (existsSync(manifest)) return { manifest };
  throw new EngineError(`${where}: there is no executable ${candidates.join(" or ")}`);
}

/** Starts a provider plugin in the program's folder. What it prints is shown only when it fails. */
export function startPlugin(plugin: PluginFolder, options: PluginOptions): Service {
  const entry = entryOf(plugin);
  const what = "executable" in entry ? entry.executable : plugin.folder;
  let output = "";
  return serve({
    name: `the plugin ${what}`,
    start: (onLine) => {
      const startOptions: StartOptions = {
        arguments: [options.engineAddress],
        cwd: options.project.workdir,
        environment: { ...options.environment, ...pluginEnvironment(plugin, options) },
        onLine,
      };
      return "executable" in entry
        ? start(entry.executable, startOptions)
        : startManifest(entry.manifest, startOptions);
    },
    onLine: (line, stream, ready) => {
      if (stream === "stdout" && !ready) {
        throw new EngineError(`the plugin ${what} did not print its port first, but: ${line.slice(0, 200)}`);
      }
      output = `${output}\n${line}`.slice(-maxOutputCharacters);
    },
    describeOutput: () => (output === "" ? "" : `; it said:${output}`),
    stop: end,
  });
}

/** Cancels its work, so that it can put in order what it is doing, and then interrupts it. */
async function end(started: Started, cancel: () => Promise<void>): Promise<void> {
  const timeout = new AbortController();
  const ended = started.ended.catch(() => undefined);
  const within = (work: Promise<unknown>): Promise<unknown> =>
    Promise.race([work, ended, wait(gracePeriodMs, undefined, { signal: timeout.signal }).catch(() => undefined)]);
  await within(cancel());
  started.interrupt();
  await within(ended);
  timeout.abort();
}

/** The variables that the Pulumi CLI sets: options of the runtime, the project, and the package's own configuration. */
function pluginEnvironment({ name }: PluginFolder, { project, config }: PluginOptions): NodeJS.ProcessEnv {
  const options = Object.entries(project.runtimeOptions).map(([key, value]): [string, string] => [
    `PULUMI_RUNTIME_${key.toUpperCase()}`,
    String(value),
  ]);
  const own = Object.entries(config)
    .filter(([key]) => key.startsWith(`${name}:`))
    .map(([key, { text }]) => [key.slice(name.length + 1), text]);
  return {
    ...Object.fromEntries(options),
    PULUMI_PROJECT: project.name,
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(own)),
  };
}

/** Starts a plugin without an executable in the runtime that its PulumiPlugin.yaml names. */
function startManifest(manifest: string, options: StartOptions): Started {
  const { runtime } = readYaml(manifest);
  const name = isObject(runtime) ? runtime["name"] : runtime;
  if (name !== "nodejs") {
    throw new Refusal(
      `${manifest}: the embedded engine starts plugins with 'runtime: nodejs' only: use the Pulumi CLI`,
    );
  }
  const folder = path.dirname(manifest);
  let runner: string;
  try {
    runner = resolveFromProject(folder, "@pulumi/pulumi/cmd/run-plugin");
  } catch (error) {
    throw new EngineError(`${manifest}: ${messageOf(error)}`);
  }
  return startNode({ ...options, arguments: [runner, folder, ...options.arguments] });
}
