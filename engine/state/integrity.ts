import { isProviderType, makeReference } from "../values/urns.ts";
import type { ResourceState } from "./resourceState.ts";

/**
 * Explains why resources are no valid state; undefined when they are one. The rules are Pulumi's, which refuses other
 * states: everything stands after what it refers to, and URNs are unique but for replaced resources.
 */
export function integrityProblem(resources: readonly ResourceState[]): string | undefined {
  const seen = new Set<string>();
  const live = new Set<string>();
  const providers = new Set<string>();
  for (const state of resources) {
    const { urn } = state;
    if (urn === "") return "a resource has no URN";
    if (state.type === "") return `resource ${urn} has no type`;
    if (!state.custom && state.id !== "") return `component ${urn} has an ID`;
    if (isProviderType(state.type)) {
      if (state.id === "") return `provider ${urn} has no ID`;
      providers.add(makeReference(urn, state.id));
    }
    if (state.provider !== "" && !providers.has(state.provider) && !state.pendingReplacement) {
      return `resource ${urn} refers to the unknown provider ${state.provider}`;
    }
    const references: [string, string[]][] = [
      ["parent", state.parent === "" ? [] : [state.parent]],
      ["dependency", state.dependencies],
      ["property dependency", Object.values(state.propertyDependencies).flat()],
      ["deletedWith", state.deletedWith === "" ? [] : [state.deletedWith]],
    ];
    for (const [what, urns] of references) {
      const missing = urns.find((reference) => !seen.has(reference));
      if (missing === undefined) continue;
      const later = resources.some((other) => other.urn === missing);
      return `the ${what} ${missing} of resource ${urn} ${later ? "comes after it" : "is missing"}`;
    }
    seen.add(urn);
    if (!state.delete) {
      if (live.has(urn)) return `resource ${urn} is there twice`;
      live.add(urn);
    }
  }
  return undefined;
}
