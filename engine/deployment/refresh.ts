import { messageOf } from "../errors.ts";
import { type Difference, InitError, type ReadResult } from "../providers/provider.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { type ValueChange, changesBetween } from "../values/propertyChanges.ts";
import { isProviderType } from "../values/urns.ts";
import { equal } from "../values/values.ts";
import { invertDifference, changesOf, diffResource } from "./resourceDiff.ts";
import type { Run } from "./run.ts";
import { markOutputs, operatorOf } from "./stepExecutor.ts";
import { describeStep, type Step } from "./steps.ts";

/**
 * Reads the resources of the state and takes over what it finds; `which`: default all. When a resource cannot be read it
 * keeps its state, the others are refreshed, and the run fails.
 */
export async function refresh(run: Run, which: (state: ResourceState) => boolean = () => true): Promise<void> {
  const read = new Set(run.resources.filter(which));
  for (const state of read) {
    if (state.custom && !isProviderType(state.type)) await run.providers.ensure(state.provider, run.resources);
  }
  const refreshed = await Promise.all(
    run.resources.map((state) =>
      read.has(state)
        ? run.slots.use(() => (run.aborted ? Promise.resolve(state) : refreshOne(run, state)))
        : Promise.resolve(state),
    ),
  );
  run.snapshot.base.resources = withoutDangling(run.resources, refreshed);
  run.rebase();
  if (!run.preview) await run.snapshot.persist();
}

/** Returns the new state; undefined when the resource does not exist any more. */
async function refreshOne(run: Run, old: ResourceState): Promise<ResourceState | undefined> {
  // Components, providers and what waits for its replacement are not read.
  const unchanging = !old.custom || isProviderType(old.type) || old.pendingReplacement;
  const step: Step = { op: "refresh", urn: old.urn, old };
  run.emit({ type: "step", preview: run.preview, ...describeStep(step) });
  const started = Date.now();
  let next: ResourceState | undefined = old;
  let drift: ValueChange[] = [];
  if (!unchanging) {
    try {
      next = await read(run, old);
      // The plan compares it once more, with what is wanted now: what a provider says of the last inputs counts in a refresh.
      if (run.kind !== "refresh") run.unheard.add(old.urn);
      if (next) drift = await driftOf(run, old, next);
    } catch (error) {
      run.emit({ type: "stepFailed", preview: run.preview, ...describeStep(step) });
      run.fail(messageOf(error), old.urn);
      return old;
    } finally {
      run.unheard.delete(old.urn);
    }
  }
  if (next) markOutputs(next);
  const result = next === undefined ? "delete" : drift.length > 0 ? "update" : "same";
  if (run.kind === "refresh" && !describeStep(step).internal) run.count(result);
  const seconds = (Date.now() - started) / 1000;
  const info = describeStep({ ...step, ...(next === undefined ? {} : { new: next, changes: drift }) });
  run.emit({ type: "stepDone", preview: run.preview, seconds, ...info, refreshed: result });
  return next;
}

async function read(run: Run, old: ResourceState): Promise<ResourceState | undefined> {
  const operator = operatorOf(run, old);
  let initErrors: string[] = [];
  let found: ReadResult;
  try {
    found = await operator.read({ urn: old.urn, id: old.id }, old, old.customTimeouts.read ?? 0);
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    // It exists, but is not ready: the next update repairs it.
    initErrors = error.reasons;
    found = error.found;
    run.warn(`Refreshed resource is in an unhealthy state:\n* ${initErrors.join("\n* ")}`, old.urn);
  }
  if (found.id === "") return undefined;
  const inputs = found.inputs ?? old.inputs;
  const changed = !equal(inputs, old.inputs) || !equal(found.outputs, old.outputs);
  const modified = changed ? new Date().toISOString() : old.modified;
  const { id, outputs, refreshBeforeUpdate } = found;
  return { ...old, id, inputs, outputs, refreshBeforeUpdate, initErrors, modified };
}

/**
 * Lists what changed outside of Pulumi: the reverse of what an update with an unchanged program would do. So the
 * provider compares what exists with the old inputs.
 */
async function driftOf(run: Run, old: ResourceState, next: ResourceState): Promise<ValueChange[]> {
  if (old.external) {
    markOutputs(next);
    return changesBetween(old.outputs, next.outputs);
  }
  const difference: Difference = await diffResource(
    run,
    operatorOf(run, old),
    next,
    old.inputs,
    old.ignoreChanges,
    run.preview,
  );
  if (difference.changes !== "some") return [];
  const changes = changesOf(invertDifference(difference), old, next);
  if (changes.length > 0) return changes;
  // The inputs do not show the difference that the provider sees: then the outputs do, or the names in its answer.
  const names = new Set([
    ...difference.changed,
    ...difference.replaces,
    ...(difference.detail ?? []).map(({ path }) => String(path[0])),
  ]);
  const outputs = changesBetween(old.outputs, next.outputs).filter(
    ({ path }) => names.size === 0 || names.has(String(path[0])),
  );
  return outputs.length > 0 ? outputs : [...names].map((name) => ({ path: [name], kind: "update" }));
}

/** Drops references to resources that do not exist any more; their children lose their parent, as with Pulumi. */
function withoutDangling(
  olds: readonly ResourceState[],
  refreshed: readonly (ResourceState | undefined)[],
): ResourceState[] {
  const existing = new Set<string>();
  const kept = (urns: string[]): string[] => urns.filter((urn) => existing.has(urn));
  return olds.flatMap((old, i) => {
    const state = refreshed[i];
    if (state === undefined) return [];
    const parent = existing.has(old.parent) ? old.parent : "";
    const dependencies = kept(state.dependencies);
    const deletedWith = existing.has(state.deletedWith) ? state.deletedWith : "";
    const byProperty = Object.entries(state.propertyDependencies).map(([name, urns]) => [name, kept(urns)] as const);
    existing.add(state.urn);
    const propertyDependencies = Object.fromEntries(byProperty.filter(([, urns]) => urns.length > 0));
    return [{ ...state, parent, dependencies, deletedWith, propertyDependencies }];
  });
}
