import { listNeeds, type ResourceState } from "./resourceState.ts";

/** The dependencies among the resources of a state, which stand in a valid order. */
export class DependencyGraph {
  readonly #resources: readonly ResourceState[];
  readonly #index: Map<ResourceState, number>;

  constructor(resources: readonly ResourceState[]) {
    this.#resources = resources;
    this.#index = new Map(resources.map((state, i) => [state, i]));
  }

  has(state: ResourceState): boolean {
    return this.#index.has(state);
  }

  /** Lists everything after `root` that depends on it, directly or not; children do not count. */
  dependingOn(root: ResourceState, ignore: ReadonlySet<string>): ResourceState[] {
    const urns = new Set([root.urn]);
    const dependents: ResourceState[] = [];
    for (const candidate of this.#resources.slice((this.#index.get(root) ?? this.#resources.length) + 1)) {
      if (ignore.has(candidate.urn) || ![...listNeeds(candidate)].some((urn) => urns.has(urn))) continue;
      dependents.push(candidate);
      urns.add(candidate.urn);
    }
    return dependents;
  }

  /** Lists what has to outlive `state`: what it needs, the children of components it needs, its parent. */
  dependenciesOf(state: ResourceState): Set<ResourceState> {
    const needed = listNeeds(state);
    const before = this.#resources.slice(0, this.#index.get(state) ?? 0);
    const found = new Set<ResourceState>();
    for (const candidate of before) {
      if (candidate.urn === state.parent) found.add(candidate);
      if (!needed.has(candidate.urn)) continue;
      found.add(candidate);
      if (candidate.custom) continue;
      for (const other of before) if (this.#isBelow(other, candidate.urn)) found.add(other);
    }
    return found;
  }

  #isBelow(state: ResourceState, ancestor: string): boolean {
    for (let parent = state.parent; parent !== "";) {
      if (parent === ancestor) return true;
      const next = parent;
      parent = this.#resources.find(({ urn }) => urn === next)?.parent ?? "";
    }
    return false;
  }

  /**
   * Lists everything that `state` needs, directly or not, with parents. Where a URN has a live state and one that waits
   * for its deletion, live states need the former and others the latter.
   */
  allDependenciesOf(state: ResourceState): Set<ResourceState> {
    const pendingDeletes = new Map(this.#resources.filter((one) => one.delete).map((one) => [one.urn, one]));
    const live = new Map(this.#resources.filter((one) => !one.delete).map((one) => [one.urn, one]));
    const lookUp = (from: ResourceState, urn: string): ResourceState | undefined =>
      from.delete ? (pendingDeletes.get(urn) ?? live.get(urn)) : (live.get(urn) ?? pendingDeletes.get(urn));
    const found = new Set<ResourceState>();
    const visit = (from: ResourceState | undefined): void => {
      if (from === undefined || found.has(from)) return;
      found.add(from);
      for (const urn of listNeeds(from)) visit(lookUp(from, urn));
      visit(lookUp(from, from.parent));
    };
    visit(lookUp(state, state.urn));
    return found;
  }
}
