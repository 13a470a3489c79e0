import type { Departure } from "../events.ts";
import { revealSecrets, property, type PropertyMap, Unknown } from "../values/values.ts";
import type { Checked, Created, Difference, Invoked, ReadResult, ResourceProvider, Updated } from "./provider.ts";

/** The property that names the provider of a dynamic resource. */
const codeKey = "__provider";

/**
 * A provider in this process for the resources that it serves, and one in a process of its own for all others, which
 * starts when the first of them needs it.
 */
export class SplitProvider implements ResourceProvider {
  readonly #own: ResourceProvider;
  readonly #start: () => ResourceProvider;
  readonly #serves: (code: unknown) => boolean;
  #other: Promise<ResourceProvider> | undefined;
  #configured: Parameters<ResourceProvider["configure"]> | undefined;

  /** @param serves decides by the code that a resource names as its provider */
  constructor(own: ResourceProvider, start: () => ResourceProvider, serves: (code: unknown) => boolean) {
    this.#own = own;
    this.#start = start;
    this.#serves = serves;
  }

  checkConfig(...of: Parameters<ResourceProvider["checkConfig"]>): Promise<Checked> {
    return this.#own.checkConfig(...of);
  }

  diffConfig(...of: Parameters<ResourceProvider["diffConfig"]>): Promise<Difference> {
    return this.#own.diffConfig(...of);
  }

  async configure(...of: Parameters<ResourceProvider["configure"]>): Promise<void> {
    this.#configured = of;
    await this.#own.configure(...of);
  }

  async check(...of: Parameters<ResourceProvider["check"]>): Promise<Checked> {
    const [, old, news] = of;
    return (await this.#of(news, old)).check(...of);
  }

  async diff(...of: Parameters<ResourceProvider["diff"]>): Promise<Difference> {
    const [, old, inputs] = of;
    return (await this.#of(inputs, old.outputs)).diff(...of);
  }

  async create(...of: Parameters<ResourceProvider["create"]>): Promise<Created> {
    return (await this.#of(of[1])).create(...of);
  }

  async read(...of: Parameters<ResourceProvider["read"]>): Promise<ReadResult> {
    const [, { inputs, outputs }] = of;
    return (await this.#of(Object.keys(outputs).length > 0 ? outputs : inputs)).read(...of);
  }

  async update(...of: Parameters<ResourceProvider["update"]>): Promise<Updated> {
    return (await this.#of(of[2])).update(...of);
  }

  async delete(...of: Parameters<ResourceProvider["delete"]>): Promise<void> {
    return (await this.#of(of[1].outputs)).delete(...of);
  }

  async departs(...of: Parameters<NonNullable<ResourceProvider["departs"]>>): Promise<Departure | undefined> {
    return (await this.#of(of[1].outputs)).departs?.(...of);
  }

  invoke(...of: Parameters<ResourceProvider["invoke"]>): Promise<Invoked> {
    return this.#own.invoke(...of);
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
