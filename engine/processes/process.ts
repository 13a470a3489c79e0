import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { withoutPassphrase } from "../../machine/processes.ts";
import { EngineError } from "../errors.ts";

export interface Started {
  child: ChildProcess;
  /** How it ended. Resolves after its output was read. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Interrupts it and all that it has started, as Ctrl-C does. */
  interrupt: () => void;
  /** Kills it and all that it has started. */
  kill: () => void;
}

export interface StartOptions {
  arguments: string[];
  cwd: string;
  environment: NodeJS.ProcessEnv;
  onLine: (line: string, stream: "stdout" | "stderr") => void;
}

const running = new Set<Started>();
// An unforeseen end of the engine must not leave children behind.
process.on("exit", () => {
  for (const started of running) started.kill();
});

// @pulumi/pulumi sets it while it loads, which makes what Node compiled before of no use: it is set from the start.
// And what is loaded is no garbage: there is room for it from the start, in megabytes. More room costs memory and saves nothing.
const flags = ["--allow-natives-syntax", "--min-semi-space-size=16", "--max-semi-space-size=16"];

/**
 * Starts Node with a life line, which ends the process when the engine ends.
 * @param variables given over that line, so that nobody can look them up
 */
export function startNode(
  options: StartOptions & { nodeArguments?: string[]; variables?: NodeJS.ProcessEnv },
): Started {
  const lifeline = new URL(import.meta.url.endsWith(".ts") ? "./lifeline.ts" : "./lifeline.js", import.meta.url);
  const nodeArguments = [...flags, "--import", lifeline.href, ...(options.nodeArguments ?? [])];
  const { variables } = options;
  const started = start(process.execPath, {
    ...options,
    arguments: [...nodeArguments, ...options.arguments],
    environment: { ...options.environment, ...(variables ? { MICROAPPS_LIFELINE: "variables" } : {}) },
  });
  const line = started.child.stdio[3] as Writable; // a pipe, as `start` opens it
  line.on("error", () => undefined);
  if (variables)
    line.write(`${JSON.stringify(variables)}
`);
  return started;
}

/** Starts a process in a process group of its own, so that Ctrl-C reaches the engine only. */
export function start(command: string, options: StartOptions): Started {
  const child = spawn(command, options.arguments, {
    cwd: options.cwd,
    env: withoutPassphrase(options.environment),
    detached: true,
    // Descriptor 3 is the life line of those that watch it; a batch file needs its interpreter.
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    shell: command.endsWith(".cmd"),
  });
  const read = (stream: "stdout" | "stderr"): Promise<void> =>
    new Promise((resolve) => {
      const input = child[stream];
      if (input === null) {
        resolve();
        return;
      }
      const lines = createInterface({ input, crlfDelay: Infinity });
      lines.on("line", (line) => options.onLine(line, stream));
      lines.on("close", resolve);
    });
  const output = Promise.all([read("stdout"), read("stderr")]);
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", (error) => reject(new EngineError(`could not start ${command}: ${error.message}`)));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // The whole group has ended already.
    }
  };
  const started: Started = {
    child,
    ended: exit.then(async (how) => {
      // Its own children, if any, must not outlive it, nor keep its output open.
      started.kill();
      await output;
      running.delete(started);
      return how;
    }),
    interrupt: () => signal("SIGINT"),
    kill: () => signal("SIGKILL"),
  };
  started.ended.catch(() => running.delete(started));
  running.add(started);
  return started;
}

/** Finds a file of the @pulumi/pulumi that the project itself has installed. */
export function resolveFromProject(folder: string, request: string): string {
  try {
    return createRequire(path.join(folder, "package.json")).resolve(request);
  } catch {
    throw new EngineError(`the Pulumi SDK is not installed in ${folder}: run 'npm install @pulumi/pulumi' there`);
  }
}

/** Describes an end: "exited with code 1", "was killed by SIGKILL". */
export function describeEnd({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): string {
  return signal === null ? `exited with code ${code ?? 0}` : `was killed by ${signal}`;
}
