import type { EngineEvent, Severity, StepInfo } from "../events.ts";
import { isStackUrn, makeUrn, nameOf, stackType, typeOf } from "../values/urns.ts";

export type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

export interface Message {
  severity: Severity;
  text: string;
  printed?: "stdout" | "stderr" | undefined;
}

/** Everything a run has reported of one resource. */
export interface ResourceRow {
  /** What is known of its steps; that of a component may end without an event. */
  step: StepInfo;
  /** True if this run makes another one in its place. */
  isReplaced: boolean;
  state: "idle" | "running" | "done" | "failed";
  /** Milliseconds. */
  began: number;
  seconds: number;
  /** The last status, which the next one replaces. */
  live?: string | undefined;
  messages: Message[];
}

export const messagesOf = (row: ResourceRow, severity: Severity): Message[] =>
  row.messages.filter((message) => message.severity === severity);

/** The rows of one run, in the order of their first events. The stack always has one. */
export class Rows {
  readonly stack: ResourceRow;
  readonly #byUrn = new Map<string, ResourceRow>();
  readonly #now: () => number;
  readonly run: EventOf<"start">;
  /** Set when a step failed: the steps of a replacement are then shown one by one. */
  failed = false;

  constructor(run: EventOf<"start">, now: () => number) {
    this.run = run;
    this.#now = now;
    this.stack = this.row(makeUrn(run.stack, run.project, "", stackType, `${run.project}-${run.stack}`));
  }

  get all(): ResourceRow[] {
    return [...this.#byUrn.values()];
  }

  get now(): number {
    return this.#now();
  }

  /** Finds or makes the row of a resource; default: the stack. */
  row(urn: string | undefined): ResourceRow {
    if (urn === undefined || urn === "") return this.stack;
    const known = this.#byUrn.get(urn);
    if (known) return known;
    const row: ResourceRow = {
      step: { op: "same", urn, resourceType: typeOf(urn), name: nameOf(urn) },
      ...{ isReplaced: false, state: "idle", began: this.now, seconds: 0, messages: [] },
    };
    this.#byUrn.set(urn, row);
    return row;
  }

  /** Finds the row of the parent. It exists from the first child on, since children are deleted before their parents. */
  parentOf(row: ResourceRow): ResourceRow | undefined {
    return isStackUrn(row.step.urn) ? undefined : (this.#byUrn.get(row.step.parent ?? "") ?? this.stack);
  }

  begin(step: StepInfo): void {
    const row = this.#updated(step);
    row.state = "running";
    row.began = this.now;
    row.live = undefined;
  }

  done(step: StepInfo, seconds: number): void {
    const row = this.#updated(step);
    row.state = "done";
    row.seconds = seconds;
  }

  fail(step: StepInfo): void {
    const row = this.#updated(step);
    row.state = "failed";
    this.failed = true;
  }

  /** True if a provider repeats the size that the line of a deletion has already. */
  hasSaid({ urn, message }: EventOf<"log">): boolean {
    const size = urn === undefined ? undefined : this.#byUrn.get(urn)?.step.size;
    return size !== undefined && message.endsWith(` ${size}`);
  }

  log(event: EventOf<"log">): void {
    const row = this.row(event.urn);
    if (event.ephemeral) row.live = event.message;
    else row.messages.push({ severity: event.severity, text: event.message, printed: event.printed });
  }

  #updated(step: StepInfo): ResourceRow {
    if (step.parent) this.row(step.parent);
    const row = this.row(step.urn);
    // The last step of a replacement has no changes of its own: those of the first explain it.
    row.step = { ...row.step, ...step };
    row.isReplaced ||= step.op.endsWith("replacement") || step.op === "replace";
    return row;
  }
}
