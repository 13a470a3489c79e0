import os from "node:os";
import { deleteRest } from "./deployment/deletions.ts";
import { refresh } from "./deployment/refresh.ts";
import type { RunResult, StackOutputs } from "./deployment/result.ts";
import { Run } from "./deployment/run.ts";
import { toPropertyChange } from "./deployment/stepExecutor.ts";
import { Generator } from "./deployment/stepGenerator.ts";
import { messageOf, Told } from "./errors.ts";
import type { Emit, RunKind } from "./events.ts";
import { startProgram } from "./program/languageHost.ts";
import { Monitor } from "./program/monitorServer.ts";
import { Registrar, shownProperties } from "./program/resourceMonitor.ts";
import { refuseForeignRuntime, refuseForeignState } from "./program/unsupported.ts";
import { startHost } from "./providers/dynamicHost.ts";
import { startPlugin } from "./providers/pluginHost.ts";
import { ProviderClient } from "./providers/providerClient.ts";
import { Registry } from "./providers/registry.ts";
import type { ResourceState } from "./state/resourceState.ts";
import { Snapshot } from "./state/snapshot.ts";
import { changesBetween } from "./values/propertyChanges.ts";
import { dynamicPackage, isProviderType, packageOf, stackType } from "./values/urns.ts";
import { hidden } from "./values/values.ts";
import { entryOf } from "./workspace/plugins.ts";
import type { Stack } from "./workspace/workspace.ts";

export interface RunOptions {
  kind: RunKind;
  /** Says what would happen; nothing is created, changed or deleted, and no state is written. */
  preview: boolean;
  /** Reads every resource before an update or a destroy. */
  refresh?: boolean;
  /** A refresh drops the creations that were interrupted and are still on record. */
  clearPendingCreates?: boolean;
  /** How many steps go on at a time; default: 4 for each core, as with Pulumi. */
  parallel?: number;
  /** Secrets are shown in events. */
  showSecrets?: boolean;
  emit: Emit;
  /** Aborted: what is going on ends and is saved, nothing new begins. */
  signal?: AbortSignal;
}

/** A write that fails was told where it happened first, or is told here. */
async function flush(run: Run): Promise<void> {
  try {
    await run.snapshot.flush();
  } catch (error) {
    run.fail(messageOf(error));
  }
}

/** One preview, update, refresh or destroy of a stack, which the caller has locked. What goes wrong is told in events. */
export async function execute(stack: Stack, options: RunOptions): Promise<RunResult> {
  const { kind, preview, emit } = options;
  const { project } = stack;
  refuseForeignRuntime(project);
  const started = Date.now();
  const parallel = Math.max(1, options.parallel ?? os.availableParallelism() * 4);
  const config = stack.config();
  const deployment = await stack.read();
  const plugins = new Map(project.plugins.map((plugin) => [plugin.name, plugin]));
  // What is missing is told before anything is started.
  for (const plugin of plugins.values()) entryOf(plugin);
  const packages = new Set([dynamicPackage, ...plugins.keys()]);
  refuseForeignState(deployment.resources, packages);
  const snapshot = new Snapshot(deployment, (now) => stack.write(now));
  const monitor = new Monitor(emit);
  await monitor.listen();
  const startProvider = (name: string): ProviderClient => {
    const plugin = plugins.get(name);
    const { environment } = stack.workspace;
    const engineAddress = monitor.address;
    if (plugin) {
      const service = startPlugin(plugin, { project, config, engineAddress, environment });
      return new ProviderClient(service, { engineAddress, folder: plugin.folder });
    }
    const service = startHost({
      project: project.name,
      stack: stack.name,
      workdir: project.workdir,
      engineAddress,
      environment,
      onLine: (message, printed) => {
        emit({ type: "log", severity: printed === "stderr" ? "error" : "info", message, printed });
      },
    });
    return new ProviderClient(service, { engineAddress, folder: project.workdir });
  };
  const providers = new Registry(startProvider, (message) => emit({ type: "log", severity: "warning", message }));
  const showSecrets = options.showSecrets ?? false;
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
    showSecrets,
    parallel,
  });
  const cancel = (): void => {
    run.fail(`${preview ? "preview" : kind} canceled`);
    run.abort();
    providers.cancel();
  };
  options.signal?.addEventListener("abort", cancel);

  const shownConfig = Object.entries(config).map(
    ([key, { text, secret }]) => [key, secret && !showSecrets ? hidden : text] as const,
  );
  emit({
    type: "start",
    kind,
    preview,
    project: project.name,
    stack: stack.name,
    config: Object.fromEntries(shownConfig),
  });
  let outputs: StackOutputs = { outputs: {}, outputChanges: [] };
  try {
    if (options.signal?.aborted) cancel();
    for (const name of wanted(run)) providers.warmUp(name);
    outputs = await stages(run, stack, monitor, { ...options, parallel });
  } catch (error) {
    if (!(error instanceof Told)) run.fail(messageOf(error));
    run.failed = true;
  } finally {
    options.signal?.removeEventListener("abort", cancel);
    await run.slots.whenIdle();
    if (!preview) await flush(run);
    monitor.silent = true;
    await providers.close();
    monitor.close();
  }
  const succeeded = !run.failed && !run.aborted;
  const seconds = (Date.now() - started) / 1000;
  const changes = run.counts;
  emit({ type: "summary", kind, preview, result: succeeded ? "succeeded" : "failed", changes, ...outputs, seconds });
  return { succeeded, changes, ...outputs };
}

