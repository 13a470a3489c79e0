import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream";
import { parse as parseCsv, type CsvError, type Info } from "csv-parse";
import { isSeq, LineCounter, parseDocument } from "yaml";
import type { RowData } from "../contract/values.ts";
import { isObject } from "../contract/wire.ts";
import { ResourceError } from "./resource.ts";

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
}

/** Where a row stands, for people: `countries.csv:17`, or `rows[16]`. */
export const placeOf = ({ source }: Source, line: number): string =>
  source === undefined ? `rows[${line - 1}]` : `${source}:${line}`;

/** Something wrong with a source; the message names file and line. */
export class SourceError extends ResourceError {}

/** The rows of a source, one after the other; a file is streamed where its format allows it. */
export async function* read(given: Source, directory: string): AsyncGenerator<SourceRow> {
  const { rows, source } = given;
  if (source === undefined) {
    for (const [index, values] of (rows ?? []).entries()) yield { line: index + 1, values };
    return;
  }
  const path = resolve(directory, source);
  const format = extname(source).toLowerCase();
  try {
    if (format === ".csv") yield* csv(given, path);
    else if (format === ".ndjson" || format === ".jsonl") yield* ndjson(given, path);
    else if (format === ".json") yield* json(given, path);
    else if (format === ".yaml" || format === ".yml") yield* yaml(given, path);
    else
      throw new SourceError(
        `${source} can't be read: its name must end in .csv, .json, .ndjson, .jsonl, .yaml or .yml`,
      );
  } catch (error) {
    if (isSystemError(error)) throw new SourceError(`${source} can't be read: ${reasonOf(error)}`);
    throw error;
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "code" in error;

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT"
    ? "there is no such file; correct source"
    : code === "EISDIR"
      ? "it is a folder; name the file in it"
      : message;

async function* csv(given: Source, path: string): AsyncGenerator<SourceRow> {
  let columns: Column[] | undefined;
  const records = pipeline(
    createReadStream(path),
    parseCsv({ bom: true, info: true, skip_empty_lines: true, encoding: "utf8" }),
    () => undefined, // a failure also ends the iteration below
  );
  try {
    // csv-parse yields this for `info: true`.
    for await (const { info, record } of records as AsyncIterable<{ info: Info; record: string[] }>) {
      if (columns === undefined) columns = header(given, record);
      // A quoted cell may hold line breaks: the record began that many lines before its end.
      else {
        const line = info.lines - record.reduce((breaks, cell) => breaks + lineBreaks(cell), 0);
        yield { line, values: cells(given, columns, record, line) };
      }
    }
  } catch (error) {
    if (!isCsvError(error)) throw error;
    throw new SourceError(`${placeOf(given, Number(error["lines"] ?? 1))}: ${csvReason(error)}`);
  }
}

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("CSV_");

const csvReason = (error: CsvError): string =>
  error.code === "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH"
    ? "the row has another number of cells than the first line; quote cells that hold commas"
    : error.code === "CSV_QUOTE_NOT_CLOSED"
      ? "a quotation mark is opened here and never closed"
      : error.message;

const lineBreaks = (cell: string): number => (cell.includes("\n") ? cell.split("\n").length - 1 : 0);

interface Column {
  label: string;
  type: CellType;
}

function header(given: Source, labels: string[]): Column[] {
  const empty = labels.findIndex((label) => label.trim() === "");
  if (empty >= 0) throw new SourceError(`${placeOf(given, 1)}: column ${empty + 1} has no label`);
  const twice = labels.find((label, index) => labels.indexOf(label) < index);
  if (twice !== undefined) throw new SourceError(`${placeOf(given, 1)}: the label "${twice}" stands there twice`);
  const strange = Object.keys(given.types ?? {}).find((label) => !labels.includes(label));
  if (strange !== undefined)
    throw new SourceError(`types names the label "${strange}", which ${given.source ?? ""} lacks`);
  return labels.map((label) => ({ label, type: given.types?.[label] ?? "text" }));
}

function cells(given: Source, columns: readonly Column[], record: string[], line: number): RowData {
  const values: RowData = {};
  // Counted, because a million rows come by here.
  for (let index = 0; index < columns.length; index++) {
    const { label, type } = columns[index] ?? { label: "", type: "text" };
    const cell = record[index] ?? "";
    const value = cell === "" ? null : typed(cell, type);
    if (value === undefined) throw new SourceError(`${placeOf(given, line)}: ${label} is no ${type}: "${cell}"`);
    if (label === "__proto__") Object.defineProperty(values, label, { value, enumerable: true, writable: true });
    else values[label] = value;
  }
  return values;
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

async function* ndjson(given: Source, path: string): AsyncGenerator<SourceRow> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line++;
    const trimmed = text.replace(/^\uFEFF/, "").trim();
    if (trimmed === "") continue;
    yield { line, values: asRow(given, line, parsedJson(given, line, trimmed)) };
  }
}

async function* json(given: Source, path: string): AsyncGenerator<SourceRow> {
  const text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  const rows = parsedJson(given, undefined, text);
  if (!Array.isArray(rows)) throw new SourceError(`${placeOf(given, 1)}: must be a list of rows`);
  if (rows.every(isObject)) {
    // Lines are found only where someone will read them: one row a line is the common layout, the rest is searched.
    const lines = linesOfItems(text);
    for (const [index, values] of rows.entries()) yield { line: lines[index] ?? 1, values };
    return;
  }
  const index = rows.findIndex((row) => !isObject(row));
  asRow(given, linesOfItems(text)[index] ?? 1, rows[index]);
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

async function* yaml(given: Source, path: string): AsyncGenerator<SourceRow> {
  const counter = new LineCounter();
  const document = parseDocument(await readFile(path, "utf8"), { lineCounter: counter, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw new SourceError(`${placeOf(given, counter.linePos(error.pos[0]).line)}: ${error.message}`);
  if (!isSeq(document.contents)) throw new SourceError(`${placeOf(given, 1)}: must be a list of rows`);
  const rows = document.toJS() as unknown[]; // a list, as was just seen
  for (const [index, row] of rows.entries()) {
    const node = document.contents.items[index] as { range?: [number, number, number] } | undefined; // any YAML node
    const { line } = counter.linePos(node?.range?.[0] ?? 0);
    yield { line, values: asRow(given, line, row) };
  }
}

function asRow(given: Source, line: number, value: unknown): RowData {
  if (isObject(value)) return value;
  throw new SourceError(`${placeOf(given, line)}: must be a row, with values by label`);
}

function parsedJson(given: Source, line: number | undefined, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = Number(/at position (\d+)/.exec(message)?.[1] ?? 0);
    const at = line ?? text.slice(0, position).split("\n").length;
    // The parser's message quotes the text, which may be secret.
    throw new SourceError(`${placeOf(given, at)}: is not valid JSON`);
  }
}
