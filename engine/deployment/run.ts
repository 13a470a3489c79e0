import { ReportedError } from "../errors.ts";
import type { ChangeCounts, Emit, Op, RunKind } from "../events.ts";
import type { ProviderRegistry } from "../providers/registry.ts";
import { DependencyGraph } from "../state/dependencyGraph.ts";
import type { ResourceState } from "../state/resourceState.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Config } from "../workspace/config.ts";
import { Semaphore } from "./concurrency.ts";
import type { Step } from "./steps.ts";

type Place = "kind" | "preview" | "project" | "stack" | "snapshot" | "providers" | "packages";
type Settings = "config" | "emit" | "parallel";

/** State shared by the parts of one run: its settings, the checkpoint, the providers, and the sign to stop. */
export class Run {
  readonly kind: RunKind;
  readonly preview: boolean;
  readonly project: string;
  readonly stack: string;
  readonly config: Config;
  readonly snapshot: Snapshot;
  readonly providers: ProviderRegistry;
  /** The packages whose providers can be started. */
  readonly packages: ReadonlySet<string>;
  readonly slots: Semaphore;
  readonly emit: Emit;
  /** Gets each step as it is begun, where somebody wants more of it than an event has. */
  readonly taken: ((step: Step) => void) | undefined;
  /** Steps at a time. */
  readonly parallel: number;
  readonly counts: ChangeCounts = {};
  /** Resources that are compared before their plan is: what a provider in this process says of them meanwhile is dropped. */
  readonly unheard = new Set<string>();
  olds = new Map<string, ResourceState>();
  graph = new DependencyGraph([]);
  /** What an earlier run replaced and did not delete. */
  left: ReadonlySet<ResourceState> = new Set();
  /** Set when something failed: the command ends with status 1. */
  failed = false;
  /** Set when nothing new may begin. */
  aborted = false;
  /** Providers are being ended: calls that fail from now on fail because of that. */
  ending = false;
  readonly #onAbort: (() => void)[] = [];

  constructor(settings: Pick<Run, Place | Settings> & Partial<Pick<Run, "taken">>) {
    ({ kind: this.kind, preview: this.preview, project: this.project, stack: this.stack } = settings);
    ({ snapshot: this.snapshot, providers: this.providers, packages: this.packages } = settings);
    ({ config: this.config, emit: this.emit, parallel: this.parallel } = settings);
    this.taken = settings.taken;
    this.slots = new Semaphore(settings.parallel);
    this.rebase();
  }

  /** The resources of the state that the run started from; a refresh changes them. */
  get resources(): ResourceState[] {
    return this.snapshot.base.resources;
  }

  /** Indexes the old state again, after a refresh has changed it. */
  rebase(): void {
    this.olds = new Map(this.resources.filter((state) => !state.delete).map((state) => [state.urn, state]));
    this.graph = new DependencyGraph(this.resources);
    this.left = new Set(this.resources.filter((state) => state.delete));
  }

  count(op: Op): void {
    this.counts[op] = (this.counts[op] ?? 0) + 1;
  }

  /** Reports an error and marks the run as failed. It goes on unless it is aborted too. */
  fail(message: string, urn?: string): ReportedError {
    this.failed = true;
    if (!this.ending) this.emit({ type: "log", severity: "error", message, ...(urn === undefined ? {} : { urn }) });
    return new ReportedError(message);
  }

  warn(message: string, urn?: string): void {
    this.emit({ type: "log", severity: "warning", message, ...(urn === undefined ? {} : { urn }) });
  }

  /** Lets running steps end; no new ones begin. */
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#onAbort) listener();
  }

  onAbort(listener: () => void): void {
    if (this.aborted) listener();
    else this.#onAbort.push(listener);
  }
}
