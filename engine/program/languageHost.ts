import type { Run } from "../deployment/run.ts";
import { describeEnd, resolveFromProject, startNode } from "../processes/process.ts";
import { makeUrn, stackType } from "../values/urns.ts";
import type { Config } from "../workspace/config.ts";
import type { Project } from "../workspace/project.ts";
import type { Monitor } from "./monitorServer.ts";

/** The exit status of the official runner when it has told the user what is wrong itself. */
const alreadyTold = 32;
/** How long an interrupted program may take to end, in milliseconds; as long as with Pulumi's language host. */
const patience = 5000;

/** Starts the program in the official runner of the @pulumi/pulumi that the project has installed. */
export function startProgram(
  run: Run,
  project: Project,
  monitor: Monitor,
  parallel: number,
  environment: NodeJS.ProcessEnv,
): {
  /** Resolves when it has registered everything, or has ended too early, which is told. */
  registered: Promise<void>;
  stop: () => Promise<void>;
} {
  const urn = makeUrn(run.stack, run.project, "", stackType, `${run.project}-${run.stack}`);
  const { address } = monitor;
  const started = startNode({
    arguments: [
      resolveFromProject(project.workdir, "@pulumi/pulumi/cmd/run"),
      ...["--monitor", address, "--engine", address, "--organization", "organization", "--project", run.project],
      ...["--root-directory", project.root, "--stack", run.stack, "--pwd", project.workdir],
      ...(run.preview ? ["--dry-run"] : []),
      ...["--parallel", String(parallel), project.entry],
    ],
    nodeArguments: project.nodeArguments,
    cwd: project.workdir,
    environment: {
      ...environment,
      ...configuration(run.config),
      ...(project.typescript ? { PULUMI_NODEJS_TYPESCRIPT: "true" } : {}),
    },
    onLine: (message, printed) => {
      // What a program says while it is being stopped is about being stopped.
      if (run.aborted) return;
      run.emit({ type: "log", severity: printed === "stderr" ? "error" : "info", message, urn, printed });
    },
  });
  const interrupt = (): void => {
    started.interrupt();
    setTimeout(started.kill, patience).unref();
  };
  run.onAbort(interrupt);
  let complete = false;
  const finished = monitor.finished.then(() => {
    complete = true;
  });
  const ended = started.ended.then(({ code, signal }) => {
    if (run.aborted || complete) return;
    if (code !== alreadyTold) {
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
      if (code !== alreadyTold)
        run.emit({ type: "log", severity: "error", message: `the program ended with exit code ${String(code)}`, urn });
    },
  };
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
