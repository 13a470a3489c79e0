/** The effect of a step on a resource, in Pulumi's words. */
export type Op =
  | "same"
  | "create"
  | "update"
  | "delete"
  | "replace"
  | "create-replacement"
  | "delete-replaced"
  | "refresh"
  | "read"
  | "read-replacement"
  | "read-discard"
  | "discard-replaced"
  | "remove-pending-replace";

export type Severity = "info" | "warning" | "error";

/** One property that differs; values are plain JSON with `[secret]` and `[unknown]` in place of such values. */
export interface PropertyChange {
  path: string;
  kind: "add" | "delete" | "update";
  old?: unknown;
  new?: unknown;
  /** Set when this change forces the replacement. */
  replaces?: true;
}

/** What becomes of the contents of a resource that is deleted. */
export interface Departure {
  /** In words: `2 rows`. */
  size: string;
  /** How many stay for other resources, by their kinds and names. */
  kept: Readonly<Record<string, number>>;
  /** How many go. */
  gone: number;
}

/** A step on one resource. */
export interface StepInfo {
  op: Op;
  urn: string;
  resourceType: string;
  name: string;
  id?: string;
  parent?: string;
  provider?: string;
  /** The properties that change, with their old and new values. */
  changes?: PropertyChange[];
  /** Inputs of what is created, outputs of what is deleted. */
  properties?: Record<string, unknown>;
  /** Contents that go when the resource is deleted, as its state records them: `24 rows`. */
  size?: string;
  /** What becomes of these, where its provider knows more than the state. */
  departure?: Departure;
  /** Marks a step of the engine's own, which is not shown or counted. */
  internal?: true;
}

/** Steps by operation, counted as in Pulumi's summary. */
export type ChangeCounts = Partial<Record<Op, number>>;

/**
 * An event of a run, which `--json` prints as one line. The order is: one `start`; any number of `step`, `stepDone`,
 * `stepFailed`, `outputs` and `log`; one `summary`.
 */
export type EngineEvent =
  | {
      type: "start";
      kind: RunKind;
      preview: boolean;
      project: string;
      stack: string;
      /** The configuration in effect; secret values as `[secret]`. */
      config: Record<string, string>;
    }
  | ({ type: "step"; preview: boolean } & StepInfo)
  /** `refreshed`: what a refresh found; `changes` then differ from the state. */
  | ({ type: "stepDone"; preview: boolean; seconds: number; refreshed?: "same" | "update" | "delete" } & StepInfo)
  | ({ type: "stepFailed"; preview: boolean } & StepInfo)
  /** Outputs that a component or the stack registered. */
  | { type: "outputs"; urn: string; outputs: Record<string, unknown>; changes: PropertyChange[]; preview: boolean }
  | {
      type: "log";
      severity: Severity;
      message: string;
      /** The resource it is about; absent for the run as a whole. */
      urn?: string;
      /** Marks a status that the next one replaces. */
      ephemeral?: true;
      /** The stream of a line that the program or a provider printed; absent for messages. */
      printed?: "stdout" | "stderr";
    }
  | {
      type: "summary";
      kind: RunKind;
      preview: boolean;
      result: "succeeded" | "failed";
      changes: ChangeCounts;
      /** Stack outputs, and how they differ from those of the last run. */
      outputs: Record<string, unknown>;
      outputChanges: PropertyChange[];
      seconds: number;
      /** The digest of all that decides a previewed update. */
      plan?: string;
    };

export type LogEvent = Extract<EngineEvent, { type: "log" }>;

export type RunKind = "update" | "refresh" | "destroy";
export type Emit = (event: EngineEvent) => void;
