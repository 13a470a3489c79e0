import { unknownValue } from "../../provider/pulumi/properties.ts";
import { InitFailed, type Properties, type ProviderHost } from "../harness/providerHost.ts";
import type { Declared } from "./program.ts";

/** A resource as a state has it. */
export interface Kept {
  type: string;
  id: string;
  inputs: Properties;
  outputs: Properties;
  /** True after a failure in part: it is updated even when nothing changed. */
  unfinished: boolean;
}

type State = Map<string, Kept>;

/** The engine was killed before it saved what a step had done. */
export class EngineKilled extends Error {}

/** Drives a provider as one run of an engine does: one resource after the other, and the state saved at each step. */
export class Deployment {
  readonly host: ProviderHost;
  /** By name, in the order in which they were made. */
  state: State;
  /** Steps of the last up, in a preview's words. */
  steps: string[] = [];
  /** Steps whose answer is saved; the engine is killed with the answer of the next one. Undefined for all. */
  saves: number | undefined;
  /** Replaced resources that are still to be deleted, their replacements made. */
  #replaced: { name: string; kept: Kept }[] = [];

  constructor(host: ProviderHost, state: State = new Map()) {
    this.host = host;
    this.state = new Map(state);
  }

  /** Makes the platform match the program; throws the message of the first failed step. */
  async up(program: readonly Declared[]): Promise<void> {
    this.steps = this.#leftovers();
    for (const one of program) {
      const step = await this.#step(one, true);
      if (step !== "same") this.steps.push(`${step} ${one.name}`);
    }
    await this.#discardReplaced();
    await this.#destroyAll(new Set(program.map(({ name }) => name)));
  }

  /** Steps of a coming up, such as `update crew`. */
  async preview(program: readonly Declared[]): Promise<string[]> {
    const steps: string[] = [];
    for (const one of program) {
      const step = await this.#step(one, false);
      if (step !== "same") steps.push(`${step} ${one.name}`);
    }
    const names = new Set(program.map(({ name }) => name));
    return [
      ...this.#leftovers(),
      ...steps,
      ...[...this.state.keys()].filter((name) => !names.has(name)).map((name) => `delete ${name}`),
    ];
  }

  async refresh(): Promise<void> {
    for (const [name, kept] of [...this.state]) this.#save(name, await this.#read(name, kept));
  }

  /** A separate run, in a process that knows no program. */
  async destroy(): Promise<void> {
    await this.host.restart();
    await this.#discardReplaced();
    await this.#destroyAll(new Set());
  }

  async #read(name: string, { type, id, inputs, outputs, unfinished }: Kept): Promise<Kept | undefined> {
    this.host.resource = name;
    const found = await this.host.read(type, id, outputs, inputs);
    if (found.id === "") return undefined;
    return { type, id: found.id, inputs: found.inputs ?? inputs, outputs: found.outputs, unfinished };
  }

  /** @param acts false for a preview */
  async #step({ name, type, inputs: given }: Declared, acts: boolean): Promise<string> {
    const { host } = this;
    let old = this.state.get(name);
    // The plugin asks for it with each answer.
    if (old && host.providerKind.modern) {
      old = await this.#read(name, old);
      if (acts) this.#save(name, old);
    }
    host.resource = name;
    const news = given((other) => {
      const found = this.state.get(other);
      if (!found && acts) throw new Error(`${other} is not there`);
      return found ?? { id: unknownValue, outputs: {} };
    });
    const { inputs, problems } = await host.check(type, news, old?.inputs);
    if (problems.length > 0) throw new Error(problems.join("\n"));
    if (!old) {
      if (acts) await this.#create(name, type, inputs);
      return "create";
    }
    const { id, outputs } = old;
    const change = await host.diff(type, id, outputs, inputs);
    if (change.replaces.length > 0) {
      const fresh = (await host.check(type, news)).inputs;
      if (!acts) return "replace";
      if (change.deleteBeforeReplace) await this.#delete(name, old);
      try {
        await this.#create(name, type, fresh);
      } finally {
        // Also where it was made in part: then the state has both.
        if (!change.deleteBeforeReplace && this.state.get(name) !== old) this.#replaced.push({ name, kept: old });
      }
      return "replace";
    }
    if (!change.changes && !old.unfinished) {
      if (acts) this.#save(name, { ...old, inputs });
      return "same";
    }
    if (acts) {
      const made = host.update(type, id, outputs, inputs);
      await this.#made(
        name,
        { type, inputs },
        made.then((outputs) => ({ id, outputs })),
      );
    }
    return "update";
  }

  async #create(name: string, type: string, inputs: Properties): Promise<void> {
    await this.#made(name, { type, inputs }, this.host.create(type, inputs));
  }

  /** Saves what a create or update answered, or what of it failed in part. */
  async #made(
    name: string,
    known: Pick<Kept, "type" | "inputs">,
    making: Promise<{ id: string; outputs: Properties }>,
  ): Promise<void> {
    try {
      const made = await making;
      this.#answered();
      this.#save(name, { ...known, ...made, unfinished: false });
    } catch (error) {
      if (error instanceof InitFailed) {
        this.#save(name, { ...known, id: error.id, outputs: error.properties, unfinished: true });
      }
      throw error;
    }
  }

  /** Deletes what a state has under a name; a replacement under the same name stays. */
  async #delete(name: string, kept: Kept): Promise<void> {
    const { type, id, outputs } = kept;
    this.host.resource = name;
    await this.host.delete(type, id, outputs);
    this.#answered();
    if (this.state.get(name) === kept) this.#save(name, undefined);
  }

  /** Deletions that an interrupted run has left, as steps. */
  #leftovers(): string[] {
    return this.#replaced.map(({ name }) => `delete ${name}`);
  }

  /** Deletes what was replaced, last things first. */
  async #discardReplaced(): Promise<void> {
    for (const one of this.#replaced.toReversed()) {
      this.host.resource = one.name;
      await this.host.delete(one.kept.type, one.kept.id, one.kept.outputs);
      this.#answered();
      this.#replaced = this.#replaced.filter((other) => other !== one);
    }
  }

  async #destroyAll(but: ReadonlySet<string>): Promise<void> {
    for (const [name, kept] of [...this.state].toReversed()) {
      if (but.has(name)) continue;
      await this.#delete(name, kept);
      this.steps.push(`delete ${name}`);
    }
  }

  #answered(): void {
    if (this.saves !== undefined && this.saves-- === 0) throw new EngineKilled();
  }

  #save(name: string, kept: Kept | undefined): void {
    if (kept) this.state.set(name, kept);
    else this.state.delete(name);
  }
}
