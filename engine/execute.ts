import { randomUUID } from "node:crypto";
import os from "node:os";
import { bringAbout } from "./decide.ts";
import { deleteRest } from "./deployment/deletions.ts";
import { refresh } from "./deployment/refresh.ts";
import type { RunResult, StackOutputs } from "./deployment/result.ts";
import { Run } from "./deployment/run.ts";
import { toPropertyChange } from "./deployment/steps.ts";
import { messageOf, ReportedError } from "./errors.ts";
import type { Emit, LogEvent, RunKind } from "./events.ts";
import { type HostedProgram, type HostProgram, startHosted } from "./program/hostedProgram.ts";
import { startProgram } from "./program/languageHost.ts";
import type { MonitorServer } from "./program/monitorServer.ts";
import { toShownProperties } from "./program/resourceMonitor.ts";
import { refuseForeignRuntime, refuseForeignState } from "./program/unsupported.ts";
import { ProviderRegistry } from "./providers/registry.ts";
import { executableOf, type HostProvider, startInProcess, startProvider } from "./providers/starting.ts";
import type { ResourceState } from "./state/resourceState.ts";
import { Snapshot } from "./state/snapshot.ts";
import { changesBetween } from "./values/propertyChanges.ts";
import { dynamicPackage, isProviderType, packageOf, stackType } from "./values/urns.ts";
import { hidden, mapProperties, revealSecrets } from "./values/values.ts";
import { refuseMissingProgram } from "./workspace/project.ts";
import type { Stack } from "./workspace/workspace.ts";

export interface RunOptions {
  kind: RunKind;
  /** Reports what would happen; nothing is created, changed or deleted, and no state is written. */
  preview: boolean;
  /** Reads every resource before an update or a destroy; default: `options: {refresh: always}` of Pulumi.yaml. */
  refresh?: boolean | undefined;
  /** A refresh drops interrupted creations from the state; default: false. */
  clearPendingCreates?: boolean | undefined;
  /** Steps at a time; default: 4 for each core as with Pulumi, and 32 at least. */
  parallel?: number | undefined;
  emit: Emit;
  /** Hosts providers in this process; default: each has a process of its own. */
  host?: HostProvider | undefined;
  /** Finds programs that run in this process; default: each has a process of its own. */
  hostProgram?: HostProgram | undefined;
  /** Cancels the run: running steps end and are saved, no new ones begin. */
  signal?: AbortSignal;
}

/** Runs one preview, update, refresh or destroy of a stack, which the caller has locked. Reports failures in events. */
export async function execute(stack: Stack, options: RunOptions): Promise<RunResult> {
  const { kind, preview, emit, signal } = options;
  const started = Date.now();
  let isEnding = false;
  const log = (event: LogEvent): void => {
    if (!isEnding) emit(event);
  };
  const hosted = options.hostProgram?.(stack.project);
  const source = hosted ?? (await openMonitor(log)); // what only a program needs is loaded for one alone
  const run = await prepare(stack, options, source, log);
  const cancel = (): void => {
    run.fail(`${preview ? "preview" : kind} canceled`);
    run.abort();
    run.providers.cancel();
  };
  signal?.addEventListener("abort", cancel);
  emit({ type: "start", kind, preview, project: run.project, stack: run.stack, config: shownConfig(run) });
  let outputs: StackOutputs = { outputs: {}, outputChanges: [] };
  try {
    if (signal?.aborted) cancel();
    for (const name of likelyPackages(run)) run.providers.warmUp(name);
    outputs = await runStages(run, stack, source, options);
  } catch (error) {
    if (!(error instanceof ReportedError)) run.fail(messageOf(error));
    run.failed = true;
  } finally {
    signal?.removeEventListener("abort", cancel);
    await run.slots.whenIdle();
    if (!preview) await flush(run);
    isEnding = true;
    run.ending = true;
    await run.providers.close();
    if (!isHosted(source)) source.close();
  }
  const succeeded = !run.failed && !run.aborted;
  const seconds = (Date.now() - started) / 1000;
  const changes = run.counts;
  emit({ type: "summary", kind, preview, result: succeeded ? "succeeded" : "failed", changes, ...outputs, seconds });
  return { succeeded, changes, ...outputs };
}

/** Where registrations come from: a program that calls a monitor, or one in this process. */
type Source = MonitorServer | HostedProgram;

const isHosted = (source: Source): source is HostedProgram => "packages" in source;

async function openMonitor(log: (event: LogEvent) => void): Promise<MonitorServer> {
  const { MonitorServer } = await import("./program/monitorServer.ts");
  return new MonitorServer(log);
}

