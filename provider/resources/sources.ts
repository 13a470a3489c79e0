import type { FileHandle } from "node:fs/promises";
import { extname } from "node:path";
import type { RowData } from "../contract/values.ts";
import { isObject } from "../contract/wire.ts";
import { FileRefusal, mostOfRows, openFile } from "../files/files.ts";
import { csvRecords } from "./csv.ts";
import { ResourceError } from "./resource.ts";
import { some } from "./settling.ts";
import { EncodingError, linesOf, textOf } from "./textFiles.ts";

/** A row of a source and where it stands: a line of the file, or the position of a row given in the program, from 1. */
export interface SourceRow {
  line: number;
  values: RowData;
}

/** How the cells of a CSV are read. */
export type CellType = "text" | "number" | "boolean" | "json";

/** Rows in the program, or a file with them. */
export interface Source {
  rows?: readonly RowData[] | undefined;
  source?: string | undefined;
  types?: Readonly<Record<string, CellType>> | undefined;
  /** Labels that the first line of a CSV must have. */
  key?: readonly string[] | undefined;
  /** Messages show no values. */
  sensitive?: boolean | undefined;
}

/** Where a row stands, for people: `countries.csv:17`, or `rows[16]`. */
export const placeOf = ({ source }: Source, line: number): string =>
  source === undefined ? `rows[${line - 1}]` : `${source}:${line}`;

/** Something wrong with a source; the message names file and line. */
export class SourceError extends ResourceError {}

/** Told of a row that can't be read; the rows after it are read all the same. */
type Wrong = (problem: string) => void;

const end: Wrong = (problem) => {
  throw new SourceError(problem);
};

/**
 * The rows of a source, in blocks; a file is streamed where its format allows it. The first row that can't be read ends
 * it with a SourceError, unless `wrong` takes the problems; what makes the whole file unreadable always does.
 */
