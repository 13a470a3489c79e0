import type { Lines } from "./textFiles.ts";

/** A record of a CSV, or why there is none. `line` is the one on which it begins. */
export type CsvRecord = { line: number; cells: string[] } | { line: number; wrong: string };

/** Longest record, in characters: one that is longer has a quotation mark that nobody closed. */
export const maxCharactersOfRecord = 16 * 1024 * 1024;

const unclosed = "a quotation mark is opened here and never closed";
const loneReturn = "a line ends in CR alone: save the file with LF or CRLF, or quote the cell that holds it";

/**
 * The records of a CSV as RFC 4180 has them, in blocks: commas, cells in quotation marks where they hold commas, line
 * breaks or (doubled) quotation marks, LF or CRLF. Empty lines are no records. What is wrong with a record stands in
 * its place, and the next ones follow. A million rows are read several times in a run, and csv-parse, which the tests
 * hold this against, takes fourteen times as long.
 */
export async function* csvRecords(
  blocks: AsyncIterable<Lines>,
  longest = maxCharactersOfRecord,
): AsyncGenerator<CsvRecord[]> {
  let rest: Lines | undefined;
  for await (const block of blocks) {
    const lines: Lines = rest ? { first: rest.first, text: rest.text + block.text } : block;
    const parser = new Parser(lines);
    const records = parser.records();
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

  records(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#at < this.#text.length) {
      const end = this.#find("\n", this.#at);
      const line = this.#line;
      if (this.#quote < this.#at) this.#quote = this.#find('"', this.#at);
      if (this.#quote >= end) {
        const text = this.#text.slice(this.#at, this.#text[end - 1] === "\r" ? end - 1 : end);
        if (text.includes("\r")) records.push({ line, wrong: loneReturn });
        else if (text !== "") records.push({ line, cells: text.split(",") });
        this.#at = end + 1;
        this.#line++;
        continue;
      }
      const record = this.#quoted();
      if (!record) break;
      records.push({ line, ...record });
    }
    return records;
  }

  /** The beginning of a record that ends in a later block. */
  rest(): Lines | undefined {
    return this.#at < this.#text.length ? { first: this.#line, text: this.#text.slice(this.#at) } : undefined;
  }

  /** A record with quotation marks; undefined when it does not end in this text. */
  #quoted(): { cells: string[] } | { wrong: string } | undefined {
    const text = this.#text;
    const cells: string[] = [];
    let at = this.#at;
    let line = this.#line;
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
        const end = Math.min(this.#find(",", at), this.#find("\n", at));
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
    return { cells };
  }

  /** Goes on after the line on which something is wrong. */
  #wrong(at: number, line: number, wrong: string): { wrong: string } {
    this.#at = this.#find("\n", at) + 1;
    this.#line = line + 1;
    return { wrong };
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
