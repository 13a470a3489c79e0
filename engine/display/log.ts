import type { Paint } from "../terminal/colors.ts";
import { firstLine, type Line, oneLine, paintLine, toPlainText } from "../terminal/text.ts";
import { isStackUrn } from "../values/urns.ts";
import { diffInfo, info, messageLine, toShownOp, status } from "./cells.ts";
import type { Message, ResourceRow, Rows } from "./rows.ts";
import { logLine } from "./tree.ts";

const throttleMs = 1000;

/** True if a message is a resource's own progress: not printed by a program, and not of the stack. */
const isOwnInfo = (row: ResourceRow, { severity, printed }: Message): boolean =>
  severity === "info" && !printed && !isStackUrn(row.urn);

/** Prints progress as lines that stay, for files, pipes and continuous integration. */
export class Log {
  readonly #rows: Rows;
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  /** The last line of each resource, which is not printed twice. */
  readonly #lastLines = new Map<string, string>();
  /** Printed errors by text: when one failure hits many resources, only the first prints it. */
  readonly #reported = new Map<string, string>();
  /** Messages of resources that have no line yet. */
  #held: { row: ResourceRow; message: Message }[] = [];
  readonly #lives = new Map<string, { at: number; timer?: NodeJS.Timeout | undefined }>();

  constructor(rows: Rows, write: (text: string) => void, paint: Paint) {
    this.#rows = rows;
    this.#write = write;
    this.#paint = paint;
  }

  begun(row: ResourceRow): void {
    if (row.op !== "same") this.#writeRow(row);
    const held = this.#held.filter((one) => one.row === row);
    this.#held = this.#held.filter((one) => one.row !== row);
    for (const { message } of held) this.#writeMessage(row, message);
  }

  done(row: ResourceRow): void {
    this.#stopLive(row);
    // The stack is done only with the run.
    if (isStackUrn(row.urn) || toShownOp(this.#rows, row, false) === "same") return;
    // A preview prints its plan when a step begins; a refresh knows only now what it found.
    this.#writeRow(row);
  }

  failed(row: ResourceRow): void {
    this.#stopLive(row);
    this.#writeRow(row);
  }

  message(row: ResourceRow, message: Message): void {
    if (firstLine(message.text) === "") return;
    // Messages from before the line of a resource are printed after it.
    if (isOwnInfo(row, message) && row.state !== "running") this.#held.push({ row, message });
    else this.#writeMessage(row, message);
  }

  #writeMessage(row: ResourceRow, message: Message): void {
    if (message.severity === "error" && !message.printed) {
      const first = this.#reported.get(message.text);
      if (first !== undefined && first !== row.urn) return;
      this.#reported.set(message.text, row.urn);
    }
    this.#writeLine(logLine(this.#rows, row, messageLine(message.severity, message.text)));
    // A message printed here in full is not repeated under Diagnostics.
    const index = row.messages.findIndex(({ severity, text }) => severity === "info" && text === message.text);
    if (isOwnInfo(row, message) && index >= 0 && !message.text.includes("\n")) row.messages.splice(index, 1);
  }

  /** Prints the first status at once, and of those within the next second only the last. */
  live(row: ResourceRow): void {
    const last = this.#lives.get(row.urn);
    if (last?.timer) return;
    const wait = (last?.at ?? -Infinity) + throttleMs - this.#rows.now;
    if (wait <= 0) {
      this.#writeLive(row);
      return;
    }
    const timer = setTimeout(() => this.#writeLive(row), wait);
    timer.unref();
    this.#lives.set(row.urn, { at: last?.at ?? -Infinity, timer });
  }

  /** Prints the stack, and what was still in progress when the run ended. */
  finish(): void {
    this.stop();
    for (const row of this.#rows.all) {
      if (isStackUrn(row.urn) || row.state === "running") this.#writeRow(row);
    }
  }

  stop(): void {
    for (const { timer } of this.#lives.values()) clearTimeout(timer);
    this.#lives.clear();
  }

  #writeLive(row: ResourceRow): void {
    this.#lives.set(row.urn, { at: this.#rows.now });
    if (row.live === undefined || firstLine(row.live) === "") return;
    const { text, style } = status(this.#rows, row, false);
    const words = [oneLine(row.type), oneLine(row.name)].join(" ");
    const doing = text === "" ? [] : [{ text: " " }, { text, style }];
    this.#writeLine([{ text: ` @  ${words}` }, ...doing, { text: ` ${firstLine(row.live)}` }]);
  }

  #writeRow(row: ResourceRow): void {
    const line = logLine(this.#rows, row, this.#rows.finished ? info(this.#rows, row) : diffInfo(row));
    const text = toPlainText(line);
    if (this.#lastLines.get(row.urn) === text) return;
    this.#lastLines.set(row.urn, text);
    this.#writeLine(line);
  }

  #writeLine(line: Line): void {
    this.#write(`${paintLine(line, this.#paint)}\n`);
  }

  /** Drops the pending status of a resource that is done. */
  #stopLive(row: ResourceRow): void {
    clearTimeout(this.#lives.get(row.urn)?.timer);
    this.#lives.delete(row.urn);
  }
}
