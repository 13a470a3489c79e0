import { DependencyGraph } from "../state/dependencyGraph.ts";
import type { ResourceState } from "../state/resourceState.ts";
import type { Run } from "./run.ts";
import { Aborted, runChain } from "./stepExecutor.ts";
import type { Step } from "./steps.ts";

/** Resources that a run has already dealt with; all empty for a destroy. */
export interface Handled {
  operatedOn: ReadonlySet<string>;
  deletes: Set<string>;
  pendingDeletes: ReadonlySet<ResourceState>;
}

/** Deletes what was not registered and what was replaced: dependents first, independent resources in parallel. */
export async function deleteRest(run: Run, handled: Handled): Promise<void> {
  const steps = new Map<ResourceState, Step>();
  for (const old of run.resources) {
    const step = deletionOf(old, handled);
    if (step === undefined) continue;
    handled.deletes.add(old.urn);
    steps.set(old, step);
    if (old.custom && !run.preview) await run.providers.ensure(old.provider, run.resources);
  }

  const graph = new DependencyGraph(run.resources);
  const kept = new Set<ResourceState>();
  for (const batch of schedule(graph, [...steps.keys()])) {
    const results = await Promise.allSettled(
      batch
        .filter((state) => !kept.has(state))
        .map(async (state) => {
          const step = steps.get(state);
          if (step === undefined) return;
          try {
            await runChain(run, [step]);
          } catch (error) {
            // The resource stays, so its dependencies have to stay, too.
            for (const dependency of graph.allDependenciesOf(state)) kept.add(dependency);
            throw error;
          }
        }),
    );
    if (run.aborted && results.some(({ status }) => status === "rejected")) throw new Aborted("aborted");
  }
}

function deletionOf(old: ResourceState, { operatedOn, deletes, pendingDeletes }: Handled): Step | undefined {
  const { urn } = old;
  if (old.delete) {
    if (pendingDeletes.has(old)) return undefined;
    return { op: old.external ? "discard-replaced" : "delete-replaced", urn, old, deletions: deletes };
  }
  if (operatedOn.has(urn)) return undefined;
  // Also what this run has deleted ahead of its turn, and the program then did not register.
  if (old.pendingReplacement) return { op: "remove-pending-replace", urn, old };
  return { op: old.external ? "read-discard" : "delete", urn, old, deletions: deletes };
}

/** Batches such that everything is deleted before what it depends on. */
function schedule(graph: DependencyGraph, states: readonly ResourceState[]): ResourceState[][] {
  const left = new Set(states);
  // Asked once for each: a long chain has as many batches as states.
  const dependencies = new Map(states.map((state) => [state, [...graph.dependenciesOf(state)]]));
  const batches: ResourceState[][] = [];
  while (left.size > 0) {
    const batch = [...left].filter((state) => !dependencies.get(state)?.some((dependency) => left.has(dependency)));
    // Cannot happen in a valid state, and must not hang in an invalid one.
    if (batch.length === 0) throw new Error("the dependencies in the state go in a circle");
    for (const state of batch) left.delete(state);
    batches.unshift(batch);
  }
  return batches;
}
