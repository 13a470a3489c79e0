import type { Declared } from "../../cli/report/source.ts";
import { type DeclaredThing, listLinkedInputs, things } from "../../provider/environment/things.ts";
import type { Configuration } from "../../provider/pulumi/configuration.ts";
import { type Call, Operations } from "../../provider/pulumi/operations.ts";
import { type Properties, toKeyed, unknownValue } from "../../provider/pulumi/properties.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";

interface Kept {
  kind: string;
  id: string;
  inputs: Properties;
  outputs: Properties;
}

export type Step = "create" | "update" | "replace" | "delete";

/** A run that a provider refused, in its words. */
export class Refused extends Error {}

/** Does with the things of an Environment what an engine does: over the operations, without processes. */
export class InProcessEngine {
  readonly #configuration: Configuration;
  readonly #root: string | undefined;
  /** By type and name, in the order in which they were made. */
  state = new Map<string, Kept>();
  /** What the last run said of each thing, by type and name. */
  told: ReadonlyMap<string, readonly string[]> = new Map();

  /** @param root the Environment, whose things are then looked at one after the other, as by an engine without a preview */
  constructor(configuration: Configuration, root?: string) {
    this.#configuration = configuration;
    this.#root = root;
  }

  /** Carries out, or plans, one step for each resource, by type and name; throws `Refused`. */
  async run(declared: Declared, acts: boolean): Promise<Map<string, Step>> {
    const run = new Run(this.#configuration, declared, this.state, this.#root);
    try {
      return await run.steps(acts);
    } finally {
      if (acts) this.state = run.state;
      this.told = run.told;
      run.end();
    }
  }
}

class Run {
  readonly #operations: Operations;
  readonly #stop = new AbortController();
  readonly #all: readonly DeclaredThing[];
  readonly #former = new Map<string, string>();
  readonly #root: string | undefined;
  readonly #made = new Set<string>();
  readonly state: Map<string, Kept>;
  readonly told = new Map<string, string[]>();

