import { resolveFromProject, startNode } from "../processes/process.ts";
import { serve, type Service } from "../processes/service.ts";

export interface HostOptions {
  project: string;
  stack: string;
  workdir: string;
  /** Where the engine listens, for log messages. */
  engineAddress: string;
  environment: NodeJS.ProcessEnv;
  onLine: (line: string, stream: "stdout" | "stderr") => void;
}

/** Starts the official host of dynamic providers, of the @pulumi/pulumi that the project has installed. */
export function startHost(options: HostOptions): Service {
  const script = resolveFromProject(options.workdir, "@pulumi/pulumi/cmd/dynamic-provider");
  const told = { PULUMI_NODEJS_PROJECT: options.project, PULUMI_NODEJS_STACK: options.stack };
  return serve({
    name: "the provider process",
    begin: (onLine) =>
      startNode({
        arguments: [script, options.engineAddress],
        cwd: options.workdir,
        environment: { ...options.environment, ...told },
        onLine,
      }),
    onLine: options.onLine,
    lastWords: () => "",
    // It holds nothing that would have to be put in order.
    stop: () => Promise.resolve(),
  });
}
