import { randomUUID } from "node:crypto";
import type { ResourceState } from "../state/resourceState.ts";
import { makeReference, packageOf, parseReference, typeOf, unknownId } from "../values/urns.ts";
import { equal, type PropertyMap, revealSecrets } from "../values/values.ts";
import { pickVisibleInputs, withInternals } from "./packageVersions.ts";
import {
  ProviderError,
  type Checked,
  type Created,
  type Difference,
  type Identity,
  type InputsAndOutputs,
  type ResourceProvider,
  type Updated,
} from "./provider.ts";

/** The part of a provider that steps use. The registry is one too, for provider resources. */
export type Operator = Pick<ResourceProvider, "check" | "diff" | "create" | "read" | "update" | "delete">;

/** The running providers by reference, and the operator of the resources that configure them. */
export class ProviderRegistry implements Operator {
  readonly #start: (name: string) => ResourceProvider;
  readonly #providers = new Map<string, ResourceProvider>();
  /** Checked, but not configured yet; by URN. */
  readonly #fresh = new Map<string, ResourceProvider>();
  /** Started ahead of time; by package. */
  readonly #warm = new Map<string, ResourceProvider>();
  readonly #opening = new Map<string, Promise<ResourceProvider>>();
  readonly #closed: ResourceProvider[] = [];

  constructor(start: (name: string) => ResourceProvider) {
    this.#start = start;
  }

  /** Starts a provider while the program loads, which takes about as long. */
  warmUp(name: string): void {
    this.#warm.set(name, this.#start(name));
  }

  #new(urn: string): ResourceProvider {
    const name = packageOf(typeOf(urn));
    const provider = this.#warm.get(name) ?? this.#start(name);
    this.#warm.delete(name);
    return provider;
  }

  get(reference: string): ResourceProvider | undefined {
    return this.#providers.get(reference);
  }

  async check(urn: string, olds: PropertyMap, news: PropertyMap): Promise<Checked> {
    let provider = this.#fresh.get(urn);
    if (provider === undefined) {
      const running = equal(revealSecrets(olds), revealSecrets(news)) ? this.#running(urn) : undefined;
      provider = running ?? this.#new(urn);
      if (!running) this.#fresh.set(urn, provider);
    }
    const { inputs, failures } = await provider.checkConfig(urn, pickVisibleInputs(olds), pickVisibleInputs(news));
    return { inputs: failures.length > 0 ? inputs : withInternals(inputs, news), failures };
  }

  /** One that old resources are read with already checks what has not changed: a new process would do nothing else. */
  #running(urn: string): ResourceProvider | undefined {
    for (const [reference, provider] of this.#providers) if (parseReference(reference).urn === urn) return provider;
    return undefined;
  }

  async diff({ urn, id }: Identity, olds: InputsAndOutputs, inputs: PropertyMap): Promise<Difference> {
    const provider = this.#fresh.get(urn) ?? this.#providers.get(makeReference(urn, id)) ?? this.#running(urn);
    if (provider === undefined) throw new ProviderError(`provider ${urn} was never loaded`);
    const news = pickVisibleInputs(inputs);
    const difference = await provider.diffConfig(urn, pickVisibleInputs(olds.inputs), olds.outputs, news);
    if (difference.changes !== "unknown") return difference;
    return { ...difference, changes: equal(olds.outputs, news) ? "none" : "some" };
  }

  async create(urn: string, inputs: PropertyMap, _timeout: number, preview: boolean): Promise<Created> {
    const id = preview ? unknownId : randomUUID();
    await this.#configure(this.#take(urn), urn, id, inputs);
    return { id, outputs: pickVisibleInputs(inputs), refreshBeforeUpdate: false };
  }

  async update({ urn, id }: Identity, _olds: InputsAndOutputs, inputs: PropertyMap): Promise<Updated> {
    const before = this.#providers.get(makeReference(urn, id));
    await this.#configure(this.#take(urn), urn, id, inputs);
    if (before) this.#retire(before);
    return { outputs: pickVisibleInputs(inputs), refreshBeforeUpdate: false };
  }

  delete({ urn, id }: Identity): Promise<void> {
    const reference = makeReference(urn, id);
    const provider = this.#providers.get(reference);
    this.#providers.delete(reference);
    if (provider) this.#retire(provider);
    return Promise.resolve();
  }

  /** Keeps a replaced provider until the end of the run, since running steps may still use it. */
  #retire(provider: ResourceProvider): void {
    this.#closed.push(provider);
  }

  read(): never {
    throw new ProviderError("provider resources cannot be read");
  }

  /** Configures a provider that did not change, with its inputs in the state. */
  async same(state: ResourceState): Promise<void> {
    if (this.#providers.has(makeReference(state.urn, state.id))) return;
    await this.#configure(this.#take(state.urn), state.urn, state.id, state.inputs);
  }

  /** Makes sure that the provider of an old resource runs. */
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

  async #open(reference: string, resources: readonly ResourceState[]): Promise<ResourceProvider> {
    const { urn, id } = parseReference(reference);
    const state = resources.find((candidate) => candidate.urn === urn && candidate.id === id);
    if (state === undefined) throw new ProviderError(`could not find provider ${reference} in the state`);
    // A new process: the checked one waits for the update of this same provider.
    const provider = this.#new(urn);
    const known = this.#providers.get(reference);
    if (known) return known;
    await this.#configure(provider, urn, id, state.inputs);
    return provider;
  }

  #take(urn: string): ResourceProvider {
    const provider = this.#fresh.get(urn) ?? this.#new(urn);
    this.#fresh.delete(urn);
    return provider;
  }

  async #configure(provider: ResourceProvider, urn: string, id: string, inputs: PropertyMap): Promise<void> {
    this.#providers.set(makeReference(urn, id), provider);
    await provider.configure({ urn, id }, pickVisibleInputs(inputs));
  }

  cancel(): void {
    for (const provider of this.#all()) provider.cancel();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all()].map((provider) => provider.close()));
  }

  #all(): Set<ResourceProvider> {
    const registered = [this.#providers, this.#fresh, this.#warm].flatMap((providers) => [...providers.values()]);
    return new Set([...registered, ...this.#closed]);
  }
}