  constructor(
    configuration: Configuration,
    { declaration, folder }: Declared,
    state: ReadonlyMap<string, Kept>,
    root: string | undefined,
  ) {
    this.#root = root;
    this.state = new Map(state);
    this.#all = things(declaration);
    const tell = (key: string) => (text: string) => void this.told.set(key, [...(this.told.get(key) ?? []), text]);
    const report = (urn = "") => ({
      ...{ status: () => undefined, info: tell(this.#keyOf(urn)), warning: tell(this.#keyOf(urn)) },
      heard: () => Promise.resolve(),
    });
    this.#operations = new Operations({
      ...{ configuration: () => configuration, directory: folder, signal: this.#stop.signal },
      ...{ readsFirst: false, foresees: true, report },
    });
    for (const { key, kind, name } of this.#all) {
      const found = [name.now, ...name.own, ...name.inherited].map((each) => `${kind} ${each.slice(1)}`);
      const former = found.find((each) => state.has(each) && ![...this.#former.values()].includes(each));
      if (former !== undefined) this.#former.set(key, former);
    }
  }

  #urnOf(key: string): string {
    const below = key.replace(" ", `::${this.#root ?? "environment"}/`);
    return `urn:pulumi:dev::tests::microapps:index:Environment$microapps:index:${below}`;
  }

  #keyOf(urn: string): string {
    const [, , chain = "", name = ""] = urn.split("::");
    return `${chain.split(":").at(-1) ?? ""} ${name.slice(name.indexOf("/") + 1)}`;
  }

  end(): void {
    this.#stop.abort();
  }

  async steps(acts: boolean): Promise<Map<string, Step>> {
    const steps = new Map<string, Step>();
    // A preview has seen everything; below an Environment each thing is looked at when those that it is in are there.
    if (this.#root === undefined) for (const thing of this.#all) await this.#check(thing);
    for (const thing of this.#all) {
      const step = await this.#step(thing, acts);
      if (step) steps.set(thing.key, step);
    }
    const kept = new Set([...this.#former.values(), ...this.#made]);
    for (const [key, one] of [...this.state].toReversed()) {
      if (kept.has(key)) continue;
      steps.set(key, "delete");
      if (!acts) {
        const state = { ...one.outputs, resourceUrn: this.#urnOf(key) };
        const departure = await this.#refusing(() => this.#operations.departs(this.#call(one.kind, key), state));
        if (departure) this.told.set(key, [`rows: ${departure.gone} to remove; ${departure.size}`]);
        continue;
      }
      await this.#refusing(() =>
        this.#operations.delete(this.#call(one.kind, key), one.id, { ...one.outputs, resourceUrn: this.#urnOf(key) }),
      );
      this.state.delete(key);
    }
    for (const [key, former] of this.#former) {
      const one = this.state.get(former);
      if (!acts || former === key || !one) continue;
      this.state.delete(former);
      this.state.set(key, one);
    }
    return steps;
  }

  async #step(thing: DeclaredThing, acts: boolean): Promise<Step | undefined> {
    const { key, kind } = thing;
    const call = this.#call(kind, key);
    const old = this.#known(key);
    const inputs = await this.#check(thing);
    if (!old) {
      if (acts) {
        const { id, outputs } = await this.#refusing(() => this.#operations.create(call, inputs));
        this.state.set(key, { kind, id, inputs, outputs });
        this.#made.add(key);
      } else await this.#operations.foreseen(call, inputs);
      return "create";
    }
    const olds = { ...old.outputs, resourceUrn: this.#urnOf(key) };
    const change = await this.#refusing(() => this.#operations.diff(call, old.id, olds, inputs));
    if (change.replaces.length > 0) {
      const fresh = await this.#check(thing, true);
      if (!acts) return "replace";
      const isFirst = call.resource.deleteBeforeReplace === true;
      if (isFirst) await this.#refusing(() => this.#operations.delete(call, old.id, olds));
      const { id, outputs } = await this.#refusing(() => this.#operations.create(call, fresh));
      this.state.set(this.#former.get(key) ?? key, { kind, id, inputs: fresh, outputs });
      if (!isFirst) await this.#refusing(() => this.#operations.delete(call, old.id, olds));
      return "replace";
    }
    if (change.changed.length === 0) return undefined;
    if (acts) {
      const outputs = await this.#refusing(() => this.#operations.update(call, old.id, olds, inputs));
      this.state.set(this.#former.get(key) ?? key, { kind, id: old.id, inputs, outputs });
    } else await this.#operations.foreseen(call, inputs, olds);
    return "update";
  }

  async #check(thing: DeclaredThing, isNew = false): Promise<Properties> {
    const { key, kind } = thing;
    const old = isNew ? undefined : this.#known(key);
    const call = this.#call(kind, key);
    const seeds = Object.entries(thing.seeds);
    const news: Properties = {
      ...thing.inputs,
      ...listLinkedInputs(thing, ({ of, id }) => (of === undefined ? id : (this.#known(of)?.id ?? unknownValue))),
      ...(seeds.length === 0
        ? {}
        : { linkedSeeds: Object.fromEntries(seeds.map(([label, of]) => [label, this.#urnOf(of)])) }),
      resourceUrn: this.#urnOf(key),
    };
    const known = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== undefined));
    const checking = () => this.#operations.check(call, old?.inputs ?? {}, toKeyed(call.resource, known));
    const { inputs, problems } = await this.#refusing(checking);
    if (problems.length > 0) throw new Refused(problems.join("\n"));
    return inputs;
  }

  #known(key: string): Kept | undefined {
    return this.state.get(this.#made.has(key) ? key : (this.#former.get(key) ?? ""));
  }

  #call(kind: string, key: string): Call {
    const resource = resourceNamed(kind);
    if (!resource) throw new Error(`there is no ${kind}`);
    return { resource, urn: this.#urnOf(key) };
  }

  async #refusing<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      throw new Refused(error instanceof Error ? error.message : String(error));
    }
  }
}
