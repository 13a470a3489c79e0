import type { Paint } from "../terminal/colors.ts";
import { clipLine } from "../terminal/columns.ts";
import { type Line, paintLine, toPlainText } from "../terminal/text.ts";
import { widthOf } from "../terminal/width.ts";

export interface ScreenOptions {
  write: (text: string) => void;
  width: () => number;
  height: () => number;
  now: () => number;
  paint: Paint;
  /** The lines to show now. */
  lines: () => Line[];
}

const escape = String.fromCharCode(0x1b);
const toEndOfLine = `${escape}[K`;
const toEndOfScreen = `${escape}[J`;
const up = (rows: number): string => (rows > 0 ? `\r${escape}[${rows}A` : "\r");
// The terminal cuts a row that is wider than expected. If it wrapped it, the count of rows would be wrong.
const noWrap = `${escape}[?7l`;
const wrap = `${escape}[?7h`;
const frameMs = 100;
const tickMs = 1000;

/** Redraws lines in place, at most ten times a second and, for the clock in them, at least once. */
export class Screen {
  readonly #options: ScreenOptions;
  /** The columns that each line of the last frame takes; the cursor stands below it. */
  #shown: number[] = [];
  #width = 0;
  #drawn = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  update(): void {
    const wait = this.#drawn + frameMs - this.#options.now();
    if (wait <= 0) this.#draw();
    else this.#schedule(wait);
  }

  /** Replaces the last frame with all lines and leaves the cursor below. */
  finish(): void {
    this.stop();
    const { write, width, lines } = this.#options;
    this.#frame(write, width(), lines());
    this.#shown = [];
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(wait: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#draw(), wait);
    this.#timer.unref();
  }

  #draw(): void {
    const { write, width, height, now, lines } = this.#options;
    this.#drawn = now();
    this.#frame(write, width(), fitted(lines(), height()));
    this.#schedule(tickMs);
  }

  #frame(write: (text: string) => void, width: number, lines: Line[]): void {
    const cut = lines.map((line) => clipLine(line, Math.max(1, width - 1)));
    const text = cut.map((line) => `${paintLine(line, this.#options.paint)}${toEndOfLine}\n`).join("");
    write(`${noWrap}${up(this.#above(width))}${text}${toEndOfScreen}${wrap}`);
    this.#shown = cut.map((line) => widthOf(toPlainText(line).trimEnd()));
    this.#width = width;
  }

  /** Counts the rows of the last frame: a terminal that became narrower has wrapped its lines. */
  #above(width: number): number {
    if (width >= this.#width) return this.#shown.length;
    return this.#shown.reduce((rows, cells) => rows + Math.max(1, Math.ceil(cells / width)), 0);
  }
}

/** Shortens a table to its head and its newest rows: the cursor cannot go up beyond the top of the screen. */
function fitted(lines: Line[], height: number): Line[] {
  const room = Math.max(3, height - 1);
  const [head, ...body] = lines;
  if (head === undefined || lines.length <= room) return lines;
  const kept = room - 2;
  return [head, [{ text: `     … ${body.length - kept} more` }], ...body.slice(-kept)];
}
