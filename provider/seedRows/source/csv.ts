import { fieldKinds, fits, type RowData } from "../../../platform/contract/values.ts";
import { jsonIn, entryIn } from "../../../platform/contract/wire.ts";
import { quote, some } from "../../../platform/messages/text.ts";
import { conflict, isConflictAt } from "../../files/files.ts";
import {
  isRounded,
  rounded,
  findRounded,
  holds,
  mayHold,
  nameless,
  noName,
  isHidden,
  delimiters,
  unread,
  type CellType,
  type Reading,
  type Source,
  type SourceRow,
  linesOf,
  TextError,
  type Chunks,
  type Lines,
} from "./source.ts";

/** The rows of a CSV, whose first line has the labels. */
export async function* csvRows(reading: Reading, chunks: Chunks): AsyncGenerator<SourceRow[]> {
  const { wrong, refuse, takes } = reading;
  const isTaken = takes && ((at: number) => at === 0 || takes(at - 1));
  let columns: Column[] | undefined;
  const { delimiter } = reading.source;
  for await (const records of csvRecords(linesOf(chunks), { delimiter, takes: isTaken })) {
    const rows: SourceRow[] = [];
    for (const record of records) {
      if (record === passedOver) {
        rows.push(unread);
        continue;
      }
      const { line } = record;
      if ("wrong" in record) {
        if (columns === undefined) refuse(line, record.wrong);
        wrong({ line, text: record.wrong });
      } else if (columns === undefined) columns = header(reading, record);
      else {
        const values = cells(reading, columns, record);
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

function header({ source, refuse }: Reading, { line, cells: labels }: { line: number; cells: string[] }): Column[] {
  const lacking = source.key?.find((label) => !labels.includes(label));
  const advice = (what: string): string => (source.sensitive ? `correct ${what} or the first line` : adviceOn(labels));
  if (lacking !== undefined) refuse(line, `there is no label ${quote(lacking)}, which key names: ${advice("key")}`);
  const empty = labels.findIndex((label) => label.trim() === "");
  if (empty >= 0) refuse(line, `column ${empty + 1} has no label`);
  if (labels.includes(nameless)) refuse(line, noName);
  const twice = labels.find((label, index) => labels.indexOf(label) < index);
  if (twice !== undefined) {
    const which = source.sensitive ? `of column ${labels.indexOf(twice) + 1}` : quote(twice);
    refuse(line, `the label ${which} appears twice: rename one of the two columns`);
  }
  const strange = Object.keys(source.types ?? {}).find((label) => !labels.includes(label));
  if (strange !== undefined) refuse(line, `there is no label ${quote(strange)}, which types names: ${advice("types")}`);
  return labels.map((label) => ({ label, type: entryIn(source.types, label) ?? "text" }));
}

function adviceOn(labels: readonly string[]): string {
  const held = delimiters.find((mark) => labels[0]?.includes(mark));
  if (held !== undefined) return `if ${quote(held)} separates the cells, set delimiter: ${JSON.stringify(held)}`;
  return `the labels there are ${some(
    labels.map((label) => JSON.stringify(label)),
    20,
  )} (case and spaces count)`;
}

/** The row of a record, undefined when something is wrong with it. */
function cells(
  { source, wrong }: Reading,
  columns: readonly Column[],
  { line, cells }: { line: number; cells: string[] },
): RowData | undefined {
  if (cells.length !== columns.length) {
    const about = "the row has another number of cells than the first line";
    const remedy = cells.length > columns.length ? "quote cells that hold what separates them" : "add the missing ones";
    const counts = `${about}, ${cells.length} and ${columns.length}`;
    const last = columns[Math.min(cells.length, columns.length) - 1]?.label ?? "";
    wrong({
      line,
      about,
      text: `${counts}: ${remedy}${source.sensitive ? "" : ` (the last one in both is ${quote(last)})`}`,
    });
    return undefined;
  }
  const values: RowData = {};
  let whole = true;
  // Counted, because a million rows come by here.
  for (let index = 0; index < columns.length; index++) {
    const { label, type } = columns[index] ?? { label: "", type: "text" };
    const cell = cells[index] ?? "";
    const value = cell === "" ? null : readCell(cell, type);
    if (value === undefined) {
      const [is, write] = wanted(type);
      const about = `${label} is ${is}: ${write}`;
      wrong({
        line,
        about,
        ...shownKey(source, columns, cells),
        text: isHidden(source, label) ? about : `${label} is ${is}, not ${quote(cell)}: ${write}`,
      });
      whole = false;
    } else if (
      (type === "number" && isRounded(cell.trim(), Number(value))) ||
      ((type === "json" || type === "checkbox") && findRounded(cell))
    ) {
      wrong({ line, text: `${label} ${rounded}` });
      whole = false;
    } else if (type === "json" && mayHold(cell) && holds(value)) {
      wrong({ line, text: `${label}: ${noName}` });
      whole = false;
    } else values[label] = value;
  }
  return whole ? values : undefined;
}

/** The natural key of a row that can't be read whole: of one label, and no secret. */
function shownKey(source: Source, columns: readonly Column[], cells: readonly string[]): { key?: string } {
  const [label, ...more] = source.key ?? [];
  if (label === undefined || more.length > 0 || isHidden(source, label)) return {};
  const key = cells[columns.findIndex((column) => column.label === label)];
  return key ? { key } : {};
}

/** Describes the expected content of a cell of that type, and how to write it. */
function wanted(type: CellType): readonly [is: string, write: string] {
  switch (type) {
    case "boolean":
      return ["a boolean", "write true or false"];
    case "json":
      return ["JSON", 'write a value of it, texts in double quotes, as ["true"]'];
    case "number":
      return ["a number", "write it as 12 or -1.5"];
    case "text":
    case "date":
    case "checkbox":
      return fieldKinds[type];
  }
}

/** The value of a cell that is not empty, undefined when it is not of that type. */
export function readCell(cell: string, type: CellType): unknown {
  switch (type) {
    case "text":
      return cell;
    case "number":
      return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(cell) ? Number(cell) : undefined;
    case "boolean":
      return cell === "true" ? true : cell === "false" ? false : undefined;
    case "date":
      return fits("date", cell) ? cell : undefined;
    case "checkbox": {
      const value = jsonIn(cell);
      return fits("checkbox", value) ? value : undefined;
    }
    case "json":
      return jsonIn(cell);
  }
}

/** A record of a CSV, or why there is none. `line` is the one on which it begins. */
type CsvRecord = { line: number; cells: string[] } | { line: number; wrong: string };

/** Stands in the place of a record that nobody takes. */
const passedOver: CsvRecord = { line: 0, cells: [] };

/** What separates the cells of a CSV, and where it begins. */
interface Separation {
  separator: string;
  start: number;
}

/**
 * Commas, unless the first line has none and has semicolons or tabs, as spreadsheets write them, or says `sep=;` as Excel
 * writes it, before the labels.
 * @param delimiter what a declaration says
 */
export function separationOf(text: string, delimiter?: string): Separation {
  const [said, , separator] = /^\uFEFF?("?)sep=([,;\t|])\1\r?\n/i.exec(text) ?? [];
  if (said !== undefined && separator !== undefined) return { separator: delimiter ?? separator, start: said.length };
  if (delimiter !== undefined) return { separator: delimiter, start: 0 };
  const [line = ""] = text.trimStart().split("\n", 1);
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const found = bare.includes(",") ? "," : [";", "\t"].find((mark) => bare.includes(mark));
  return { separator: found ?? ",", start: 0 };
}

/** True for the place of a record, from 0, whose cells somebody takes. */
type Takes = (at: number) => boolean;

/** Longest record, in characters: one that is longer has a quotation mark that nobody closed. */
export const maxCharactersOfRecord = 16 * 1024 * 1024;

const unclosed =
  "a quotation mark is opened here and never closed: close it, or double the marks that are part of the text";
const loneReturn = "a line ends in CR alone: save the file with LF or CRLF, or quote the cell that holds it";

/**
 * The records of a CSV as RFC 4180 has them, in blocks: commas, or what `separationOf` finds; cells in quotation marks where they hold commas, line
 * breaks or (doubled) quotation marks, LF or CRLF. Empty lines are no records. What is wrong with a record stands in
 * its place, and the next ones follow. A million rows are read several times in a run, and csv-parse, which the tests
 * hold this against, takes fourteen times as long. Throws a TextError.
 */
export async function* csvRecords(
  blocks: AsyncIterable<Lines> | Iterable<Lines>,
  {
    delimiter,
    longest = maxCharactersOfRecord,
    takes = () => true,
  }: { delimiter?: string | undefined; longest?: number; takes?: Takes | undefined } = {},
): AsyncGenerator<CsvRecord[]> {
  let before = 0;
  let rest: Lines | undefined;
  let separation: Separation | undefined;
  for await (const block of blocks) {
    let lines: Lines = rest ? { first: rest.first, text: rest.text + block.text } : block;
    if (!separation) {
      separation = separationOf(block.text, delimiter);
      if (separation.start > 0) lines = { first: lines.first + 1, text: lines.text.slice(separation.start) };
    }
    const parser = new Parser(lines, separation.separator);
    const records = parser.records((at) => takes(before + at));
    before += records.length;
    rest = parser.rest();
    if (records.length > 0) yield records;
    if (rest && rest.text.length > longest) break;
  }
  if (rest) yield [{ line: rest.first, wrong: unclosed }];
}

class Parser {
  readonly #text: string;
  readonly #separator: string;
  #at = 0;
  #line: number;
  /** Place of the next quotation mark. */
  #quote: number;

  constructor({ first, text }: Lines, separator: string) {
    this.#text = text;
    this.#separator = separator;
    this.#line = first;
    this.#quote = this.#find('"', 0);
  }

  records(takes: Takes): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#at < this.#text.length) {
      // Within a cell in quotation marks such a line is text.
      if (isConflictAt(this.#text, this.#at)) throw new TextError(this.#line, conflict);
      const end = this.#find("\n", this.#at);
      if (this.#quote < this.#at) this.#quote = this.#find('"', this.#at);
      if (this.#quote >= end) {
        const last = this.#text[end - 1] === "\r" ? end - 1 : end;
        if (last > this.#at) records.push(takes(records.length) ? this.#plain(last) : passedOver);
        this.#at = end + 1;
        this.#line++;
        continue;
      }
      const record = this.#quoted(end);
      if (!record) break;
      records.push(takes(records.length) ? record : passedOver);
    }
    return records;
  }

  /** A record without quotation marks, to its end. */
  #plain(end: number): CsvRecord {
    const text = this.#text.slice(this.#at, end);
    if (text.includes("\r")) return { line: this.#line, wrong: loneReturn };
    return { line: this.#line, cells: text.split(this.#separator) };
  }

  /** The beginning of a record that ends in a later block. */
  rest(): Lines | undefined {
    return this.#at < this.#text.length ? { first: this.#line, text: this.#text.slice(this.#at) } : undefined;
  }

  /**
   * A record with quotation marks; undefined when it does not end in this text.
   * @param lineEnd end of its first line
   */
  #quoted(lineEnd: number): CsvRecord | undefined {
    const text = this.#text;
    const first = this.#line;
    const cells: string[] = [];
    let at = this.#at;
    let line = first;
    for (;;) {
      let cell = "";
      if (text[at] === '"') {
        for (;;) {
          const end = text.indexOf('"', at + 1);
          if (end < 0) return undefined;
          cell += text.slice(at + 1, end);
          at = end + 1;
          if (text[at] !== '"') break;
          cell += '"';
        }
        line += breaksIn(cell);
      } else {
        if (at > lineEnd) lineEnd = this.#find("\n", at);
        const comma = text.indexOf(this.#separator, at);
        const end = comma < 0 || comma > lineEnd ? lineEnd : comma;
        cell = text.slice(at, text[end] !== this.#separator && text[end - 1] === "\r" ? end - 1 : end);
        at = end;
        if (cell.includes("\r")) return this.#wrong(at, line, loneReturn);
        if (cell.includes('"')) {
          return this.#wrong(at, line, "quote the whole cell, and double the quotation marks in it");
        }
      }
      cells.push(cell);
      if (text.startsWith("\r\n", at)) at++;
      if (text[at] === this.#separator) at++;
      else if (at >= text.length || text[at] === "\n") break;
      else return this.#wrong(at, line, "text follows a closing quotation mark: double the marks inside a quoted cell");
    }
    this.#at = at + 1;
    this.#line = line + 1;
    return { line: first, cells };
  }

  /** Goes on after the line on which something is wrong. */
  #wrong(at: number, line: number, wrong: string): CsvRecord {
    const first = this.#line;
    this.#at = this.#find("\n", at) + 1;
    this.#line = line + 1;
    return { line: first, wrong };
  }

  /** Where that stands, or the end of the text. */
  #find(what: string, from: number): number {
    const found = this.#text.indexOf(what, from);
    return found < 0 ? this.#text.length : found;
  }
}

function breaksIn(text: string): number {
  let breaks = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks++;
  return breaks;
}

// How the text of a cell stands in a CSV.

/** True if a cell means something else, or nothing, without quotation marks: a conflict of a merge, for one. */
const needsQuotes = (text: string): boolean => /[",\r\n]|^[\s\uFEFF]|\s$|^(?:<{7}|>{7}) /.test(text);

export const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** The cell of a text: in quotation marks where it needs them, as with one of the separators. */
export const cellOf = (text: string, ...separators: string[]): string =>
  needsQuotes(text) || separators.some((one) => text.includes(one)) ? inQuotes(text) : text;

/** The cell of a label: what may separate cells would be taken to do so there. */
export const labelOf = (text: string): string => cellOf(text, ";", "\t", "|");
