import type { Emit, EngineEvent, StepInfo } from "../events.ts";
import { createPaint, headline } from "../terminal/colors.ts";
import { printableJson } from "../terminal/json.ts";
import { DisplayDetail } from "./detail.ts";
import { Log } from "./log.ts";
import { type EventOf, Rows } from "./rows.ts";
import { Screen } from "./screen.ts";
import { diagnostics, duration, messageLines, outputs, resources } from "./summary.ts";
import { summaryEmitter } from "./summaryJson.ts";
import { table } from "./tree.ts";
import { heading, isLookUp } from "./words.ts";

export interface DisplayOptions {
  /** `events`: each event as one line of JSON, and nothing else; `summary`: one line for each run, as the Pulumi CLI has it. */
  form: "text" | "events" | "summary";
  /** The detailed view in place of the table. */
  diff: boolean;
  /** The output is a terminal, where the table is redrawn in place. */
  interactive: boolean;
  color: boolean;
  /** The headline of the first run is there already; default: false. */
  isHeaded?: boolean;
  suppressOutputs: boolean;
  /** Leaves out live statuses and redrawing. */
  suppressProgress: boolean;
  write: (text: string) => void;
  /** Writes beside what a program reads; default: nowhere. */
  writeError?: (text: string) => void;
  /** Columns of the terminal. */
  width: () => number;
  /** Rows of the terminal; default: 24. A table that does not fit cannot be redrawn in place. */
  height?: () => number;
  /** The time in milliseconds; default: the clock. */
  now?: () => number;
}

export interface Display {
  emit: Emit;
  /** Ends the drawing and prints the messages of a run that broke off. */
  close: () => void;
}

/** Prints the events of any number of runs, one after the other. */
export function createDisplay(options: DisplayOptions): Display {
  const { form, write, writeError = () => undefined } = options;
  if (form === "events") return { emit: (event) => write(`${printableJson(event)}\n`), close: () => undefined };
  if (form === "summary") return { emit: summaryEmitter(write, writeError), close: () => undefined };
  let run: ShownRun | undefined;
  let { isHeaded = false } = options;
  const end = (summary?: EventOf<"summary">): void => {
    run?.end(summary);
    run = undefined;
  };
  return {
    emit: (event) => {
      if (event.type === "start") {
        end();
        run = new ShownRun(event, { ...options, isHeaded });
        isHeaded = false;
      } else if (event.type === "summary") end(event);
      else if (run) run.show(event);
      else if (event.type === "log") showOutsideRun(event, options);
    },
    close: () => end(),
  };
}

/** Prints a message from before or after a run. */
function showOutsideRun(event: EventOf<"log">, { write, color }: DisplayOptions): void {
  if (event.ephemeral) return;
  const message = { severity: event.severity, text: event.message, printed: event.printed };
  for (const line of messageLines(message, createPaint(color), color)) write(`${line}\n`);
}

/** Makes the message of a read, which gets no row of its own: the stack's row shows it. */
const readMessage = ({ resourceType, name }: StepInfo): EventOf<"log"> => ({
  type: "log",
  severity: "info",
  message: `read ${resourceType} ${name}`,
  ephemeral: true,
});

/** One run from its start to its summary. */
class ShownRun {
  readonly #options: DisplayOptions;
  readonly #paint;
  readonly #rows: Rows;
  readonly #screen: Screen | undefined;
  readonly #log: Log | undefined;
  readonly #detail: DisplayDetail | undefined;

  constructor(start: EventOf<"start">, options: DisplayOptions) {
    const { write, width, height = () => 24, now = Date.now } = options;
    this.#options = options;
    const paint = createPaint(options.color);
    this.#paint = paint;
    const rows = new Rows(start, now);
    this.#rows = rows;
    if (!options.isHeaded) write(`${paint(headline, heading(start.kind, start.preview, start.stack))}\n`);
    if (options.diff) {
      this.#detail = new DisplayDetail(rows, write, { paint, preview: start.preview });
    } else if (options.interactive) {
      this.#screen = new Screen({ write, width, height, now, paint, lines: () => table(rows, width()) });
      if (!options.suppressProgress) this.#screen.update();
    } else {
      write("\n");
      this.#log = new Log(rows, write, paint);
    }
  }

  show(event: Exclude<EngineEvent, { type: "start" | "summary" }>): void {
    const { suppressProgress } = this.#options;
    if ("op" in event && isLookUp(event.op)) {
      if (event.op === "read" && event.type === "step") this.show(readMessage(event));
      return;
    }
    switch (event.type) {
      case "step": {
        if (event.internal) return;
        const row = this.#rows.begin(event);
        this.#log?.begun(row);
        break;
      }
      case "stepDone": {
        if (event.internal) return;
        const row = this.#rows.done(event, event.seconds);
        this.#log?.done(row);
        break;
      }
      case "stepFailed": {
        if (event.internal) return;
        const row = this.#rows.fail(event);
        this.#log?.failed(row);
        break;
      }
      case "log": {
        if (this.#rows.hasSaid(event)) break;
        const row = this.#rows.log(event);
        const { severity, message, printed } = event;
        if (!event.ephemeral) this.#log?.message(row, { severity, text: message, printed });
        else if (!suppressProgress) this.#log?.live(row);
        break;
      }
      case "outputs":
        // Those of the stack come with the summary; those of components are not shown by Pulumi either.
        return;
    }
    this.#detail?.show(event);
    if (!suppressProgress) this.#screen?.update();
  }

  /** Without a summary the run was broken off. */
  end(summary?: EventOf<"summary">): void {
    this.#rows.finished = true;
    this.#screen?.finish();
    this.#log?.finish();
    if (this.#screen) this.#lines([""]);
    const paint = this.#paint;
    const { color, interactive, width } = this.#options;
    this.#lines(diagnostics(this.#rows, paint, { color, width: interactive ? width() - 1 : Infinity }));
    if (!summary) return;
    if (!this.#options.suppressOutputs) {
      const title = this.#options.diff ? "    --outputs:--" : paint(headline, "Outputs:");
      const lines = outputs(this.#rows, summary, title, { paint, preview: summary.preview });
      this.#lines(lines.length > 0 && !this.#options.diff ? [...lines, ""] : lines);
    }
    this.#lines([...resources(this.#rows, summary, paint), ...duration(summary, paint), ""]);
  }

  #lines(lines: string[]): void {
    if (lines.length > 0) this.#options.write(lines.map((line) => `${line}\n`).join(""));
  }
}
