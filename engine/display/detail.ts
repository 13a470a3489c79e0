import type { EngineEvent, StepInfo } from "../events.ts";
import { depthOf, isDetailed, isShownWhenDone, stepLines } from "./diff.ts";
import type { Print } from "./properties.ts";
import type { Rows } from "./rows.ts";

/** The detailed view of `--diff`: shows each changed resource once, as soon as its changes are known. */
export class DisplayDetail {
  readonly #rows: Rows;
  readonly #write: (text: string) => void;
  readonly #print: Print;
  readonly #shown = new Set<string>();
  readonly #refreshing = new Set<string>();

  constructor(rows: Rows, write: (text: string) => void, print: Print) {
    this.#rows = rows;
    this.#write = write;
    this.#print = print;
  }

  show(event: EngineEvent): void {
    if (event.type === "step") {
      if (isShownWhenDone(event.op)) this.#refreshing.add(event.urn);
      else this.#writeStep(event);
    } else if (event.type === "stepDone" && this.#refreshing.delete(event.urn)) {
      if (event.op !== "refresh" || (event.changes ?? []).length > 0) this.#writeStep(event);
    }
  }

  #writeStep(step: StepInfo): void {
    if (!isDetailed(step)) return;
    const lines = stepLines(step, depthOf(this.#rows, step.urn, this.#shown), this.#print);
    this.#shown.add(step.urn);
    this.#write(lines.map((line) => `${line}\n`).join(""));
  }
}
