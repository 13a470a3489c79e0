import type {
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  RegisterResourceResponse,
} from "@pulumi/pulumi/proto/resource_pb.js";
import type { Run } from "../deployment/run.ts";
import { messageOf, ReportedError } from "../errors.ts";
import type { HostProvider } from "../providers/starting.ts";
import { makeUrn, stackType } from "../values/urns.ts";
import type { Config } from "../workspace/config.ts";
import type { Project } from "../workspace/project.ts";
import type { Program } from "./languageHost.ts";
import type { ResourceMonitor } from "./resourceMonitor.ts";

/** What a program in this process is given. */
export interface HostedRun {
  project: string;
  stack: string;
  config: Config;
  monitor: {
    registerResource: (request: RegisterResourceRequest) => Promise<RegisterResourceResponse>;
    registerResourceOutputs: (request: RegisterResourceOutputsRequest) => Promise<void>;
  };
}

/** A program in this process, for a project that has none of its own: nothing of its folder is executed. */
export interface HostedProgram {
  /** The packages whose providers its resources have. */
  packages: readonly string[];
  /** Gives the providers, which are in this process as well; `plugin` is the name of the package. */
  host: HostProvider;
  /** Registers everything, and settles when nothing is under way any more. Throws for what is wrong. */
  run: (run: HostedRun) => Promise<void>;
}

/** Finds the program of a project; undefined where it has one that needs a process of its own. */
export type HostProgram = (
  project: Pick<Project, "file" | "runtime" | "workdir" | "content">,
) => HostedProgram | undefined;

/** Runs a program of this process as one that was started. */
export function startHosted(run: Run, program: HostedProgram["run"], monitor: ResourceMonitor): Program {
  const { project, stack, config } = run;
  const registered = program({
    ...{ project, stack, config },
    monitor: {
      registerResource: (request) => monitor.register(request),
      registerResourceOutputs: (request) => monitor.registerOutputs(request),
    },
  }).catch((error: unknown) => {
    if (run.aborted) return;
    const urn = makeUrn(stack, project, "", stackType, `${project}-${stack}`);
    if (!(error instanceof ReportedError)) run.fail(messageOf(error), urn);
    run.failed = true;
    run.abort();
  });
  return { registered, stop: () => registered };
}
