import type { Path } from "./paths.ts";
import type { Properties } from "./values.ts";

/** One property of a detailed diff. */
export interface DetailedChange {
  kind: "add" | "delete" | "update";
  replaces: boolean;
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

export interface Outcome {
  id: string;
  outputs: Properties;
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
  readonly id: string;
  readonly outputs: Properties;
  readonly inputs: Properties | undefined;
  readonly reasons: string[];
  constructor(id: string, outputs: Properties, inputs: Properties | undefined, reasons: string[]) {
    super(reasons.length === 0 ? "resource partially created but not ready" : reasons.join("; "));
    this.id = id;
    this.outputs = outputs;
    this.inputs = inputs;
    this.reasons = reasons;
  }
}

/** The provider cannot say what would change, because its own configuration is not known yet. */
export class DiffUnavailable extends Error {
  override readonly name = "DiffUnavailable";
}

/** A provider in operation. Its one implementation speaks gRPC, to the dynamic-provider host and to plugins alike. */
export interface Provider {
  checkConfig(urn: string, olds: Properties, news: Properties): Promise<Checked>;
  diffConfig(urn: string, oldInputs: Properties, oldOutputs: Properties, inputs: Properties): Promise<Difference>;
  configure(identity: Identity, inputs: Properties): Promise<void>;
  check(urn: string, olds: Properties, news: Properties, preview: boolean): Promise<Checked>;
  diff(
    resource: Identity,
    olds: Sides,
    inputs: Properties,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference>;
  create(urn: string, inputs: Properties, timeout: number, preview: boolean): Promise<Outcome>;
  read(
    resource: Identity,
    olds: Sides,
    timeout: number,
  ): Promise<{ id: string; outputs: Properties; inputs: Properties | undefined }>;
  update(resource: Identity, olds: Sides, inputs: Properties, change: UpdateOptions): Promise<Properties>;
  delete(resource: Identity, olds: Sides, timeout: number): Promise<void>;
  /** Asks it to stop what it is doing. */
  cancel(): void;
  close(): Promise<void>;
}

export interface Sides {
  inputs: Properties;
  outputs: Properties;
}

export interface UpdateOptions {
  ignoreChanges: string[];
  timeout: number;
  preview: boolean;
}
