import type * as Jsonc from "jsonc-parser";
import type * as Yaml from "yaml";
import { parseBounded } from "../../../machine/bounded.ts";
import { BoundError, checkJsonBounds } from "../../../machine/bounds.ts";
import { isObject, jsonIn } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { explainMisnamed } from "../../layers/document.ts";
import {
  isRounded,
  rounded,
  findRounded,
  mayHold,
  nameless,
  noName,
  unread,
  isHidden,
  type Reading,
  type SourceRow,
  type Wrong,
  linesOf,
  settled,
  type Chunks,
} from "./source.ts";

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
function rowOf(line: number, values: unknown, wrong: Wrong): SourceRow[] {
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
      if (labels?.has(label)) report(line, character, `${which} appears twice in one object: remove one`);
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
  1: "this is not a value: put text into double quotes",
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
  15: 'a backslash must be followed by " \\ / b f n r t or u: double it',
  16: "a text holds a line break or another control character: write it as \\n or \\t",
};

/** The rows of a YAML list. */
export async function yamlRows(reading: Reading, text: string): Promise<SourceRow[]> {
  // Loaded when it is needed: most sources are not YAML.
  const yaml = await import("yaml");
  const counter = new yaml.LineCounter();
  const document = bounded(reading, counter, () =>
    parseBounded(text, { lineCounter: counter, merge: true }, ofYamlRows),
  );
  const refuse = (offset: number, reason: string): never => reading.refuse(counter.linePos(offset).line, reason);
  const [error] = document.errors;
  if (error) {
    const several = error.code === "MULTIPLE_DOCS";
    // The parser may quote what stands there.
    const { sensitive, secretLabels = [] } = reading.source;
    const reason = `is not valid YAML: ${sensitive || secretLabels.length > 0 ? "correct it" : (error.message.split("\n")[0] ?? "")}`;
    refuse(error.pos[0], several ? "a second document begins here: make it one list" : reason);
  }
  refuseWhatIsLost(yaml, document, reading, refuse);
  const { contents } = document;
  if (contents === null || (yaml.isScalar(contents) && contents.value === null)) return [];
  if (!yaml.isSeq(contents)) return reading.refuse(1, "must be a list of rows: begin each row with - ");
  const rows = document.toJS() as unknown[]; // a list, as was just seen
  return rows.flatMap((values, index) => {
    const node = contents.items[index] as { range?: [number, number, number] } | undefined; // any YAML node
    const { line } = counter.linePos(node?.range?.[0] ?? 0);
    return rowOf(line, values, reading.wrong);
  });
}

function bounded<Answer>(reading: Reading, counter: Yaml.LineCounter, parse: () => Answer): Answer {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof BoundError)) throw error;
    return reading.refuse(Math.max(1, counter.linePos(error.offset).line), error.message);
  }
}

/** Bounds of rows in YAML, which is never streamed. */
export const ofYamlRows = { levels: 100, values: 250_000 };

/** Ends where the values of JavaScript would say something else than the text, or less. */
function refuseWhatIsLost(
  { isMap, isScalar, visit }: typeof Yaml,
  document: Yaml.Document,
  { source: declared }: Reading,
  refuse: (offset: number, reason: string) => never,
): void {
  const anchors = new Set<string>();
  const named = ({ source, value, range }: Yaml.Scalar, what: string, isSecret = declared.sensitive): void => {
    const isLost = typeof value === "number" && isRounded(source ?? "", value); // which `Value` tells
    const reason = isLost ? undefined : explainMisnamed(source, value, isSecret);
    if (reason !== undefined) refuse(range?.[0] ?? 0, `${what}: ${reason}`);
  };
  visit(document, {
    Alias: (_, { source, range }) => {
      const which = declared.sensitive ? "of this name" : quote(source);
      if (!anchors.has(source)) refuse(range?.[0] ?? 0, `there is no anchor ${which} before this`);
    },
    Pair: (_, { key, value }) => {
      if (!isScalar(key)) return;
      named(key, "a label");
      if (isScalar(value)) named(value, String(key.value), isHidden(declared, String(key.value)));
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      // The parser would compare each key with all others.
      const labels = isMap(node) ? node.items.map(({ key }) => key).filter(isScalar) : [];
      const seen = new Set<unknown>();
      for (const { value, source, range } of labels) {
        if (source === "<<") continue; // may stand there several times
        if (value === nameless) refuse(range?.[0] ?? 0, noName);
        const which = declared.sensitive ? "this label" : `the label ${quote(String(value))}`;
        if (seen.size === seen.add(value).size) refuse(range?.[0] ?? 0, `${which} occurs twice in one row: remove one`);
      }
      if (!isScalar(node) || typeof node.value !== "number") return;
      if (!Number.isFinite(node.value))
        refuse(node.range?.[0] ?? 0, "a row can't hold this number: write another one, or quote it");
      if (isRounded(node.source ?? "", node.value)) refuse(node.range?.[0] ?? 0, `a number ${rounded}`);
    },
  });
}
