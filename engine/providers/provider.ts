import type { Departure } from "../events.ts";
import type { Path } from "../values/paths.ts";
import type { PropertyMap } from "../values/values.ts";

/** One property of a detailed diff. */
export interface DetailedChange {
  kind: "add" | "delete" | "update";
  replaces: boolean;
  /** True if the old value stands among the old inputs, rather than the outputs. */
  input: boolean;
}

/** A provider's answer to what a change of inputs means. */
export interface Difference {
  /** `unknown`: the engine compares the inputs itself. */
  changes: "none" | "some" | "unknown";
  replaces: string[];
  changed: string[];
  deleteBeforeReplace: boolean;
  detail?: { path: Path; change: DetailedChange }[];
}

export interface Checked {
  inputs: PropertyMap;
  failures: { property: string; reason: string }[];
}

export interface Updated {
  outputs: PropertyMap;
  /** True if the resource wants to be read before each preview and update. */
  refreshBeforeUpdate: boolean;
}

export interface Created extends Updated {
  id: string;
}

/** Result of a read. An empty ID means that nothing was found. Without inputs the known ones stay. */
export interface ReadResult extends Created {
  inputs: PropertyMap | undefined;
}

export interface Invoked {
  outputs: PropertyMap;
  failures: Checked["failures"];
}

/** The resource of a call. */
export interface Identity {
  urn: string;
  id: string;
}

/** The provider refused or failed, and reports nothing as done. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

/** The resource was created or updated, but is not ready: its state is saved and the run fails. */
export class InitError extends Error {
  override readonly name = "PartialFailure";
  readonly found: ReadResult;
  readonly reasons: string[];
  constructor(reasons: string[], found: ReadResult) {
    super(reasons.length === 0 ? "resource partially created but not ready" : reasons.join("; "));
    this.reasons = reasons;
    this.found = found;
  }
}

/** The provider cannot compare, because its own configuration is not known yet. */
export class DiffUnavailable extends Error {
  override readonly name = "DiffUnavailable";
}

/** A running provider. Timeouts are in seconds; 0: the provider decides. */
export interface ResourceProvider {
  checkConfig(urn: string, old: PropertyMap, news: PropertyMap): Promise<Checked>;
  diffConfig(urn: string, oldInputs: PropertyMap, oldOutputs: PropertyMap, inputs: PropertyMap): Promise<Difference>;
  configure(identity: Identity, inputs: PropertyMap): Promise<void>;
  check(urn: string, old: PropertyMap, news: PropertyMap, preview: boolean): Promise<Checked>;
  diff(
    resource: Identity,
    old: InputsAndOutputs,
    inputs: PropertyMap,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference>;
  create(urn: string, inputs: PropertyMap, timeout: number, preview: boolean): Promise<Created>;
  read(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<ReadResult>;
  update(resource: Identity, old: InputsAndOutputs, inputs: PropertyMap, options: UpdateOptions): Promise<Updated>;
  delete(resource: Identity, old: InputsAndOutputs, timeout: number): Promise<void>;
  /** What becomes of what a deletion is about, if it knows more than the state; throws what refuses the deletion. */
  departs?(resource: Identity, old: InputsAndOutputs): Promise<Departure | undefined>;
  invoke(token: string, args: PropertyMap, preview: boolean): Promise<Invoked>;
  /** Asks it to stop what it is doing. */
  cancel(): void;
  close(): Promise<void>;
}

export interface InputsAndOutputs {
  inputs: PropertyMap;
  outputs: PropertyMap;
}

export interface UpdateOptions {
  ignoreChanges: string[];
  timeout: number;
  preview: boolean;
}
