import { isUtf8 } from "node:buffer";
import { extname } from "node:path";
import type { FieldType, RowData } from "../../../platform/contract/values.ts";
import { quote } from "../../../platform/messages/text.ts";
import { conflict, findConflict } from "../../files/files.ts";

/** A row of a source and where it stands: a line of the file, or the position of a row given in the program, from 1. */
export interface SourceRow {
  line: number;
  values: RowData;
}

/** Stands in the place of a row that nobody takes. */
export const unread: SourceRow = { line: 0, values: {} };

/** How the cells of a CSV are read. */
export const cellTypes = ["text", "number", "boolean", "date", "checkbox", "json"] as const;
export type CellType = (typeof cellTypes)[number];

/** What may separate the cells of a CSV. */
export const delimiters = [",", ";", "\t", "|"] as const;

/** Rows in the program, or a file with them. */
export interface Source extends RowEdits {
  rows?: readonly RowData[] | undefined;
  source?: string | undefined;
  types?: Readonly<Record<string, CellType>> | undefined;
  /** Separates the cells of a CSV that does not show it. */
  delimiter?: (typeof delimiters)[number] | undefined;
  /** Labels that the first line of a CSV must have. */
  key?: readonly string[] | undefined;
  /** Labels whose values are keys of other rows. */
  references?: Readonly<Record<string, unknown>> | undefined;
  parent?: { by: string } | undefined;
  /** Types of the table's fields by label, where they are known. */
  fields?: Readonly<Record<string, FieldType>> | undefined;
  /** Messages show neither keys nor values. */
  sensitive?: boolean | undefined;
  /** Messages show no values of these labels. */
  secretLabels?: readonly string[] | undefined;
}

/** True when the values of a label are secret. */
export const isHidden = ({ sensitive = false, secretLabels = [] }: Source, label: string): boolean =>
  sensitive || secretLabels.includes(label);

/** The texts in cells of a row that nobody may read although the others are shown. */
export const secretTextsIn = ({ secretLabels = [] }: Source, values: RowData): string[] =>
  secretLabels.flatMap((label) => leavesOf(values[label]));

/** The values in a value, as texts. */
export function leavesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  if (typeof value === "string") return value === "" ? [] : [value];
  return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
}

/** Where a row stands, for people: `countries.csv:17`, with a column `countries.json:17:4`, or `rows[16]`, `additions[0]`. */
export function placeOf({ source }: Source, line: number, column?: number): string {
  const edit = editAt(line);
  if (edit !== undefined) return edit;
  if (source === undefined) return `rows[${line - 1}]`;
  return `${source}:${line}${column === undefined ? "" : `:${column}`}`;
}

/** Labels whose values are keys of other rows. */
export const listLinkedLabels = ({ references = {}, parent }: Source): string[] => [
  ...Object.keys(references),
  ...(parent ? [parent.by] : []),
];

/**
 * Values of a row that are kept while its file is read on: a text that was cut out of a file holds on to the part of the
 * file that it was read with.
 */
export const copyValues = (values: RowData): RowData => JSON.parse(JSON.stringify(values)) as RowData; // JSON all of it

/** Something wrong with a row. */
export interface Mistake {
  line: number;
  column?: number;
  /** The sentence, to stand after the place. */
  text: string;
  /** Topic: the same mistake of many rows is reported once, at the first (default: the sentence). */
  about?: string;
  /** The natural key of the row. */
  key?: string | undefined;
}

/** Gets what is wrong with a row; the rows after it are read all the same. */
export type Wrong = (mistake: Mistake) => void;

/** Ends the reading: the source is wrong as a whole. */
export type Refuse = (line: number, reason: string, column?: number) => never;

/** A source that is being read, and where its mistakes go. */
export interface Reading {
  source: Source;
  wrong: Wrong;
  refuse: Refuse;
  /** True for the place of a row, from 0, whose values somebody takes (default: all). Others may come as `unread`. */
  takes?: ((index: number) => boolean) | undefined;
}

/** A natural key as `removals` has it: a value, or a list of the values of several labels. */
type RemovalKey = string | number | boolean | readonly (string | number | boolean)[];

/** Edits of a source's rows; the source itself stays unchanged. */
export interface RowEdits {
  /** Rows beside those of the source. */
  additions?: readonly RowData[] | undefined;
  /** Fields of rows that the source has: each names its row by the natural key. */
  changes?: readonly RowData[] | undefined;
  /** Natural keys of rows that the source has and the seed has not. */
  removals?: readonly RemovalKey[] | undefined;
}

// Lines from here on are of no file: positions in the edits.
export const firstLines = { additions: 0x8000_0000, changes: 0xa000_0000, removals: 0xc000_0000 } as const;
export type List = keyof typeof firstLines;
const lists: readonly List[] = ["removals", "changes", "additions"];

/** The position of a row that no source has; undefined for a line of the source. */
export function positionOf(line: number): { list: List; index: number } | undefined {
  const list = lists.find((each) => line >= firstLines[each]);
  return list && { list, index: line - firstLines[list] };
}

/** Where a row stands that no source has, e.g. `additions[0]`; undefined for a line of the source. */
export function editAt(line: number): string | undefined {
  const position = positionOf(line);
  return position && `${position.list}[${position.index}]`;
}

/** True when the rows of a source are edited. */
export const hasEdits = (edits: RowEdits): boolean => lists.some((list) => (edits[list] ?? []).length > 0);

/** Endings of the files that rows are read from. */
const formats = [".csv", ".json", ".ndjson", ".jsonl", ".yaml", ".yml"];

const spreadsheets = [".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"];

