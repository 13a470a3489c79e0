import { randomUUID } from "node:crypto";
import { ProviderError } from "./provider.ts";
import type { Checked, Difference, Identity, Outcome, Provider, Sides } from "./provider.ts";
import { type ResourceState } from "./state.ts";
import { makeReference, parseReference, unknownId } from "./urns.ts";
import { equal, type Properties } from "./values.ts";

/** What steps need of a provider; provider resources themselves are served by the registry in the same way. */
export type Operator = Pick<Provider, "check" | "diff" | "create" | "read" | "update" | "delete">;

/** All providers in operation, by reference; and the operator of the resources that configure them. */
export class Registry implements Operator {
  readonly #start: () => Provider;
  readonly #providers = new Map<string, Provider>();
  /** Checked, but not configured yet; by URN. */
  readonly #fresh = new Map<string, Provider>();
  #warm: Provider | undefined;
  readonly #opening = new Map<string, Promise<Provider>>();

  constructor(start: () => Provider) {
    this.#start = start;
  }

  /** Starts a process ahead of time: the program takes as long to load as the host does. */
  warmUp(): void {
    this.#warm = this.#start();
  }

  #new(): Provider {
    const provider = this.#warm ?? this.#start();
    this.#warm = undefined;
    return provider;
  }

  get(reference: string): Provider | undefined {
    return this.#providers.get(reference);
  }

  async check(urn: string, olds: Properties, news: Properties): Promise<Checked> {
    const provider = this.#fresh.get(urn) ?? this.#new();
    this.#fresh.set(urn, provider);
    return provider.checkConfig(urn, olds, news);
  }

  async diff({ urn, id }: Identity, olds: Sides, inputs: Properties): Promise<Difference> {
    const provider = this.#fresh.get(urn) ?? this.#providers.get(makeReference(urn, id));
    if (provider === undefined) throw new ProviderError(`provider ${urn} was never loaded`);
    const difference = await provider.diffConfig(urn, olds.inputs, olds.outputs, inputs);
    if (difference.changes !== "unknown") return difference;
    return { ...difference, changes: equal(olds.outputs, inputs) ? "none" : "some" };
  }

  async create(urn: string, inputs: Properties, _timeout: number, preview: boolean): Promise<Outcome> {
    const id = preview ? unknownId : randomUUID();
    await this.#configure(this.#take(urn), urn, id, inputs);
    return { id, outputs: inputs };
  }

  async update({ urn, id }: Identity, _olds: Sides, inputs: Properties): Promise<Properties> {
    const before = this.#providers.get(makeReference(urn, id));
    await this.#configure(this.#take(urn), urn, id, inputs);
    await before?.close();
    return inputs;
  }

  async delete({ urn, id }: Identity): Promise<void> {
    const reference = makeReference(urn, id);
    const provider = this.#providers.get(reference);
    this.#providers.delete(reference);
    await provider?.close();
  }

  read(): never {
    throw new ProviderError("provider resources cannot be read");
  }

  /** Puts a provider that did not change into operation, with the inputs it has in the state. */
  async same(state: ResourceState): Promise<void> {
    if (this.#providers.has(makeReference(state.urn, state.id))) return;
    await this.#configure(this.#take(state.urn), state.urn, state.id, state.inputs);
  }

  /** Makes sure that the provider of an old resource is in operation. */
  async ensure(reference: string, resources: readonly ResourceState[]): Promise<void> {
    if (reference === "" || this.#providers.has(reference)) return;
    const opening = this.#opening.get(reference) ?? this.#open(reference, resources);
    this.#opening.set(reference, opening);
    try {
      await opening;
    } finally {
      this.#opening.delete(reference);
    }
  }

  async #open(reference: string, resources: readonly ResourceState[]): Promise<Provider> {
    const { urn, id } = parseReference(reference);
    const state = resources.find((candidate) => candidate.urn === urn && candidate.id === id);
    if (state === undefined) throw new ProviderError(`could not find provider ${reference} in the state`);
    // Not the one that may be under check for an update of this very provider.
    const provider = this.#new();
    const known = this.#providers.get(reference);
    if (known) return known;
    await this.#configure(provider, urn, id, state.inputs);
    return provider;
  }

  #take(urn: string): Provider {
    const provider = this.#fresh.get(urn) ?? this.#new();
    this.#fresh.delete(urn);
    return provider;
  }

  async #configure(provider: Provider, urn: string, id: string, inputs: Properties): Promise<void> {
    this.#providers.set(makeReference(urn, id), provider);
    await provider.configure({ urn, id }, inputs);
  }

  /** An alias of a provider resource: old resources name it by its old URN. */
  alias(oldReference: string, reference: string): void {
    const provider = this.#providers.get(reference);
    if (provider && !this.#providers.has(oldReference)) this.#providers.set(oldReference, provider);
  }

  cancel(): void {
    for (const provider of this.#all()) provider.cancel();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all()].map((provider) => provider.close()));
  }

  #all(): Set<Provider> {
    return new Set([...this.#providers.values(), ...this.#fresh.values(), ...(this.#warm ? [this.#warm] : [])]);
  }
}
