import { createRequire } from "node:module";
import type stringWidth from "string-width";
import type { Terminal } from "./prompts.ts";
import { isPipeline, withoutCommands, type Line, oneLine } from "./text.ts";

/** Characters of one column each: ASCII, and the lines of tables. */
const simple = /^[\x20-\x7e\u2500-\u257f]*$/;
let measure: typeof stringWidth | undefined;

/** Loads the library when the first other character comes: its tables take a tenth of a short command. */
const loaded = (): typeof stringWidth =>
  (measure ??= (createRequire(import.meta.url)("string-width") as { default: typeof stringWidth }).default);

/** Columns of a text on a terminal. */
export const widthOf = (text: string): number => (simple.test(text) ? text.length : loaded()(text));

const graphemes = new Intl.Segmenter();

export const padText = (text: string, cells: number): string => text + " ".repeat(Math.max(0, cells - widthOf(text)));

/** Breaks a line at blanks to fit a number of columns; a longer word stays whole. */
export function wrapLine(line: string, cells: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let last = "";
  for (const word of line.slice(indent.length).split(" ")) {
    const longer = last === "" ? indent + word : `${last} ${word}`;
    if (last === "" || widthOf(longer) <= cells) last = longer;
    else {
      lines.push(last);
      last = indent + word;
    }
  }
  return [...lines, last];
}

/** Cuts a line to a number of columns, between graphemes. */
export function clipLine(line: Line, cells: number): Line {
  let left = cells;
  const kept: Line = [];
  for (const segment of line) {
    let text = "";
    for (const { segment: grapheme } of graphemes.segment(segment.text)) {
      left -= widthOf(grapheme);
      if (left < 0) return [...kept, { ...segment, text }];
      text += grapheme;
    }
    kept.push({ ...segment, text });
  }
  return kept;
}

/** Cuts a text to a number of columns, and marks that by a dot at its start or end. */
export function cutText(text: string, cells: number, where: "start" | "end"): string {
  if (widthOf(text) <= cells) return text;
  let kept = Array.from(graphemes.segment(text), ({ segment }) => segment);
  while (widthOf(kept.join("")) >= cells) kept = where === "start" ? kept.slice(1) : kept.slice(0, -1);
  return where === "start" ? `…${kept.join("")}` : `${kept.join("")}…`;
}

/** Prints rows for people, each on one line. */
export function printTable({ output, environment }: Terminal, rows: readonly string[][]): void {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ""))));
  for (const row of cells) {
    const line = row.map((cell, column) => padText(cell, widths[column] ?? 0)).join("  ");
    output.write(`${isPipeline(environment) ? withoutCommands(line.trimEnd()) : line.trimEnd()}\n`);
  }
}
