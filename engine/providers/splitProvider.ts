import { revealSecrets, property, type PropertyMap, Unknown } from "../values/values.ts";
import type { Constructed, Construction } from "./construction.ts";
import type {
  Checked,
  Created,
  Difference,
  Identity,
  InputsAndOutputs,
  Invoked,
  ReadResult,
  ResourceProvider,
  Updated,
  UpdateOptions,
} from "./provider.ts";

/** The property that names the provider of a dynamic resource. */
const codeKey = "__provider";

/**
 * A provider in this process for the resources that it serves, and one in a process of its own for all others, which
 * starts when the first of them needs it. Components are constructed there, too.
 */
export class SplitProvider implements ResourceProvider {
  readonly #own: ResourceProvider;
  readonly #start: () => ResourceProvider;
  readonly #serves: (code: unknown) => boolean;
  #other: Promise<ResourceProvider> | undefined;
  #configured: [Identity, PropertyMap] | undefined;

  /** @param serves decides by the code that a resource names as its provider */
  constructor(own: ResourceProvider, start: () => ResourceProvider, serves: (code: unknown) => boolean) {
    this.#own = own;
    this.#start = start;
    this.#serves = serves;
  }

  checkConfig(urn: string, old: PropertyMap, news: PropertyMap): Promise<Checked> {
    return this.#own.checkConfig(urn, old, news);
  }

  diffConfig(urn: string, oldInputs: PropertyMap, oldOutputs: PropertyMap, inputs: PropertyMap): Promise<Difference> {
    return this.#own.diffConfig(urn, oldInputs, oldOutputs, inputs);
  }

  async configure(identity: Identity, inputs: PropertyMap): Promise<void> {
    this.#configured = [identity, inputs];
    await this.#own.configure(identity, inputs);
  }

  async check(urn: string, old: PropertyMap, news: PropertyMap, preview: boolean): Promise<Checked> {
    return (await this.#of(news, old)).check(urn, old, news, preview);
  }

  async diff(
    resource: Identity,
    old: InputsAndOutputs,
    inputs: PropertyMap,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference> {
    return (await this.#of(inputs, old.outputs)).diff(resource, old, inputs, ignoreChanges, preview);
  }

  async create(urn: string, inputs: PropertyMap, timeout: number, preview: boolean): Promise<Created> {
    return (await this.#of(inputs)).create(urn, inputs, timeout, preview);
  }

  async read(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<ReadResult> {
    const known = Object.keys(old.outputs).length > 0 ? old.outputs : old.inputs;
    return (await this.#of(known)).read(resource, old, timeout);
  }

  async update(
    resource: Identity,
    old: InputsAndOutputs,
    inputs: PropertyMap,
    options: UpdateOptions,
  ): Promise<Updated> {
    return (await this.#of(inputs)).update(resource, old, inputs, options);
  }

  async delete(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<void> {
    return (await this.#of(old.outputs)).delete(resource, old, timeout);
  }

  invoke(token: string, args: PropertyMap, preview: boolean): Promise<Invoked> {
    return this.#own.invoke(token, args, preview);
  }

  async construct(construction: Construction): Promise<Constructed | undefined> {
    return (await this.#elsewhere()).construct(construction);
  }

  version(): Promise<string> {
    return this.#own.version();
  }

  cancel(): void {
    this.#own.cancel();
    void this.#other?.then((other) => other.cancel()).catch(() => undefined);
  }

  async close(): Promise<void> {
    const other = await this.#other?.catch(() => undefined);
    await Promise.all([this.#own.close(), other?.close()]);
  }

  /** The provider of a resource: by its code, or where that is not known yet by the code of its state. */
  #of(properties: PropertyMap, olds: PropertyMap = {}): Promise<ResourceProvider> {
    const code = revealSecrets(property(properties, codeKey) ?? null);
    const known = code instanceof Unknown ? revealSecrets(property(olds, codeKey) ?? null) : code;
    return this.#serves(known) ? Promise.resolve(this.#own) : this.#elsewhere();
  }

  #elsewhere(): Promise<ResourceProvider> {
    return (this.#other ??= this.#open());
  }

  async #open(): Promise<ResourceProvider> {
    const other = this.#start();
    try {
      if (this.#configured) await other.configure(...this.#configured);
    } catch (error) {
      await other.close();
      throw error;
    }
    return other;
  }
}
