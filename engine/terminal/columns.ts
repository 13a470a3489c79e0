import { createRequire } from "node:module";
import { stripVTControlCharacters } from "node:util";
import type stringWidth from "string-width";
import type { Terminal } from "./prompts.ts";
import { oneLine, writeOn } from "./text.ts";

/** Characters of one column each: ASCII, and the lines of tables. */
const simple = /^[\x20-\x7e\u2500-\u257f]*$/;
let measure: typeof stringWidth | undefined;
let parts: Intl.Segmenter | undefined;

/** Loads the library when the first other character comes: its tables take a tenth of a short command. */
const loaded = (): typeof stringWidth =>
  (measure ??= (createRequire(import.meta.url)("string-width") as { default: typeof stringWidth }).default);

/** Columns of a text on a terminal, whatever its colours. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  return simple.test(plain) ? plain.length : loaded()(plain);
}

/** The characters of a text as people see them; what tells them apart takes as long to load. */
const graphemesOf = (text: string): string[] =>
  simple.test(text) ? text.split("") : Array.from((parts ??= new Intl.Segmenter()).segment(text), (one) => one.segment);

export const padText = (text: string, cells: number): string => text + " ".repeat(Math.max(0, cells - widthOf(text)));

/** Breaks a line at blanks to fit a number of columns; a longer word stays whole. */
export function wrapLine(line: string, cells: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const lines = [""];
  for (const word of line.slice(indent.length).split(" ")) {
    const last = lines.at(-1) ?? "";
    const longer = last === "" ? indent + word : `${last} ${word}`;
    if (last !== "" && widthOf(longer) > cells) lines.push(indent + word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Cuts a text to a number of columns, and marks that by a dot at its start or end. */
export function cutText(text: string, cells: number, where: "start" | "end"): string {
  if (widthOf(text) <= cells) return text;
  let kept = graphemesOf(text);
  while (widthOf(kept.join("")) >= cells) kept = where === "start" ? kept.slice(1) : kept.slice(0, -1);
  return where === "start" ? `…${kept.join("")}` : `${kept.join("")}…`;
}

/** Prints rows for people, each on one line. */
export function printTable({ output, environment }: Terminal, rows: readonly string[][]): void {
  const cells = rows.map((row) => row.map(oneLine));
  const write = writeOn(output, environment);
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ""))));
  for (const row of cells) {
    const line = row.map((cell, column) => padText(cell, widths[column] ?? 0)).join("  ");
    write(`${line.trimEnd()}\n`);
  }
}
