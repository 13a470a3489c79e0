import type { RowData } from "../../../platform/contract/values.ts";
import { jsonIn, entryIn } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { cellOf, inQuotes, labelOf, readCell, separationOf, unquote } from "../../../provider/seedRows/source/csv.ts";
import type { CellType } from "../../../provider/seedRows/source/source.ts";
import { EditRefusal, lineEndOf, splice, type Splice } from "./text.ts";

/** Where a record stands: its cells, and the line that it is. */
interface RecordSpan {
  start: number;
  /** Behind the last cell. */
  end: number;
  /** Behind the line end. */
  next: number;
}

/** Records that are joined at a time. */
const joined = 4_096;

/** The text of a CSV that its reader has found nothing wrong with, and where each cell stands. */
export class CsvText {
  readonly #text: string;
  readonly #labels: readonly string[];
  readonly #types: Readonly<Record<string, CellType>>;
  readonly #separator: string;
  readonly #records: RecordSpan[] = [];
  /** Place of the next quotation mark. */
  #quote = -1;

  constructor(text: string, types: Readonly<Record<string, CellType>> = {}) {
    this.#text = text;
    this.#types = types;
    const { separator, start } = separationOf(text);
    this.#separator = separator;
    for (let at = start; at < text.length;) {
      const record = this.#recordAt(at);
      if (record.end > record.start) this.#records.push(record);
      at = record.next;
    }
    const head = this.#records.at(0);
    this.#labels = head ? this.#cellsOf(head).map(({ start, end }) => unquote(text.slice(start, end))) : [];
  }

  /** Rows without the first line. */
  get count(): number {
    return Math.max(0, this.#records.length - 1);
  }

  get labels(): readonly string[] {
    return this.#labels;
  }

  /** Where a row begins. */
  startOf(index: number): number {
    return this.#records.at(index + 1)?.start ?? this.#text.length;
  }

  /** Writes a value into the cell of a row. */
  change(index: number, label: string, value: unknown): Splice {
    const record = this.#records.at(index + 1);
    const column = this.#labels.indexOf(label);
    const cell = record && this.#cellsOf(record)[column];
    if (!cell) throw new EditRefusal(this.#noColumn(label), this.startOf(index));
    const written = this.#cell(label, value, cell.start);
    const isQuoted = this.#text[cell.start] === '"';
    // An empty line would be no row.
    const isAlone = this.#labels.length === 1 && written === "";
    return { ...cell, text: isQuoted || isAlone ? inQuotes(written) : cellOf(written, this.#separator) };
  }

  /** Takes rows out, each with its line end. */
  remove(indices: readonly number[]): Splice[] {
    const removed = new Set(indices);
    let kept = this.count;
    while (kept > 0 && removed.has(kept - 1)) kept--;
    const splices = indices
      .filter((index) => index < kept)
      .flatMap((index) => {
        const record = this.#records.at(index + 1);
        return record ? [{ start: record.start, end: record.next, text: "" }] : [];
      });
    const last = this.#records.at(this.#records.length - 1);
    if (kept === this.count || !last) return splices;
    // The last row keeps the end of the file: with a line end, or without one.
    const before = this.#records.at(kept);
    const start = before && last.next === last.end ? before.end : this.startOf(kept);
    return [...splices, { start, end: last.next, text: "" }];
  }

  /** Adds rows behind the last one of this text, or of another one with the same first line. */
  add(rows: readonly RowData[], text = this.#text): Splice {
    const at = text.length;
    const lineEnd = lineEndOf(text);
    const lines = rows.map((row) => {
      const strange = Object.keys(row).find(
        (label) => !this.#labels.includes(label) && (entryIn(row, label) ?? null) !== null,
      );
      if (strange !== undefined) throw new EditRefusal(this.#noColumn(strange), at);
      const cells = this.#labels.map((label) => cellOf(this.#cell(label, entryIn(row, label), at), this.#separator));
      return cells.length === 1 && cells[0] === "" ? '""' : cells.join(this.#separator);
    });
    const isOpen = text !== "" && !text.endsWith("\n");
    const added = isOpen ? lineEnd + lines.join(lineEnd) : lines.map((line) => line + lineEnd).join("");
    return { start: at, end: at, text: added };
  }

  /** The text with other names of its columns, and with more behind them, whose cells are empty. */
  withColumns(labels: readonly string[], names: ReadonlyMap<string, string>): string {
    const head = this.#records.at(0);
    if (!head) return this.#text;
    const renamed = this.#cellsOf(head).flatMap((cell, at): Splice[] => {
      const now = names.get(this.#labels[at] ?? "");
      return now === undefined ? [] : [{ ...cell, text: labelOf(now) }];
    });
    const first =
      splice(this.#text.slice(0, head.end), renamed) + labels.map((label) => this.#separator + labelOf(label)).join("");
    if (labels.length === 0) return first + this.#text.slice(head.end);
    const empty = this.#separator.repeat(labels.length);
    const parts: string[] = [first];
    let lines: string[] = [];
    let at = head.end;
    for (let index = 1; index < this.#records.length; index++) {
      const end = this.#records.at(index)?.end ?? at;
      lines.push(this.#text.slice(at, end), empty);
      at = end;
      if (lines.length < joined) continue;
      parts.push(lines.join(""));
      lines = [];
    }
    return [...parts, ...lines, this.#text.slice(at)].join("");
  }

  #noColumn(label: string): string {
    return `the file has no column ${quote(label)}: add it to the first line`;
  }

  /** A value as the text of a cell, without quotation marks. */
  #cell(label: string, value: unknown, at: number): string {
    if (value === null || value === undefined) return "";
    const type = entryIn(this.#types, label) ?? "text";
    const isJson = type === "json" || type === "checkbox";
    const text = isJson ? JSON.stringify(value) : plainText(value);
    const read = text === undefined || text === "" ? undefined : readCell(text, type);
    const isSame = isJson ? JSON.stringify(jsonIn(text ?? "")) === text : Object.is(read, value);
    if (text === undefined || read === undefined || !isSame) {
      throw new EditRefusal(`${label} is read as ${type} (types), and can't hold this value as it is`, at);
    }
    return text;
  }

  #recordAt(start: number): RecordSpan {
    const text = this.#text;
    let end = indexOrEnd(text, "\n", start);
    if (this.#quote < start) this.#quote = indexOrEnd(text, '"', start);
    if (this.#quote < end) {
      end = start;
      for (;;) {
        end = this.#cellEnd(end);
        if (text[end] !== this.#separator) break;
        end++;
      }
    } else if (text[end - 1] === "\r" && end > start) end--;
    const next = text.startsWith("\r\n", end) ? end + 2 : Math.min(end + 1, text.length);
    return { start, end, next };
  }

  /** Behind the cell that begins there. */
  #cellEnd(start: number): number {
    const text = this.#text;
    if (text[start] === '"') {
      for (let at = start + 1; ; at += 2) {
        at = text.indexOf('"', at);
        if (at < 0) return text.length;
        if (text[at + 1] !== '"') return at + 1;
      }
    }
    let at = start;
    while (at < text.length && text[at] !== this.#separator && text[at] !== "\n" && !text.startsWith("\r\n", at)) at++;
    return at;
  }

  #cellsOf({ start, end }: RecordSpan): { start: number; end: number }[] {
    const cells = [];
    for (let at = start; ;) {
      const stop = this.#cellEnd(at);
      cells.push({ start: at, end: stop });
      if (this.#text[stop] !== this.#separator || stop >= end) return cells;
      at = stop + 1;
    }
  }
}

const plainText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;

function indexOrEnd(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found;
}
