import { setTimeout as wait } from "node:timers/promises";
import { resolveFromProject, startNode } from "../processes/process.ts";
import { serve, type Service } from "../processes/service.ts";

export interface DynamicHostOptions {
  project: string;
  stack: string;
  workdir: string;
  /** Where the engine listens, for log messages. */
  engineAddress: string;
  environment: NodeJS.ProcessEnv;
  onLine: (line: string, stream: "stdout" | "stderr") => void;
}

/** Milliseconds for the host to end by itself. */
const maxEndMs = 1_000;

/** Starts the official host of dynamic providers, of the @pulumi/pulumi that the project has installed. */
export function startDynamicHost(options: DynamicHostOptions): Service {
  const script = resolveFromProject(options.workdir, "@pulumi/pulumi/cmd/dynamic-provider");
  const identity = { PULUMI_NODEJS_PROJECT: options.project, PULUMI_NODEJS_STACK: options.stack };
  return serve({
    name: "the provider process",
    start: (onLine) =>
      startNode({
        arguments: [script, options.engineAddress],
        cwd: options.workdir,
        environment: { ...options.environment, ...identity },
        onLine,
      }),
    onLine: options.onLine,
    describeOutput: () => "",
    // It may have files to remove.
    stop: async (started) => {
      started.interrupt();
      await Promise.race([started.ended, wait(maxEndMs, undefined, { ref: false })]).catch(() => undefined);
    },
  });
}
