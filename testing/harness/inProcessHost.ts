import type { ListWaits } from "../../provider/people/members.ts";
import type { Configuration } from "../../provider/pulumi/configuration.ts";
import { type Call, Operations } from "../../provider/pulumi/operations.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import type { Properties, ProviderHost } from "./providerHost.ts";

/** The part of a provider that a resource's life uses. */
export type LifeHost = Pick<
  ProviderHost,
  "resource" | "told" | "check" | "diff" | "create" | "read" | "update" | "import" | "destroy" | "delete" | "restart"
>;

/** The operations of both kinds of provider in this process, without an engine: for lives by the hundred. */
export class InProcessHost implements LifeHost {
  readonly told: string[] = [];
  resource = "it";
  readonly #configuration: Configuration;
  readonly #directory: string;
  readonly #waits: ListWaits | undefined;
  #stop = new AbortController();
  #operations: Operations;

  /** @param waits for a test that counts calls: the usual ones are too short on a busy machine */
  constructor(configuration: Configuration, directory: string, waits?: ListWaits) {
    this.#configuration = { consistencySeconds: 0, ...configuration };
    this.#directory = directory;
    this.#waits = waits;
    this.#operations = this.#begun();
  }

  #begun(): Operations {
    const tell = (severity: string, clean: (text: string) => string) => (text: string) =>
      void this.told.push(`${severity}: ${clean(text)}`);
    return new Operations({
      configuration: () => this.#configuration,
      directory: this.#directory,
      readsFirst: true,
      foresees: true,
      waits: this.#waits,
      signal: this.#stop.signal,
      report: (_urn, clean) => ({
        status: () => undefined,
        info: tell("info", clean),
        warning: tell("warning", clean),
        heard: () => Promise.resolve(),
      }),
    });
  }

  #call(type: string): Call & { urn: string } {
    const resource = resourceNamed(type);
    if (!resource) throw new Error(`there is no ${type}`);
    return { resource, urn: `urn:pulumi:dev::tests::microapps:index:${type}::${this.resource}` };
  }

  /** Properties in the form that this kind of provider passes on. */
  #known = (type: string, properties: Properties): Properties => ({
    ...properties,
    resourceUrn: this.#call(type).urn,
  });

  async check(type: string, news: Properties, olds: Properties = {}) {
    const call = this.#call(type);
    const checked = await this.#operations.check(call, this.#known(type, olds), this.#known(type, news));
    if (Object.keys(olds).length === 0 && checked.problems.length === 0) {
      await this.#operations.foreseen(call, this.#known(type, checked.inputs));
    }
    return checked;
  }

  async diff(type: string, id: string, olds: Properties, news: Properties) {
    const call = this.#call(type);
    const [old, inputs] = [this.#known(type, olds), this.#known(type, news)];
    const { changed, replaces } = await this.#operations.diff(call, id, old, inputs);
    if (changed.length > 0) await this.#operations.foreseen(call, inputs, old);
    const { deleteBeforeReplace = false } = call.resource;
    return { changes: changed.length > 0, replaces, deleteBeforeReplace };
  }

  create(type: string, inputs: Properties) {
    return this.#operations.create(this.#call(type), this.#known(type, inputs));
  }

  async read(type: string, id: string, state: Properties, lastInputs: Properties = {}) {
    const found = await this.#operations.read(this.#call(type), id, this.#known(type, state), lastInputs);
    return found ?? { id: "", outputs: {} };
  }

  update(type: string, id: string, olds: Properties, news: Properties) {
    return this.#operations.update(this.#call(type), id, this.#known(type, olds), this.#known(type, news));
  }

  import(type: string, id: string) {
    return this.read(type, id, {});
  }

  async destroy(type: string, id: string, state: Properties): Promise<void> {
    await this.restart();
    await this.delete(type, id, state);
  }

  delete(type: string, id: string, state: Properties): Promise<void> {
    return this.#operations.delete(this.#call(type), id, this.#known(type, state));
  }

  /** Another run. */
  restart(): Promise<void> {
    this.stop();
    this.#stop = new AbortController();
    this.#operations = this.#begun();
    return Promise.resolve();
  }

  stop(): void {
    this.#stop.abort();
  }
}
