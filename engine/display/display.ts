import type { Emit, EngineEvent, StepInfo } from "../events.ts";
import { createPaint, headline, type Paint } from "../terminal/colors.ts";
import { cutText } from "../terminal/columns.ts";
import { firstLine, oneLine, printable, printableJson, shortType } from "../terminal/text.ts";
import { type EventOf, Rows } from "./rows.ts";
import { diagnostics, duration, messageLines, outputs, resources } from "./summary.ts";
import { treeLines } from "./tree.ts";
import { heading, isLookUp, opWords } from "./words.ts";

export interface DisplayOptions {
  /** `events`: each event as one line of JSON, and nothing else; `summary`: one line for each run, as the Pulumi CLI has it. */
  form: "text" | "events" | "summary";
  /** Shows below each resource how its properties change. */
  diff: boolean;
  /** The output is a terminal, where a line tells what is running. */
  interactive: boolean;
  color: boolean;
  /** The headline of the first run is there already; default: false. */
  isHeaded?: boolean;
  write: (text: string) => void;
  /** Writes beside what a program reads; default: nowhere. */
  writeError?: (text: string) => void;
  /** Columns of the terminal. */
  width: () => number;
  /** The time in milliseconds; default: the clock. */
  now?: () => number;
}

export interface Display {
  emit: Emit;
  /** Prints what is known of a run that broke off. */
  close: () => void;
}

/** Prints the events of any number of runs, one after the other. */
export function createDisplay(options: DisplayOptions): Display {
  const { form, write, color, writeError = () => undefined } = options;
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
      else if (event.type === "log" && !event.ephemeral) {
        const message = { severity: event.severity, text: event.message, printed: event.printed };
        for (const line of messageLines(message, createPaint(color), color)) write(`${line}\n`);
      }
    },
    close: () => end(),
  };
}

/** One run from its start to its summary: its headline, what is running, and at the end the tree of what it did. */
class ShownRun {
  readonly #options: DisplayOptions;
  readonly #paint: Paint;
  readonly #rows: Rows;
  readonly #progress: Progress;

  constructor(start: EventOf<"start">, options: DisplayOptions) {
    this.#options = options;
    this.#paint = createPaint(options.color);
    this.#rows = new Rows(start, options.now ?? Date.now);
    if (!options.isHeaded) options.write(`${this.#paint(headline, heading(start.kind, start.preview, start.stack))}\n`);
    this.#progress = new Progress(this.#rows, options);
  }

  show(event: Exclude<EngineEvent, { type: "start" | "summary" }>): void {
    if (event.type === "log") {
      if (!this.#rows.hasSaid(event)) this.#rows.log(event);
    } else if ("op" in event && !event.internal && !isLookUp(event.op)) {
      if (event.type === "step") this.#rows.begin(event);
      else if (event.type === "stepDone") this.#rows.done(event, event.seconds);
      else this.#rows.fail(event);
    }
  }

  /** Without a summary the run was broken off. */
  end(summary?: EventOf<"summary">): void {
    this.#progress.stop();
    const [rows, paint] = [this.#rows, this.#paint];
    const { preview } = rows.run;
    const { color, interactive, width, diff, write } = this.#options;
    const columns = interactive ? width() - 1 : Infinity;
    const lines = [
      ...treeLines(rows, { paint, preview }, columns, diff),
      "",
      ...diagnostics(rows, paint, { color, width: columns }),
    ];
    if (summary) {
      lines.push(...outputs(rows, summary, { paint, preview }), ...resources(rows, summary, paint));
      lines.push(...duration(summary, paint), "");
      if (summary.plan !== undefined)
        lines.push(`plan ${summary.plan}`, "  (up --plan with this digest does just this, or nothing)", "");
    }
    write(lines.map((line) => `${line}\n`).join(""));
  }
}

const escape = String.fromCharCode(0x1b);
const eraseLine = `\r${escape}[K`;

/** Tells what is running: on a terminal by one line that is redrawn in place, elsewhere by a line now and then. */
class Progress {
  readonly #rows: Rows;
  readonly #options: DisplayOptions;
  readonly #timer: NodeJS.Timeout;
  #last = "";

  constructor(rows: Rows, options: DisplayOptions) {
    this.#rows = rows;
    this.#options = options;
    this.#timer = setInterval(() => this.#tell(), options.interactive ? 200 : 10_000);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#options.interactive && this.#last !== "") this.#options.write(eraseLine);
  }

  #tell(): void {
    const { interactive, write, width } = this.#options;
    const line = this.#line();
    if (line === this.#last) return;
    this.#last = line;
    // A terminal would break a line that is wider, and erase its last part alone.
    if (interactive) write(eraseLine + cutText(line, width() - 1, "end"));
    else if (line !== "") write(`${line}\n`);
  }

  /** What has been running for the longest time. */
  #line(): string {
    const running = this.#rows.all.filter(({ state, step }) => state === "running" && step.provider !== undefined);
    const [row] = running;
    if (!row) return "";
    const seconds = Math.floor((this.#rows.now - row.began) / 1000);
    const doing = opWords[row.step.op].doing || "comparing";
    const live = row.live === undefined ? "" : `: ${firstLine(row.live)}`;
    const more = running.length > 1 ? ` (and ${running.length - 1} more)` : "";
    return `  ${doing} ${shortType(row.step.resourceType)} ${oneLine(row.step.name)} (${seconds}s)${more}${live}`;
  }
}

const nanoseconds = 1_000_000_000;

/**
 * Prints one line for each run, in the form that the Pulumi CLI gives `--output json`: how it ended, for how many
 * nanoseconds it ran, how many steps there were of each kind, and each step but those that change nothing.
 * @param writeError gets warnings and errors
 */
function summaryEmitter(write: (text: string) => void, writeError: (text: string) => void): Emit {
  let steps: object[] = [];
  return (event) => {
    if (event.type === "start") steps = [];
    else if (event.type === "step" && event.op !== "same" && !event.internal) steps.push(stepOf(event));
    else if (event.type === "log" && event.severity !== "info" && !event.ephemeral) {
      writeError(`${event.severity}: ${printable(event.message.trimEnd(), false)}\n`);
    } else if (event.type === "summary") {
      const counts = Object.entries(event.changes).map(([op, count]) => [theirName(op), count] as const);
      const summary = Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
      write(
        `${printableJson({
          result: event.result,
          duration: Math.round(event.seconds * nanoseconds),
          ...(Object.keys(summary).length > 0 ? { summary } : {}),
          ...(steps.length > 0 ? { resources: steps } : {}),
        })}\n`,
      );
    }
  };
}

/** The CLI's name of a step. */
const theirName = (op: string): string => (op === "read-discard" ? "discard" : op);

const stepOf = ({ urn, resourceType: type, name, op, parent }: StepInfo): object => ({
  urn,
  type,
  name,
  op: theirName(op),
  ...(parent ? { parent } : {}),
});
