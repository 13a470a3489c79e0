import { Told } from "../errors.ts";
import type { ChangeCounts, Emit, Op, RunKind } from "../events.ts";
import type { Registry } from "../providers/registry.ts";
import { Graph } from "../state/dependencyGraph.ts";
import type { ResourceState } from "../state/resourceState.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Config } from "../workspace/config.ts";
import { Slots } from "./concurrency.ts";

/** What the parts of one run share: the old state, the new one, the providers, and whether to go on. */
export class Run {
  readonly kind: RunKind;
  readonly preview: boolean;
  readonly project: string;
  readonly stack: string;
  readonly config: Config;
  readonly snapshot: Snapshot;
  readonly providers: Registry;
  /** The packages whose providers can be started. */
  readonly packages: ReadonlySet<string>;
  readonly slots: Slots;
  readonly emit: Emit;
  readonly showSecrets: boolean;
  readonly counts: ChangeCounts = {};
  olds = new Map<string, ResourceState>();
  graph = new Graph([]);
  /** Something failed: the run ends with status 1. */
  failed = false;
  /** Nothing new may begin. */
  aborted = false;
  readonly #onAbort: (() => void)[] = [];

  constructor(
    given: Pick<
      Run,
      | "kind"
      | "preview"
      | "project"
      | "stack"
      | "config"
      | "snapshot"
      | "providers"
      | "packages"
      | "emit"
      | "showSecrets"
    > & { parallel: number },
  ) {
    this.kind = given.kind;
    this.preview = given.preview;
    this.project = given.project;
    this.stack = given.stack;
    this.config = given.config;
    this.snapshot = given.snapshot;
    this.providers = given.providers;
    this.packages = given.packages;
    this.emit = given.emit;
    this.showSecrets = given.showSecrets;
    this.slots = new Slots(given.parallel);
    this.rebase();
  }

  /** The resources of the state that the run started from; a refresh changes them. */
  get resources(): ResourceState[] {
    return this.snapshot.base.resources;
  }

  /** Reads the old state anew, after a refresh has changed it. */
  rebase(): void {
    this.olds = new Map(this.resources.filter((state) => !state.delete).map((state) => [state.urn, state]));
    this.graph = new Graph(this.resources);
  }

  count(op: Op): void {
    this.counts[op] = (this.counts[op] ?? 0) + 1;
  }

  /** Tells an error; the run goes on unless it is aborted too. */
  fail(message: string, urn?: string): Told {
    this.failed = true;
    this.emit({ type: "log", severity: "error", message, ...(urn === undefined ? {} : { urn }) });
    return new Told(message);
  }

  warn(message: string, urn?: string): void {
    this.emit({ type: "log", severity: "warning", message, ...(urn === undefined ? {} : { urn }) });
  }

  /** What runs may end; nothing else begins. */
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const tell of this.#onAbort) tell();
  }

  onAbort(tell: () => void): void {
    if (this.aborted) tell();
    else this.#onAbort.push(tell);
  }
}
