import { deleteRest } from "./deployment/deletions.ts";
import type { StackOutputs } from "./deployment/result.ts";
import { Run } from "./deployment/run.ts";
import { StepGenerator } from "./deployment/stepGenerator.ts";
import type { Step } from "./deployment/steps.ts";
import { ReportedError } from "./errors.ts";
import { type HostedRun, startHosted } from "./program/hostedProgram.ts";
import type { Program } from "./program/languageHost.ts";
import { ResourceMonitor } from "./program/resourceMonitor.ts";
import type { ResourceProvider } from "./providers/provider.ts";
import { ProviderRegistry } from "./providers/registry.ts";
import type { ResourceState } from "./state/resourceState.ts";
import { Snapshot } from "./state/snapshot.ts";
import type { Config } from "./workspace/config.ts";

export type { Step } from "./deployment/steps.ts";
export type { Checked, Created, Difference, InputsAndOutputs, ResourceProvider } from "./providers/provider.ts";
export { decodeResource } from "./state/checkpoint.ts";
export { newState, type ResourceState } from "./state/resourceState.ts";
export * from "./values/values.ts";

/** Brings about what a program registers, then deletes what it did not: for previews, updates and plans alike. */
export async function bringAbout(
  run: Run,
  start: (monitor: ResourceMonitor) => Program,
): Promise<StackOutputs | undefined> {
  const generator = new StepGenerator(run);
  const monitor = new ResourceMonitor(run, generator);
  const program = start(monitor);
  let outputs: StackOutputs | undefined;
  try {
    await program.registered;
    await run.slots.whenIdle();
    // A preview goes on after a refusal, to report all that it can.
    if (!run.aborted) await deleteRest(run, generator);
  } finally {
    await run.slots.whenIdle();
    outputs = await monitor.finish();
    await program.stop();
  }
  return outputs;
}

/** All that decides what a run does. */
export interface Deciding {
  project: string;
  stack: string;
  /** Registers what is wanted, and settles when nothing is under way any more. */
  goals: (monitor: HostedRun["monitor"]) => Promise<void>;
  /** The resources of the last run. */
  state: readonly ResourceState[];
  /** The package of all resources, and its provider. */
  package: string;
  provider: ResourceProvider;
  config?: Config;
  /** True to carry the steps out; the state is in memory. */
  applies?: boolean;
}

/** What a run does, in its order, and what it leaves. */
export interface Decided {
  steps: readonly Step[];
  state: readonly ResourceState[];
  /** Why the engine itself would end the run, or leave something out of it. */
  refusals: readonly { urn?: string | undefined; message: string }[];
}

/** Decides what a run does with what is wanted and what there is: by the code of a preview, without program or process. */
export async function decide({ goals, state, config = {}, applies = false, ...place }: Deciding): Promise<Decided> {
  const steps: Step[] = [];
  const refusals: Decided["refusals"][number][] = [];
  const deployment = { resources: state.map((each) => ({ ...each })), operations: [], metadata: {} };
  const snapshot = new Snapshot(deployment, () => Promise.resolve());
  const run = new Run({
    ...{ kind: "update", preview: !applies, project: place.project, stack: place.stack, config },
    ...{ snapshot, packages: new Set([place.package]), parallel: 1 },
    providers: new ProviderRegistry(() => place.provider),
    emit: (event) => {
      if (event.type === "log" && event.severity === "error") refusals.push({ urn: event.urn, message: event.message });
    },
    taken: (step) => void steps.push(step),
  });
  try {
    await bringAbout(run, (monitor) => startHosted(run, ({ monitor: taking }) => goals(taking), monitor));
  } catch (error) {
    // It is among the refusals.
    if (!(error instanceof ReportedError)) throw error;
  }
  return { steps, state: snapshot.current().resources, refusals };
}
