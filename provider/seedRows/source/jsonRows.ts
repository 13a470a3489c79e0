import type * as Jsonc from "jsonc-parser";
import { BoundError, checkJsonBounds } from "../../../machine/settings/bounds.ts";
import { isObject, jsonIn } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { isRounded, rounded, findRounded } from "./exactNumbers.ts";
import { mayHold, nameless, noName } from "./nameless.ts";
import { unread, type Reading, type SourceRow, type Wrong } from "./source.ts";
import { linesOf, settled, type Chunks } from "./textFiles.ts";

// Loaded when it is needed: most sources are not JSON, or nothing is wrong with them.
const jsonc = (): Promise<typeof Jsonc> => import("jsonc-parser");

/** The rows of a file with one JSON object on each line. */
export async function* ndjsonRows({ source, wrong, takes }: Reading, chunks: Chunks): AsyncGenerator<SourceRow[]> {
  let before = 0;
  for await (const { first, text } of linesOf(chunks)) {
    const rows: SourceRow[] = [];
    for (const [index, words] of settled(text, first).split("\n").entries()) {
      if (words.trim() === "") continue;
      const line = first + index;
      if (takes?.(before + rows.length) === false) {
        rows.push(unread);
        continue;
      }
      if (tooDeepAt(words) !== undefined) {
        wrong({ line, text: nested });
        continue;
      }
      const values = jsonIn(words);
      if (values === undefined || mayRepeat(words, values) || mayHold(words)) {
        const [mistake] = scanned(await jsonc(), words, source.sensitive).mistakes;
        if (mistake) {
          wrong({ ...mistake, line });
          continue;
        }
      }
      if (findRounded(words)) wrong({ line, text: `a number ${rounded}` });
      else rows.push(...rowOf(line, values, wrong));
    }
    before += rows.length;
    yield rows;
  }
}

/** The rows of a JSON list. */
export async function jsonRows({ source, wrong, refuse }: Reading, text: string): Promise<SourceRow[]> {
  if (text.trim() === "") return [];
  const deep = tooDeepAt(text);
  if (deep !== undefined) refuse(1, nested, 1);
  const { mistakes, lines } = scanned(await jsonc(), text, source.sensitive);
  const [mistake] = mistakes;
  if (mistake) refuse(mistake.line, mistake.text, mistake.column);
  const items = jsonIn(text);
  if (!Array.isArray(items)) refuse(1, "must be a list of rows: begin it with [ and end it with ]");
  return (items as unknown[]).flatMap((values, index) => rowOf(lines[index] ?? 1, values, wrong));
}

/** Bounds of rows in JSON; how many there may be is bounded by the size of the file. */
export const ofJsonRows = { levels: 100, values: Infinity };
const nested = "is nested too deeply: make it flatter";

/** Where a text becomes too deep, before anything is made of it; undefined where it does not. */
function tooDeepAt(text: string): number | undefined {
  try {
    checkJsonBounds(text, ofJsonRows);
    return undefined;
  } catch (error) {
    if (error instanceof BoundError) return error.offset;
    throw error;
  }
}

/** The row of a value, or none. */
export function rowOf(line: number, values: unknown, wrong: Wrong): SourceRow[] {
  if (isObject(values)) return [{ line, values }];
  wrong({ line, text: "must be a row, with values by label" });
  return [];
}

/**
 * True when a label may stand twice in one object: the text has more colons behind quotation marks than the value has
 * labels.
 */
const mayRepeat = (text: string, value: unknown): boolean => (text.match(/"\s*:/g)?.length ?? 0) > labelsIn(value);

function labelsIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const values = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce<number>((sum, one) => sum + labelsIn(one), own);
}

interface Place {
  line: number;
  column: number;
  text: string;
}

/** Mistakes of a JSON text, by place, and the line on which each item of its list begins. */
interface Scan {
  mistakes: Place[];
  lines: number[];
}

/** Looks through a JSON text. Of it nothing is quoted but labels, and not even these of secret rows. */
function scanned({ visit }: typeof Jsonc, text: string, sensitive = false): Scan {
  const mistakes: Place[] = [];
  const lines: number[] = [];
  const report = (line: number, character: number, text: string): void => {
    mistakes.push({ line: line + 1, column: character + 1, text });
  };
  /** Labels of the objects that are open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  const item = (line: number): void => {
    if (open.length === 1) lines.push(line + 1);
  };
  const visitor: Jsonc.JSONVisitor = {
    onError: (code, _offset, _length, line, character) =>
      report(line, character, `is not valid JSON: ${reasons[code] ?? "correct it"}`),
    onObjectBegin: (_offset, _length, line) => {
      item(line);
      open.push(new Set());
    },
    onArrayBegin: (_offset, _length, line) => {
      item(line);
      open.push(undefined);
    },
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
    onObjectProperty: (label, _offset, _length, line, character) => {
      const labels = open.at(-1);
      const which = sensitive ? "this label" : `the label ${quote(label)}`;
      if (labels?.has(label)) report(line, character, `${which} stands twice in one object: remove one`);
      if (label === nameless) report(line, character, noName);
      labels?.add(label);
    },
    onLiteralValue: (value: unknown, offset, length, line, character) => {
      item(line);
      if (typeof value === "number" && isRounded(text.slice(offset, offset + length), value))
        report(line, character, `a number ${rounded}`);
    },
  };
  try {
    visit(text, visitor, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report(0, 0, nested);
  }
  // Mistakes that only a JSON parser finds.
  if (mistakes.length === 0 && jsonIn(text) === undefined) report(0, 0, "is not valid JSON: correct it");
  return { mistakes, lines };
}

/** By jsonc-parser's codes of errors. */
const reasons: Readonly<Record<number, string>> = {
  1: "what stands here is no value: put text into double quotes",
  2: "the number here is wrong: write it as 12 or -1.5",
  3: "a label in double quotes is missing here, or the comma before it is one too many",
  4: "a value is missing here, or the comma before it is one too many",
  5: "a colon is missing here",
  6: "a comma is missing here",
  7: "a } is missing here",
  8: "a ] is missing here",
  9: "the list has ended before this: remove what follows",
  10: "it has no comments: remove this one",
  11: "it has no comments: remove this one",
  12: "the text that begins here has no closing quotation mark",
  13: "the number here is wrong: write it as 12 or -1.5",
  14: "\\u is followed by four digits or letters from a to f",
  15: 'a backslash stands before " \\ / b f n r t or u: double it',
  16: "a text holds a line break or another control character: write it as \\n or \\t",
};
