import { setImmediate } from "node:timers/promises";
import { EngineError } from "../errors.ts";
import {
  isStackUrn,
  makeReference,
  makeUrn,
  nameOf,
  parseReference,
  parseUrn,
  typeOf,
  isProviderType,
} from "../values/urns.ts";
import type { Deployment } from "./checkpoint.ts";
import type { Operation, OperationType, ResourceState } from "./resourceState.ts";

/**
 * The state of the stack during a run: what the run has done, then what it has not touched yet, and the operations in
 * progress. Changes that come during a write share the next one.
 */
export class Snapshot {
  readonly base: Deployment;
  readonly #write: (deployment: Deployment) => Promise<void>;
  readonly #news: ResourceState[] = [];
  readonly #done = new Set<ResourceState>();
  readonly #operations = new Set<Operation>();
  readonly #integrity = new Integrity();
  #changes = 0;
  /** Number of the last change on disk; none yet, so that every run writes at least once. */
  #written = -1;
  #writing: Promise<void> | undefined;
  #elided = false;

  constructor(base: Deployment, write: (deployment: Deployment) => Promise<void>) {
    this.base = base;
    this.#write = write;
  }

  /** Records that an operation begins. Resolves when that is on disk. */
  async begin(type: OperationType, resource: ResourceState): Promise<Operation> {
    const operation = { type, resource };
    this.#operations.add(operation);
    await this.persist();
    return operation;
  }

  end(operation: Operation): void {
    this.#operations.delete(operation);
  }

  /** Drops an old state, which was deleted or has a new one. */
  markDone(old: ResourceState): void {
    this.#done.add(old);
  }

  markNew(state: ResourceState): void {
    this.#news.push(state);
    this.#elided = true;
  }

  /** Merges the state as it would be written now. */
  current(): Deployment {
    const resources = [...this.#news, ...this.base.resources].filter((state) => !this.#done.has(state));
    // An interrupted creation stays on record until somebody clears it.
    const interrupted = this.base.operations.filter(({ type }) => type === "creating");
    return withoutAliases({
      resources,
      operations: [...this.#operations, ...interrupted],
      metadata: this.base.metadata,
    });
  }

  /** Writes what is still pending at the end of a run. */
  async flush(): Promise<void> {
    if (this.#elided || this.#written < 0) await this.persist();
  }

  /** Resolves when everything changed so far is on disk. */
  async persist(): Promise<void> {
    const mine = ++this.#changes;
    while (this.#written < mine) {
      this.#writing ??= this.#writeOnce();
      await this.#writing;
    }
  }

  async #writeOnce(): Promise<void> {
    try {
      // One turn of the event loop, so that changes of parallel steps share a write.
      await setImmediate();
      const upTo = this.#changes;
      this.#elided = false;
      const deployment = this.current();
      const problem = this.#integrity.problem(deployment.resources);
      if (problem !== undefined) {
        throw new EngineError(`snapshot integrity failure, the state was not written: ${problem}`);
      }
      await this.#write(deployment);
      this.#written = upTo;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** Rewrites every reference to a URN that a resource had before, and the URNs of children not reached yet. */
function withoutAliases(deployment: Deployment): Deployment {
  const renamed = new Map<string, string>();
  for (const state of deployment.resources) {
    for (const alias of state.aliases) renamed.set(alias, state.urn);
    const parent = renamed.get(state.parent);
    if (parent !== undefined && !isStackUrn(parent)) {
      const { stack, project } = parseUrn(state.urn);
      renamed.set(state.urn, makeUrn(stack, project, parent, typeOf(state.urn), nameOf(state.urn)));
    }
  }
  if (renamed.size === 0) return deployment;
  const fix = (urn: string): string => renamed.get(urn) ?? urn;
  const fixState = (state: ResourceState): ResourceState => {
    const provider = parseReference(state.provider);
    return {
      ...state,
      urn: fix(state.urn),
      parent: fix(state.parent),
      deletedWith: fix(state.deletedWith),
      dependencies: state.dependencies.map(fix),
      propertyDependencies: Object.fromEntries(
        Object.entries(state.propertyDependencies).map(([name, urns]) => [name, urns.map(fix)]),
      ),
      provider: state.provider === "" ? "" : makeReference(fix(provider.urn), provider.id),
    };
  };
  return { ...deployment, resources: deployment.resources.map(fixState) };
}

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
