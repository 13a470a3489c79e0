import type { ResourceState } from "../state/resourceState.ts";
import { isProviderType, parseReference } from "../values/urns.ts";
import { type Properties, unknown } from "../values/values.ts";
import { difference, needsReplacement, withReplaceOnChanges } from "./resourceDiff.ts";
import type { Run } from "./run.ts";
import { operatorOf } from "./stepExecutor.ts";
import type { Generator } from "./stepGenerator.ts";

/**
 * The old resources that have to be deleted before `root` can be, because the change would replace them too: the ones
 * whose provider, asked with the affected inputs unknown, says so. In dependency order.
 */
export async function dependentsToReplace(
  run: Run,
  root: ResourceState,
  now: ResourceState,
  generator: Pick<Generator, "operatedOn" | "deletes" | "news">,
): Promise<ResourceState[]> {
  const replaced = new Set([root.urn]);
  const found: ResourceState[] = [];
  // What was registered before the root cannot depend on it any more.
  const impossible = new Set([...generator.operatedOn, ...generator.deletes]);
  const dependents = run.graph.has(root) ? run.graph.dependingOn(root, impossible) : [];
  for (const candidate of dependents) {
    if (!(await isReplaced(run, candidate, replaced))) continue;
    found.push(candidate);
    replaced.add(candidate.urn);
  }
  for (const state of run.olds.values()) {
    const tied = state.deletedWith === root.urn || state.deletedWith === now.urn;
    if (tied && !found.includes(state) && !generator.operatedOn.has(state.urn)) found.push(state);
  }
  return found;
}

async function isReplaced(run: Run, state: ResourceState, replaced: ReadonlySet<string>): Promise<boolean> {
  if (!state.custom || state.external) return false;
  if (state.provider !== "" && replaced.has(parseReference(state.provider).urn)) {
    // It is deleted with the configuration that its provider has now.
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
  const inputs: Properties = { ...state.inputs };
  for (const name of affected) inputs[name] = unknown;
  const said = await difference(run, operatorOf(run, state), state, inputs, state.ignoreChanges, true);
  return needsReplacement(withReplaceOnChanges(said, state.replaceOnChanges, false));
}