export async function* read(given: Source, directory: string, wrong = end): AsyncGenerator<SourceRow[]> {
  const { rows, source } = given;
  if (source === undefined) {
    yield (rows ?? []).map((values, index) => ({ line: index + 1, values }));
    return;
  }
  const format = extname(source).toLowerCase();
  const streamed = [".csv", ".ndjson", ".jsonl"].includes(format);
  if (!streamed && ![".json", ".yaml", ".yml"].includes(format)) {
    throw new SourceError(`${source} can't be read: its name must end in .csv, .json, .ndjson, .jsonl, .yaml or .yml`);
  }
  try {
    const file = await openFile(directory, source, streamed ? Infinity : mostOfRows);
    try {
      if (format === ".csv") yield* csv(given, file, wrong);
      else if (streamed) yield* ndjson(given, file, wrong);
      else if (format === ".json") yield json(given, await textOf(file), wrong);
      else yield await yaml(given, await textOf(file), wrong);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileRefusal) throw new SourceError(`${source} can't be read: ${error.message}`);
    if (isSystemError(error)) throw new SourceError(`${source} can't be read: ${reasonOf(error)}`);
    if (error instanceof EncodingError) throw new SourceError(`${placeOf(given, error.line)}: ${error.message}`);
    throw error;
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "code" in error;

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT" ? "there is no such file; correct source" : message;

async function* csv(given: Source, file: FileHandle, wrong: Wrong): AsyncGenerator<SourceRow[]> {
  let columns: Column[] | undefined;
  for await (const records of csvRecords(linesOf(file))) {
    const rows: SourceRow[] = [];
    for (const record of records) {
      const { line } = record;
      if ("wrong" in record) {
        const problem = `${placeOf(given, line)}: ${record.wrong}`;
        if (columns === undefined) throw new SourceError(problem);
        wrong(problem);
      } else if (columns === undefined) columns = header(given, record);
      else {
        const values = cells(given, columns, record, wrong);
        if (values) rows.push({ line, values });
      }
    }
    yield rows;
  }
}

interface Column {
  label: string;
  type: CellType;
}

function header(given: Source, { line, cells: labels }: { line: number; cells: string[] }): Column[] {
  const problem = (text: string): SourceError => new SourceError(`${placeOf(given, line)}: ${text}`);
  const lacking = given.key?.find((label) => !labels.includes(label));
  const advice = given.sensitive ? "correct key or the first line" : adviceOn(labels);
  if (lacking !== undefined) throw problem(`there is no label "${lacking}", which key names: ${advice}`);
  const empty = labels.findIndex((label) => label.trim() === "");
  if (empty >= 0) throw problem(`column ${empty + 1} has no label`);
  const twice = labels.find((label, index) => labels.indexOf(label) < index);
  if (twice !== undefined) {
    const which = given.sensitive ? `of column ${labels.indexOf(twice) + 1}` : `"${twice}"`;
    throw problem(`the label ${which} stands there twice`);
  }
  const strange = Object.keys(given.types ?? {}).find((label) => !labels.includes(label));
  if (strange !== undefined)
    throw new SourceError(`types names the label "${strange}", which ${given.source ?? ""} lacks`);
  return labels.map((label) => ({ label, type: given.types?.[label] ?? "text" }));
}

function adviceOn(labels: readonly string[]): string {
  const separator = [";", "\t", "|"].find((mark) => labels.length === 1 && labels[0]?.includes(mark));
  if (separator !== undefined) return `separate the cells by commas, not by ${JSON.stringify(separator)}`;
  return `the labels there are ${some(
    labels.map((label) => JSON.stringify(label)),
    20,
  )} (case and spaces count)`;
}

/** The row of a record, undefined when something is wrong with it. */
function cells(
  given: Source,
  columns: readonly Column[],
  { line, cells }: { line: number; cells: string[] },
  wrong: Wrong,
): RowData | undefined {
  if (cells.length !== columns.length) {
    wrong(
      `${placeOf(given, line)}: the row has another number of cells than the first line; quote cells that hold commas`,
    );
    return undefined;
  }
  const values: RowData = {};
  let whole = true;
  // Counted, because a million rows come by here.
  for (let index = 0; index < columns.length; index++) {
    const { label, type } = columns[index] ?? { label: "", type: "text" };
    const cell = cells[index] ?? "";
    const value = cell === "" ? null : typed(cell, type);
    if (value === undefined) {
      wrong(`${placeOf(given, line)}: ${label} is no ${type}${given.sensitive ? "" : `: "${cell}"`}`);
      whole = false;
    } else if ((type === "number" && isRounded(cell.trim(), Number(value))) || (type === "json" && roundedIn(cell))) {
      wrong(`${placeOf(given, line)}: ${label} ${rounded}`);
      whole = false;
    } else if (label === "__proto__") {
      Object.defineProperty(values, label, { value, enumerable: true, writable: true });
    } else values[label] = value;
  }
  return whole ? values : undefined;
}

const rounded = "has more digits than a number keeps: make it a text";

/** Whether a number is another one than the digits say that stand for it. */
const isRounded = (digits: string, value: number): boolean =>
  !Number.isSafeInteger(value) &&
  /^-?\d+$/.test(digits) &&
  String(value) !== digits &&
  BigInt(digits) !== BigInt(value);

/** Digits of a JSON text that no number keeps, the first ones. */
function roundedIn(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  let found: string | undefined;
  const see = (_: string, value: unknown, { source = "" }: { source?: string } = {}): unknown => {
    if (typeof value === "number" && isRounded(source, value)) found ??= source;
    return value;
  };
  JSON.parse(text, see); // Node also tells a number's source
  return found;
}

/** The value of a cell, undefined when it is not of that type. */
function typed(cell: string, type: CellType): unknown {
  switch (type) {
    case "text":
      return cell;
    case "number":
      return cell.trim() !== "" && Number.isFinite(Number(cell)) ? Number(cell) : undefined;
    case "boolean":
      return cell === "true" ? true : cell === "false" ? false : undefined;
    case "json":
      try {
        return JSON.parse(cell) as unknown;
      } catch {
        return undefined;
      }
  }
}

async function* ndjson(given: Source, file: FileHandle, wrong: Wrong): AsyncGenerator<SourceRow[]> {
  for await (const { first, text } of linesOf(file)) {
    const rows: SourceRow[] = [];
    for (const [index, words] of text.split("\n").entries()) {
      if (words.trim() === "") continue;
      const line = first + index;
      const values = parsedJson(words);
      if (values === undefined) wrong(`${placeOf(given, line)}: is not valid JSON`);
      else if (roundedIn(words)) wrong(`${placeOf(given, line)}: a number ${rounded}`);
      else rows.push(...asRow(given, line, values, wrong));
    }
    yield rows;
  }
}

function json(given: Source, text: string, wrong: Wrong): SourceRow[] {
  const items = parsedJson(text);
  if (items === undefined) {
    throw new SourceError(`${placeOf(given, lineOfMistake(text))}: is not valid JSON`);
  }
  if (!Array.isArray(items)) throw new SourceError(`${placeOf(given, 1)}: must be a list of rows`);
  const digits = roundedIn(text);
  if (digits !== undefined) {
    const line = text.slice(0, text.indexOf(digits)).split("\n").length;
    throw new SourceError(`${placeOf(given, line)}: a number ${rounded}`);
  }
  const lines = linesOfItems(text);
  return items.flatMap((values: unknown, index) => asRow(given, lines[index] ?? 1, values, wrong));
}

/** The line on which each item of a JSON list begins; the text is known to be valid. */
function linesOfItems(text: string): number[] {
  const lines: number[] = [];
  let line = 1;
  let depth = 0;
  let expectsItem = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\n") line++;
    if (/\s/.test(character)) continue;
    if (expectsItem && character !== "]") lines.push(line);
    expectsItem = false;
    if (character === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (character === "[" || character === "{") {
      depth++;
      expectsItem = depth === 1;
    } else if (character === "]" || character === "}") depth--;
    else if (character === ",") expectsItem = depth === 1;
  }
  return lines;
}

async function yaml(given: Source, text: string, wrong: Wrong): Promise<SourceRow[]> {
  // Loaded when it is needed: most sources are not YAML.
  const { isMap, isScalar, isSeq, LineCounter, parseDocument, visit } = await import("yaml");
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, merge: true, uniqueKeys: false });
  const [error] = document.errors;
  const at = (place: number): string => placeOf(given, counter.linePos(place).line);
  if (error) {
    // The parser's own words may quote the file.
    const said = given.sensitive ? "is not valid YAML" : error.message;
    const message = error.code === "MULTIPLE_DOCS" ? "a second document begins here: make it one list" : said;
    throw new SourceError(`${at(error.pos[0])}: ${message}`);
  }
  const anchors = new Set<string>();
  visit(document, {
    Alias: (_, { source, range }) => {
      if (!anchors.has(source))
        throw new SourceError(
          `${at(range?.[0] ?? 0)}: no anchor ${given.sensitive ? "of this name" : `"${source}"`} stands before this`,
        );
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.add(node.anchor);
      // The parser would compare each key with all others.
      const keys = isMap(node) ? node.items.map(({ key }) => key).filter(isScalar) : [];
      const seen = new Set<unknown>(["<<"]); // may stand there several times
      for (const { value, range } of keys) {
        const twice = seen.size === seen.add(value).size && value !== "<<";
        if (twice) throw new SourceError(`${at(range?.[0] ?? 0)}: Map keys must be unique`);
      }
      if (isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value))
        throw new SourceError(
          `${at(node.range?.[0] ?? 0)}: a row can't hold this number: write another one, or quote it`,
        );
      if (isScalar(node) && typeof node.value === "number" && isRounded(node.source ?? "", node.value))
        throw new SourceError(`${at(node.range?.[0] ?? 0)}: a number ${rounded}`);
    },
  });
  if (!isSeq(document.contents)) throw new SourceError(`${placeOf(given, 1)}: must be a list of rows`);
  const { items } = document.contents;
  const rows = document.toJS() as unknown[]; // a list, as was just seen
  return rows.flatMap((values, index) => {
    const node = items[index] as { range?: [number, number, number] } | undefined; // any YAML node
    const { line } = counter.linePos(node?.range?.[0] ?? 0);
    return asRow(given, line, values, wrong);
  });
}

function asRow(given: Source, line: number, values: unknown, wrong: Wrong): SourceRow[] {
  if (isObject(values)) return [{ line, values }];
  wrong(`${placeOf(given, line)}: must be a row, with values by label`);
  return [];
}

/** The value of a JSON text, undefined when it is none. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The line on which a text stops being JSON: the first lines up to one before it only lack an end. The parser names no
 * place for most mistakes, and its own words quote the text, which may be secret.
 */
function lineOfMistake(text: string): number {
  const lines = text.split("\n");
  let [good, bad] = [0, lines.length];
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (begins(lines.slice(0, middle).join("\n"))) good = middle;
    else bad = middle;
  }
  return bad;
}

/** Whether a text may be the beginning of JSON. */
function begins(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError; // JSON.parse throws no other
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return message.startsWith("Unexpected end") || Number(position) === text.length;
  }
}