/** Reads configuration and state, refuses what this engine does not run, and opens the monitor. */
async function prepare(
  stack: Stack,
  options: RunOptions,
  source: Source,
  log: (event: LogEvent) => void,
): Promise<Run> {
  const { kind, preview, emit, host } = options;
  const { project } = stack;
  const { environment } = stack.workspace;
  const hosted = isHosted(source) ? source : undefined;
  if (!hosted) refuseForeignRuntime(project);
  if (!hosted) refuseMissingProgram(project);
  const config = stack.config();
  const deployment = await stack.read();
  // Nothing that the folder of a project without a program has is started.
  const plugins = new Map(hosted ? [] : project.plugins.map((plugin) => [plugin.name, plugin]));
  // A missing plugin is reported before anything is started.
  for (const plugin of plugins.values()) executableOf(plugin);
  const packages = new Set([dynamicPackage, ...(hosted?.packages ?? plugins.keys())]);
  refuseForeignState(deployment.resources, packages);
  const engineAddress = isHosted(source) ? `in-process-${randomUUID()}` : await source.listen();
  const snapshot = new Snapshot(deployment, (state) => stack.write(state));
  const providerOptions = {
    ...{ project, stack: stack.name, config, engineAddress, environment, emit, host },
    recall: (type: string) =>
      snapshot.base.resources
        .filter((one) => one.custom && !one.delete && one.type.split(/[:/]/).at(-1) === type)
        .map(({ urn, id, outputs }) => ({ urn, id, outputs: mapProperties(outputs, revealSecrets) })),
    log: (event: LogEvent) => {
      if (event.severity === "info" && run.unheard.has(event.urn ?? "")) return false;
      log(event);
      return true;
    },
  };
  const providers = new ProviderRegistry((name) =>
    hosted ? startInProcess(hosted.host, name, providerOptions) : startProvider(plugins.get(name), providerOptions),
  );
  const run = new Run({
    kind,
    preview,
    project: project.name,
    stack: stack.name,
    config,
    snapshot,
    providers,
    packages,
    emit,
    parallel: Math.max(1, options.parallel ?? defaultParallel),
  });
  return run;
}

/** Operations wait for the platform rather than for processors, and providers bound their calls themselves. */
const defaultParallel = Math.max(32, os.availableParallelism() * 4);

/** Writes what is pending and reports a failure that was not reported yet. */
async function flush(run: Run): Promise<void> {
  try {
    await run.snapshot.flush();
  } catch (error) {
    run.fail(messageOf(error));
  }
}

function shownConfig({ config }: Run): Record<string, string> {
  const entries = Object.entries(config);
  return Object.fromEntries(entries.map(([key, { text, secret }]) => [key, secret ? hidden : text]));
}

/** Both change during an await, which the compiler cannot know. */
const mayContinue = (run: Run): boolean => !run.aborted;
const hasFailed = (run: Run): boolean => run.failed;

/** The packages whose providers are likely to be needed: those of the state, or of Pulumi.yaml for a new stack. */
function likelyPackages(run: Run): Iterable<string> {
  const used = run.resources.filter(({ custom, type }) => custom && !isProviderType(type));
  if (used.length > 0 || run.kind !== "update") return new Set(used.map(({ type }) => packageOf(type)));
  return [...run.packages].filter((name) => run.packages.size === 1 || name !== dynamicPackage);
}

/** Refreshes, runs the program and deletes the rest, as far as the kind of run asks for it. */
async function runStages(run: Run, stack: Stack, source: Source, options: RunOptions): Promise<StackOutputs> {
  await refreshFirst(run, options.refresh ?? stack.project.refreshAlways, options.clearPendingCreates ?? false);
  const old = run.resources.find(({ type }) => type === stackType)?.outputs ?? {};
  const unchanged: StackOutputs = { outputs: toShownProperties(old), outputChanges: [] };
  if (run.failed || !mayContinue(run) || run.kind === "refresh") return unchanged;
  if (run.kind === "destroy") {
    await deleteRest(run, { operatedOn: new Set(), deletes: new Set(), pendingDeletes: new Set() });
    const removed = changesBetween(old, {}).map(toPropertyChange);
    return { outputs: {}, outputChanges: hasFailed(run) ? [] : removed };
  }
  return (await runProgram(run, stack, source)) ?? unchanged;
}

/** Reads what the run has to read before anything else, and warns of interrupted operations. */
async function refreshFirst(run: Run, readAll: boolean, clearPendingCreates: boolean): Promise<void> {
  const { base } = run.snapshot;
  if (clearPendingCreates && run.kind === "refresh") base.operations = [];
  const { operations } = base;
  const readsAll = run.kind === "refresh" || readAll;
  // A refresh finds out how every interrupted operation ended, but for creations.
  const left = readsAll ? operations.filter(({ type }) => type === "creating") : operations;
  if (left.length > 0 && !run.preview)
    run.warn(pendingWarning(left.map(({ type, resource }) => `  * ${resource.urn}, interrupted while ${type}`)));
  if (readsAll) await refresh(run);
  else if (run.resources.some(wantsRead)) await refresh(run, wantsRead);
}

/** Runs the program, then deletes what it did not register. The outputs are undefined when it registered none. */
function runProgram(run: Run, stack: Stack, source: Source): Promise<StackOutputs | undefined> {
  return bringAbout(run, (resourceMonitor) => {
    if (isHosted(source)) return startHosted(run, source.run, resourceMonitor);
    source.serve(resourceMonitor);
    return startProgram(run, stack.project, source, stack.workspace.environment);
  });
}

/** True if the provider of a resource wants it read before it is compared. */
const wantsRead = ({ refreshBeforeUpdate }: ResourceState): boolean => refreshBeforeUpdate;

const pendingWarning = (operations: string[]): string =>
  `Attempting to deploy or update resources with ${operations.length} pending operations from previous deployment.\n` +
  `${operations.join("\n")}\n` +
  "These resources are in an unknown state because the engine was interrupted while waiting for changes to them to " +
  "complete. Confirm with the provider whether the operations listed completed. A refresh clears those that are not " +
  "creations; an interactive 'pulumi refresh' of the Pulumi CLI clears creations too.";
