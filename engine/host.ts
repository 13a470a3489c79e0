import { setTimeout } from "node:timers/promises";
import type { Service } from "./client.ts";
import { EngineError } from "./errors.ts";
import { describeEnd, resolveFromProject, startNode } from "./process.ts";

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
  let stopped = false;
  let found: (address: string) => void = () => undefined;
  const announced = new Promise<string>((resolve) => (found = resolve));
  let ready = false;
  const started = startNode({
    arguments: [script, options.engineAddress],
    cwd: options.workdir,
    environment: { ...options.environment, PULUMI_NODEJS_PROJECT: options.project, PULUMI_NODEJS_STACK: options.stack },
    onLine: (line, stream) => {
      // The first line is the port; everything later is the user's.
      if (!ready && stream === "stdout" && /^\d+$/.test(line)) {
        ready = true;
        found(`127.0.0.1:${line}`);
      } else options.onLine(line, stream);
    },
  });
  const failure = started.ended.then(
    (how) => `the provider process ${describeEnd(how)}, and took what it was doing with it`,
  );
  const address = Promise.race([
    announced,
    failure.then((message) => Promise.reject(new EngineError(`could not start the provider: ${message}`))),
  ]);
  // Whoever needs the address sees the failure; nobody may need it.
  address.catch(() => undefined);
  return {
    address,
    // A broken connection is noticed a moment before the end of the process.
    ended: async () => (stopped ? undefined : await Promise.race([failure, setTimeout(1000, undefined)])),
    stop: async () => {
      stopped = true;
      started.kill();
      await started.ended.catch(() => undefined);
    },
  };
}
