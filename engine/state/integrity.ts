import { isProviderType, makeReference } from "../values/urns.ts";
import type { ResourceState } from "./resourceState.ts";

/** Explains why resources are no valid state; undefined when they are one. */
export const integrityProblem = (resources: readonly ResourceState[]): string | undefined =>
  new Integrity().problem(resources);

/**
 * Checks states, each of which mostly goes on where the last one ended. The rules are Pulumi's, which refuses other states:
 * everything stands after what it refers to, and URNs are unique but for replaced resources.
 */
export class Integrity {
  #checked: readonly ResourceState[] = [];
  readonly #seen = new Set<string>();
  readonly #live = new Set<string>();
  readonly #providers = new Set<string>();

  problem(resources: readonly ResourceState[]): string | undefined {
    const before = this.#checked;
    const goesOn = before.length > 0 && before.every((state, at) => state === resources[at]);
    if (!goesOn) for (const urns of [this.#seen, this.#live, this.#providers]) urns.clear();
    this.#checked = resources;
    for (const state of goesOn ? resources.slice(before.length) : resources) {
      const problem = this.#add(state, resources);
      if (problem === undefined) continue;
      this.#checked = [];
      // A resource of the last state may be marked for deletion since.
      return goesOn ? this.problem(resources) : problem;
    }
    return undefined;
  }

  #add(state: ResourceState, resources: readonly ResourceState[]): string | undefined {
    const { urn } = state;
    if (urn === "") return "a resource has no URN";
    if (state.type === "") return `resource ${urn} has no type`;
    if (!state.custom && state.id !== "") return `component ${urn} has an ID`;
    if (isProviderType(state.type)) {
      if (state.id === "") return `provider ${urn} has no ID`;
      this.#providers.add(makeReference(urn, state.id));
    }
    if (state.provider !== "" && !this.#providers.has(state.provider) && !state.pendingReplacement) {
      return `resource ${urn} refers to the unknown provider ${state.provider}`;
    }
    const missing = missingReference(state, this.#seen);
    if (missing !== undefined) {
      const later = resources.some((other) => other.urn === missing.urn);
      return `the ${missing.what} ${missing.urn} of resource ${urn} ${later ? "comes after it" : "is missing"}`;
    }
    this.#seen.add(urn);
    if (state.delete) return undefined;
    if (this.#live.has(urn)) return `resource ${urn} is there twice`;
    this.#live.add(urn);
    return undefined;
  }
}

/** Finds the first URN that a resource refers to and that is not among those seen. */
function missingReference(state: ResourceState, seen: ReadonlySet<string>): { what: string; urn: string } | undefined {
  const { parent, dependencies, propertyDependencies, deletedWith } = state;
  if (parent !== "" && !seen.has(parent)) return { what: "parent", urn: parent };
  for (const urn of dependencies) if (!seen.has(urn)) return { what: "dependency", urn };
  for (const urns of Object.values(propertyDependencies)) {
    for (const urn of urns) if (!seen.has(urn)) return { what: "property dependency", urn };
  }
  if (deletedWith !== "" && !seen.has(deletedWith)) return { what: "deletedWith", urn: deletedWith };
  return undefined;
}
