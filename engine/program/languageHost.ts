import type { Run } from "../deployment/run.ts";
import { describeEnd, resolveFromProject, type Started, startNode } from "../processes/process.ts";
import { makeUrn, stackType } from "../values/urns.ts";
import type { Config } from "../workspace/config.ts";
import type { Project } from "../workspace/project.ts";
import type { MonitorServer } from "./monitorServer.ts";

/** The exit status of the official runner when it has reported the failure itself. */
const alreadyReported = 32;
/** Milliseconds from an interrupt to the kill, as in Pulumi's language host. */
const gracePeriodMs = 5000;

export interface Program {
  /** Resolves when the program has registered everything, or has ended too early, which is reported. */
  registered: Promise<void>;
  /** Lets the program end, and waits for it. */
  stop: () => Promise<void>;
}

/** Starts the program of a project and reports how it ends. */
export function startProgram(
  run: Run,
  project: Project,
  monitor: MonitorServer,
  environment: NodeJS.ProcessEnv,
): Program {
  const urn = makeUrn(run.stack, run.project, "", stackType, `${run.project}-${run.stack}`);
  const started = startRunner(run, project, monitor.address, environment, urn);
  const interrupt = (): void => {
    started.interrupt();
    setTimeout(started.kill, gracePeriodMs).unref();
  };
  run.onAbort(interrupt);
  let complete = false;
  const finished = monitor.finished.then(() => {
    complete = true;
  });
  const ended = started.ended.then(({ code, signal }) => {
    if (run.aborted || complete) return;
    if (code !== alreadyReported) {
      const how = describeEnd({ code, signal });
      run.fail(
        code === 0
          ? "the program ended before everything was registered: does it call process.exit?"
          : `the program ${how}`,
        urn,
      );
    }
    run.failed = true;
    run.abort();
  });
  return {
    registered: Promise.race([finished, ended]),
    stop: async () => {
      monitor.release();
      if (run.aborted) interrupt();
      const { code } = await started.ended;
      if (run.aborted || code === 0) return;
      run.failed = true;
      if (code !== alreadyReported)
        run.emit({ type: "log", severity: "error", message: `the program ended with exit code ${String(code)}`, urn });
    },
  };
}

/** Starts the official runner of the @pulumi/pulumi that the project has installed. `address`: of the monitor. */
function startRunner(
  run: Run,
  project: Project,
  address: string,
  environment: NodeJS.ProcessEnv,
  stackUrn: string,
): Started {
  return startNode({
    nodeArguments: project.nodeArguments,
    arguments: [
      ...[resolveFromProject(project.workdir, "@pulumi/pulumi/cmd/run"), "--monitor", address, "--engine", address],
      ...["--organization", "organization", "--project", run.project, "--root-directory", project.root],
      ...["--stack", run.stack, "--pwd", project.workdir, ...(run.preview ? ["--dry-run"] : [])],
      ...["--parallel", String(run.parallel), project.entry],
    ],
    cwd: project.workdir,
    environment: { ...environment, ...(project.typescript ? { PULUMI_NODEJS_TYPESCRIPT: "true" } : {}) },
    variables: configuration(run.config),
    onLine: (message, printed) => {
      // Output of a program that is being stopped only concerns the stop.
      if (run.aborted) return;
      run.emit({ type: "log", severity: printed === "stderr" ? "error" : "info", message, urn: stackUrn, printed });
    },
  });
}

function configuration(config: Config): NodeJS.ProcessEnv {
  const entries = Object.entries(config);
  return {
    PULUMI_CONFIG: JSON.stringify(
      Object.fromEntries(entries.map(([key, { text }]) => [key.replace(":", ":config:"), text])),
    ),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(entries.filter(([, { secret }]) => secret).map(([key]) => key)),
  };
}