/** How a source is read, by the ending of its name. */
export const formatOf = (source: string): string => extname(source).toLowerCase();

/** Why no rows are read from a file of this name, to stand after it; undefined when they are. */
export function explainRefusedFormat(source: string): string | undefined {
  const format = formatOf(source);
  if (formats.includes(format)) return undefined;
  if (spreadsheets.includes(format)) return "is a spreadsheet; save it as CSV (UTF-8, with commas) and name that file";
  if (format === ".tsv" || format === ".tab")
    return "has tabs between its cells; save it as CSV, with commas, and name that file";
  return `must end in ${formats.slice(0, -1).join(", ")} or ${formats.at(-1) ?? ""}; give it the ending of its format`;
}

/** A name that JavaScript takes for something else: what stands under it would vanish on the way. */
export const nameless = "__proto__";
export const noName = `${quote(nameless)} can't be a label; rename it`;

/** True when a text may contain that name, also spelled by codes. */
export const mayHold = (text: string): boolean => /proto|\\u/i.test(text);

/** True when a value has that name as a key, at any depth. */
export const holds = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, nameless) || Object.values(value as Record<string, unknown>).some(holds));

/** The problem of a number whose value differs from its digits. */
export const rounded = "has more digits than a number keeps: make it a text";

/** The digits of a number that count, and the power of ten that they begin with. */
function measure(text: string): string | undefined {
  const [, sign = "", whole, part = "", power = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + part).replace(/^0+/, "");
  const exponent = digits.length - part.length + Number(power);
  const counted = digits.replace(/0+$/, "");
  return counted === "" ? "0" : `${sign === "-" ? "-" : ""}${counted}e${exponent}`;
}

/** True when the value of a number differs from its digits. */
export function isRounded(digits: string, value: number): boolean {
  if (!Number.isFinite(value)) return true;
  // A number keeps 15 digits in any case.
  if (digits.length <= 15 && !/e/i.test(digits)) return false;
  const written = measure(digits);
  return written !== undefined && written !== measure(String(value));
}

/** Digits of a JSON text that no number keeps, the first ones. */
export function findRounded(text: string): string | undefined {
  if (!/[\d.]{16}|(?:^|[:[,])\s*-?[\d.]+[eE]/.test(text)) return undefined;
  let found: string | undefined;
  const see = (_: string, value: unknown, { source = "" }: { source?: string } = {}): unknown => {
    if (typeof value === "number" && isRounded(source, value)) found ??= source;
    return value;
  };
  JSON.parse(text, see); // Node also passes the source text of a number
  return found;
}

/** Whole lines of a file. */
export interface Lines {
  /** Line of the file on which the text begins. */
  first: number;
  text: string;
}

/** A line of a file that is not what a text has: not in UTF-8, without an end, or a conflict that a merge left. */
export class TextError extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const lineFeed = 0x0a;

/** Bytes that one line may have. */
export const maxBytesOfLine = 16 * 2 ** 20;

/** The text, unless a merge left its conflict in it: of a CSV its reader finds that. Throws a TextError. */
export function settled(text: string, first: number): string {
  const line = findConflict(text);
  if (line !== undefined) throw new TextError(first + line, conflict);
  return text;
}

/** The bytes of a file, piece by piece or all at once. */
export type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

/** The lines of a file, block by block, without the mark that may begin it. Throws a TextError. */
export async function* linesOf(chunks: Chunks, max = maxBytesOfLine): AsyncGenerator<Lines> {
  let first = 1;
  let begun: Buffer[] = [];
  let length = 0;
  const block = (bytes: Buffer): Lines => {
    const lines = { first, text: decoded(bytes, first) };
    first += breaksIn(bytes);
    return lines;
  };
  for await (const bytes of chunks) {
    // A line feed is never a part of another character, so no character is cut.
    const end = bytes.lastIndexOf(lineFeed) + 1;
    length = end === 0 ? length + bytes.length : bytes.length - end;
    if (length > max) {
      const line = first + (end === 0 ? 0 : breaksIn(bytes));
      throw new TextError(line, `begins a line of more than ${max / 2 ** 20} MB: break it, or correct the file`);
    }
    if (end === 0) {
      begun.push(bytes);
      continue;
    }
    yield block(Buffer.concat([...begun, bytes.subarray(0, end)]));
    begun = end < bytes.length ? [bytes.subarray(end)] : [];
  }
  if (begun.length > 0) yield block(Buffer.concat(begun));
}

/** The text of a file, without the mark that may begin it. Throws a TextError. */
export const textOf = (bytes: Buffer): string => settled(csvTextOf(bytes), 1);

/** The text of a CSV, in whose cells a line may begin as a conflict does. Throws a TextError. */
export const csvTextOf = (bytes: Buffer): string => decoded(bytes, 1);

function decoded(bytes: Buffer, first: number): string {
  // UTF-16 without a mark, and what is no text at all, may happen to be valid.
  const zero = bytes.indexOf(0);
  if (isUtf8(bytes)) {
    if (zero >= 0)
      throw new TextError(
        first + breaksIn(bytes.subarray(0, zero)),
        "holds a NUL character, so it is not text in UTF-8: save the file in that encoding",
      );
    const text = bytes.toString("utf8");
    return first === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
  }
  let line = first;
  for (let from = 0; ; line++) {
    const end = bytes.indexOf(lineFeed, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end)))
      throw new TextError(line, "is not valid UTF-8: save the file in that encoding");
    from = end + 1;
  }
}

function breaksIn(bytes: Buffer): number {
  let breaks = 0;
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) breaks++;
  return breaks;
}
