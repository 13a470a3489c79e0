import { isConflictAt } from "../../files/files.ts";
import { ConflictError, type Lines } from "./textFiles.ts";

/** A record of a CSV, or why there is none. `line` is the one on which it begins. */
export type CsvRecord = { line: number; cells: string[] } | { line: number; wrong: string };

/** Stands in the place of a record that nobody takes. */
export const passedOver: CsvRecord = { line: 0, cells: [] };

/** True for the place of a record, from 0, whose cells somebody takes. */
export type Takes = (at: number) => boolean;

/** Longest record, in characters: one that is longer has a quotation mark that nobody closed. */
export const maxCharactersOfRecord = 16 * 1024 * 1024;

const unclosed = "a quotation mark is opened here and never closed";
const loneReturn = "a line ends in CR alone: save the file with LF or CRLF, or quote the cell that holds it";

/**
 * The records of a CSV as RFC 4180 has them, in blocks: commas, cells in quotation marks where they hold commas, line
 * breaks or (doubled) quotation marks, LF or CRLF. Empty lines are no records. What is wrong with a record stands in
 * its place, and the next ones follow. A million rows are read several times in a run, and csv-parse, which the tests
 * hold this against, takes fourteen times as long. Throws a ConflictError.
 */
export async function* csvRecords(
  blocks: AsyncIterable<Lines>,
  longest = maxCharactersOfRecord,
  takes: Takes = () => true,
): AsyncGenerator<CsvRecord[]> {
  let before = 0;
  let rest: Lines | undefined;
  for await (const block of blocks) {
    const lines: Lines = rest ? { first: rest.first, text: rest.text + block.text } : block;
    const parser = new Parser(lines);
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
  #at = 0;
  #line: number;
  /** Place of the next quotation mark. */
  #quote: number;

  constructor({ first, text }: Lines) {
    this.#text = text;
    this.#line = first;
    this.#quote = this.#find('"', 0);
  }

  records(takes: Takes): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#at < this.#text.length) {
      // Within a cell in quotation marks such a line is text.
      if (isConflictAt(this.#text, this.#at)) throw new ConflictError(this.#line);
      const end = this.#find("\n", this.#at);
      if (this.#quote < this.#at) this.#quote = this.#find('"', this.#at);
      if (this.#quote >= end) {
        const last = this.#text[end - 1] === "\r" ? end - 1 : end;
        if (last > this.#at) records.push(takes(records.length) ? this.#plain(last) : passedOver);
        this.#at = end + 1;
        this.#line++;
        continue;
      }
      const record = takes(records.length) ? this.#quoted(end) : this.#passed();
      if (!record) break;
      records.push(record);
    }
    return records;
  }

  /** A record without quotation marks, to its end. */
  #plain(end: number): CsvRecord {
    const text = this.#text.slice(this.#at, end);
    if (text.includes("\r")) return { line: this.#line, wrong: loneReturn };
    return { line: this.#line, cells: text.split(",") };
  }

  /** Passes a record with quotation marks; undefined when it does not end in this text. */
  #passed(): CsvRecord | undefined {
    const text = this.#text;
    let at = this.#at;
    let line = this.#line;
    for (;;) {
      const end = this.#find("\n", at);
      const opened = text.indexOf('"', at);
      if (opened < 0 || opened >= end) {
        this.#at = end + 1;
        this.#line = line + 1;
        return passedOver;
      }
      const closed = text.indexOf('"', opened + 1);
      if (closed < 0) return undefined;
      if (closed > end) line += breaksIn(text.slice(end, closed));
      at = closed + 1;
    }
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
        const comma = text.indexOf(",", at);
        const end = comma < 0 || comma > lineEnd ? lineEnd : comma;
        cell = text.slice(at, text[end] !== "," && text[end - 1] === "\r" ? end - 1 : end);
        at = end;
        if (cell.includes("\r")) return this.#wrong(at, line, loneReturn);
        if (cell.includes('"')) {
          return this.#wrong(at, line, "quote the whole cell, and double the quotation marks in it");
        }
      }
      cells.push(cell);
      if (text.startsWith("\r\n", at)) at++;
      if (text[at] === ",") at++;
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
