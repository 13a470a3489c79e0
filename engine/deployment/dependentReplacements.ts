import type { ResourceState } from "../state/resourceState.ts";
import { isProviderType, parseReference } from "../values/urns.ts";
import { type PropertyMap, unknown } from "../values/values.ts";
import { diffResource, needsReplacement, withReplaceOnChanges } from "./resourceDiff.ts";
import type { Run } from "./run.ts";
import { operatorOf } from "./stepExecutor.ts";

/** Decisions of the run so far, by URN. */
export interface Decisions {
  operatedOn: ReadonlySet<string>;
  deletes: ReadonlySet<string>;
}

/**
 * The old resources that have to be deleted before `root` can be, because the change replaces them too: their providers
 * say so when they are asked with the affected inputs unknown. In dependency order.
 */
export async function dependentsToReplace(
  run: Run,
  root: ResourceState,
  next: ResourceState,
  decisions: Decisions,
): Promise<ResourceState[]> {
  const replaced = new Set([root.urn]);
  const found: ResourceState[] = [];
  // Resources registered before the root no longer depend on it.
  const impossible = new Set([...decisions.operatedOn, ...decisions.deletes]);
  const dependents = run.graph.has(root) ? run.graph.dependingOn(root, impossible) : [];
  for (const candidate of dependents) {
    if (!(await isReplaced(run, candidate, replaced))) continue;
    found.push(candidate);
    replaced.add(candidate.urn);
  }
  for (const state of run.olds.values()) {
    const tied = state.deletedWith === root.urn || state.deletedWith === next.urn;
    if (tied && !found.includes(state) && !decisions.operatedOn.has(state.urn)) found.push(state);
  }
  return found;
}

async function isReplaced(run: Run, state: ResourceState, replaced: ReadonlySet<string>): Promise<boolean> {
  if (!state.custom || state.external) return false;
  if (state.provider !== "" && replaced.has(parseReference(state.provider).urn)) {
    // It is deleted with its provider's present configuration.
    await run.providers.ensure(state.provider, run.resources);
    return true;
  }
  if (replaced.has(state.deletedWith)) return true;
  const affected = Object.entries(state.propertyDependencies)
    .filter(([name, urns]) => Object.hasOwn(state.inputs, name) && urns.some((urn) => replaced.has(urn)))
    .map(([name]) => name);
  if (affected.length === 0) return false;
  if (isProviderType(state.type)) await run.providers.same(state);
  else await run.providers.ensure(state.provider, run.resources);
  const inputs: PropertyMap = { ...state.inputs };
  for (const name of affected) inputs[name] = unknown;
  const difference = await diffResource(run, operatorOf(run, state), state, inputs, state.ignoreChanges, true);
  return needsReplacement(withReplaceOnChanges(difference, state.replaceOnChanges, false));
}