/** Both change while something is waited for, which the compiler cannot know. */
const mayGoOn = (run: Run): boolean => !run.aborted;
const hasFailed = (run: Run): boolean => run.failed;

/** The packages whose providers are likely to be needed: those of the state, and for a new stack those of Pulumi.yaml. */
function wanted(run: Run): Iterable<string> {
  const used = run.resources.filter(({ custom, type }) => custom && !isProviderType(type));
  if (used.length > 0 || run.kind !== "update") return new Set(used.map(({ type }) => packageOf(type)));
  return [...run.packages].filter((name) => run.packages.size === 1 || name !== dynamicPackage);
}

async function stages(
  run: Run,
  stack: Stack,
  monitor: Monitor,
  options: RunOptions & { parallel: number },
): Promise<StackOutputs> {
  const { base } = run.snapshot;
  if (options.clearPendingCreates && run.kind === "refresh") base.operations = [];
  const { operations } = base;
  const refreshes = run.kind === "refresh" || (options.refresh ?? stack.project.refreshAlways);
  // A refresh finds out what became of everything but of what was being created.
  const left = refreshes ? operations.filter(({ type }) => type === "creating") : operations;
  if (left.length > 0 && !run.preview)
    run.warn(pendingWarning(left.map(({ type, resource }) => `  * ${resource.urn}, interrupted while ${type}`)));
  if (refreshes) await refresh(run);
  else if (run.resources.some(looksFirst)) await refresh(run, looksFirst);
  const old = run.resources.find(({ type }) => type === stackType)?.outputs ?? {};
  let kept: StackOutputs = { outputs: shownProperties(old, run.showSecrets), outputChanges: [] };
  if (run.failed || !mayGoOn(run) || run.kind === "refresh") return kept;
  if (run.kind === "destroy") {
    await deleteRest(run, { operatedOn: new Set(), deletes: new Set(), condemned: new Set() });
    const gone = changesBetween(old, {}).map((change) => toPropertyChange(change, run.showSecrets));
    return { outputs: {}, outputChanges: hasFailed(run) ? [] : gone };
  }

  const generator = new Generator(run);
  const registrar = new Registrar(run, generator, stack.project.root, options.parallel);
  monitor.serve(registrar);
  const program = startProgram(run, stack.project, monitor, options.parallel, stack.workspace.environment);
  try {
    await program.registered;
    await run.slots.whenIdle();
    // A preview goes on after a refusal, to tell all that it can.
    if (mayGoOn(run)) await deleteRest(run, generator);
  } finally {
    await run.slots.whenIdle();
    kept = (await registrar.finish()) ?? kept;
    await program.stop();
  }
  return kept;
}

/** A resource whose provider wants it read before it is compared. */
const looksFirst = ({ refreshBeforeUpdate }: ResourceState): boolean => refreshBeforeUpdate;

const pendingWarning = (operations: string[]): string =>
  `Attempting to deploy or update resources with ${operations.length} pending operations from previous deployment.\n` +
  `${operations.join("\n")}\n` +
  "These resources are in an unknown state because the engine was interrupted while waiting for changes to them to " +
  "complete. Confirm with the provider whether the operations listed completed. A refresh clears those that are not " +
  "creations; an interactive 'pulumi refresh' of the Pulumi CLI clears creations too.";
