import type { Paint } from "../terminal/colors.ts";
import { firstLine, type Line, oneLine, painted, plain } from "../terminal/text.ts";
import { isStackUrn } from "../values/urns.ts";
import { diffInfo, info, messageLine, shownOp, status } from "./cells.ts";
import type { Message, Row, Rows } from "./rows.ts";
import { logLine } from "./tree.ts";

const pause = 1000;

/** Whether a resource tells how it goes, which is neither printed by a program nor of the stack. */
const isOwnInfo = (row: Row, { severity, printed }: Message): boolean =>
  severity === "info" && !printed && !isStackUrn(row.urn);

/** Progress as lines that are never taken back, for files, pipes and continuous integration. */
export class Log {
  readonly #rows: Rows;
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  /** The last line of each resource, which is not said twice. */
  readonly #said = new Map<string, string>();
  /** Errors that were said: of the many resources that one failure meets, the first tells it. */
  readonly #errors = new Map<string, string>();
  /** What resources told that have no line yet. */
  #held: { row: Row; message: Message }[] = [];
  readonly #lives = new Map<string, { at: number; timer?: NodeJS.Timeout | undefined }>();

  constructor(rows: Rows, write: (text: string) => void, paint: Paint) {
    this.#rows = rows;
    this.#write = write;
    this.#paint = paint;
  }

  begun(row: Row): void {
    if (row.op !== "same") this.#row(row);
    const held = this.#held.filter((one) => one.row === row);
    this.#held = this.#held.filter((one) => one.row !== row);
    for (const { message } of held) this.#tell(row, message);
  }

  done(row: Row): void {
    this.#forget(row);
    // The stack is done only with the run.
    if (isStackUrn(row.urn) || shownOp(this.#rows, row, false) === "same") return;
    // In a preview the plan was told when the step began, but for a refresh, which only now knows what it found.
    this.#row(row);
  }

  failed(row: Row): void {
    this.#forget(row);
    this.#row(row);
  }

  message(row: Row, message: Message): void {
    if (firstLine(message.text) === "") return;
    // What a resource tells before its line stands after it.
    if (isOwnInfo(row, message) && row.state !== "running") this.#held.push({ row, message });
    else this.#tell(row, message);
  }

  #tell(row: Row, message: Message): void {
    if (message.severity === "error" && !message.printed) {
      const first = this.#errors.get(message.text);
      if (first !== undefined && first !== row.urn) return;
      this.#errors.set(message.text, row.urn);
    }
    this.#line(logLine(this.#rows, row, messageLine(message.severity, message.text)));
    // What stands here as a whole is not said once more under Diagnostics.
    const said = row.messages.findIndex(({ severity, text }) => severity === "info" && text === message.text);
    if (isOwnInfo(row, message) && said >= 0 && !message.text.includes("\n")) row.messages.splice(said, 1);
  }

  /** The first status at once, of those within a second after it only the last. */
  live(row: Row): void {
    const last = this.#lives.get(row.urn);
    if (last?.timer) return;
    const wait = (last?.at ?? -Infinity) + pause - this.#rows.now;
    if (wait <= 0) {
      this.#live(row);
      return;
    }
    const timer = setTimeout(() => this.#live(row), wait);
    timer.unref();
    this.#lives.set(row.urn, { at: last?.at ?? -Infinity, timer });
  }

  /** The stack, and what was still going on when the run ended. */
  finish(): void {
    this.stop();
    for (const row of this.#rows.all) {
      if (isStackUrn(row.urn) || row.state === "running") this.#row(row);
    }
  }

  stop(): void {
    for (const { timer } of this.#lives.values()) clearTimeout(timer);
    this.#lives.clear();
  }

  #live(row: Row): void {
    this.#lives.set(row.urn, { at: this.#rows.now });
    if (row.live === undefined || firstLine(row.live) === "") return;
    const { text, style } = status(this.#rows, row, false);
    const words = [oneLine(row.type), oneLine(row.name)].join(" ");
    const doing = text === "" ? [] : [{ text: " " }, { text, style }];
    this.#line([{ text: ` @  ${words}` }, ...doing, { text: ` ${firstLine(row.live)}` }]);
  }

  #row(row: Row): void {
    const line = logLine(this.#rows, row, this.#rows.finished ? info(this.#rows, row) : diffInfo(row));
    const text = plain(line);
    if (this.#said.get(row.urn) === text) return;
    this.#said.set(row.urn, text);
    this.#line(line);
  }

  #line(line: Line): void {
    this.#write(`${painted(line, this.#paint)}\n`);
  }

  /** What is done has no status to tell any more. */
  #forget(row: Row): void {
    clearTimeout(this.#lives.get(row.urn)?.timer);
    this.#lives.delete(row.urn);
  }
}
