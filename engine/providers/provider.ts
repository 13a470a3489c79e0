import type { Path } from "../values/paths.ts";
import type { Properties } from "../values/values.ts";

/** One property of a detailed diff. */
export interface DetailedChange {
  kind: "add" | "delete" | "update";
  replaces: boolean;
  /** The old value stands among the old inputs, not among the outputs. */
  input: boolean;
}

/** A provider's opinion on what a change of inputs means. */
export interface Difference {
  /** unknown: the engine compares the inputs itself. */
  changes: "none" | "some" | "unknown";
  replaces: string[];
  changed: string[];
  deleteBeforeReplace: boolean;
  detail?: { path: Path; change: DetailedChange }[];
}

export interface Checked {
  inputs: Properties;
  failures: { property: string; reason: string }[];
}

export interface Updated {
  outputs: Properties;
  /** It wants to be read before each preview and update. */
  refreshBeforeUpdate: boolean;
}

export interface Created extends Updated {
  id: string;
}

/** What is there; an empty ID where nothing is. Without inputs those that are known stay. */
export interface ReadResult extends Created {
  inputs: Properties | undefined;
}

export interface Invoked {
  outputs: Properties;
  failures: Checked["failures"];
}

/** Which resource a call is about. */
export interface Identity {
  urn: string;
  id: string;
}

/** The provider refused or failed; nothing is known to have been done. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

/** Created or updated, but not ready: what is there is saved and the run fails. */
export class PartialFailure extends Error {
  override readonly name = "PartialFailure";
  readonly found: ReadResult;
  readonly reasons: string[];
  constructor(reasons: string[], found: ReadResult) {
    super(reasons.length === 0 ? "resource partially created but not ready" : reasons.join("; "));
    this.reasons = reasons;
    this.found = found;
  }
}

/** The provider cannot say what would change, because its own configuration is not known yet. */
export class DiffUnavailable extends Error {
  override readonly name = "DiffUnavailable";
}

/** A provider in operation. Its one implementation speaks gRPC, to the dynamic-provider host and to plugins alike. */
export interface Provider {
  checkConfig(urn: string, old: Properties, news: Properties): Promise<Checked>;
  diffConfig(urn: string, oldInputs: Properties, oldOutputs: Properties, inputs: Properties): Promise<Difference>;
  configure(identity: Identity, inputs: Properties): Promise<void>;
  check(urn: string, old: Properties, news: Properties, preview: boolean): Promise<Checked>;
  diff(
    resource: Identity,
    old: InputsAndOutputs,
    inputs: Properties,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference>;
  create(urn: string, inputs: Properties, timeout: number, preview: boolean): Promise<Created>;
  read(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<ReadResult>;
  update(resource: Identity, old: InputsAndOutputs, inputs: Properties, options: UpdateOptions): Promise<Updated>;
  delete(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<void>;
  /** Calls a function of the package. */
  invoke(token: string, args: Properties, preview: boolean): Promise<Invoked>;
  /** As the provider tells it; empty where it tells none. */
  version(): Promise<string>;
  /** Asks it to stop what it is doing. */
  cancel(): void;
  close(): Promise<void>;
}

export interface InputsAndOutputs {
  inputs: Properties;
  outputs: Properties;
}

export interface UpdateOptions {
  ignoreChanges: string[];
  timeout: number;
  preview: boolean;
}
