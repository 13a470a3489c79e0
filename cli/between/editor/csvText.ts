import type { RowData } from "../../../platform/contract/values.ts";
import { entryIn, jsonIn } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import {
  cellOf,
  csvRecords,
  inQuotes,
  labelOf,
  readCell,
  separationOf,
} from "../../../provider/seedRows/source/csv.ts";
import type { CellType, Source } from "../../../provider/seedRows/source/source.ts";
import { EditRefusal, lineEndOf, splice, type Splice } from "./text.ts";

/** Where a record stands: to the end of its last cell, and to the end of its line. */
interface RecordSpan {
  start: number;
  end: number;
  next: number;
}

/** The text of a CSV, and where each record of it stands. */
export class CsvText {
  readonly #text: string;
  readonly #types: Readonly<Record<string, CellType>>;
  readonly #separator: string;
  readonly #records: RecordSpan[] = [];
  /** Cells of the first line and of the rows that are changed, as they are read. */
  readonly #cells = new Map<number, readonly string[]>();

  private constructor(text: string, { types = {}, delimiter }: Pick<Source, "types" | "delimiter">) {
    this.#text = text;
    this.#types = types;
    this.#separator = separationOf(text, delimiter).separator;
  }

  /** @param changed indices of the rows whose cells are to be changed */
  static async of(
    text: string,
    source: Pick<Source, "types" | "delimiter"> = {},
    changed: ReadonlyMap<number, unknown> = new Map(),
  ): Promise<CsvText> {
    const csv = new CsvText(text, source);
    let [line, start] = [1, 0];
    for await (const records of csvRecords([{ first: 1, text }], source)) {
      for (const record of records) {
        if ("wrong" in record) throw new EditRefusal(record.wrong, start);
        for (; line < record.line; line++) start = text.indexOf("\n", start) + 1;
        const { length } = csv.#records;
        if (length === 0 || changed.has(length - 1)) csv.#cells.set(length, record.cells);
        const end = csv.#placesOf(record.cells, start).at(-1)?.end ?? start;
        csv.#records.push({ start, end, next: text.indexOf("\n", end) + 1 || text.length });
      }
    }
    return csv;
  }

  /** Cells stand as they are read, or in quotation marks. */
  #placesOf(cells: readonly string[], start: number): { start: number; end: number }[] {
    let at = start;
    return cells.map((cell) => {
      const from = at;
      const end = from + (this.#text[from] === '"' ? inQuotes(cell) : cell).length;
      at = end + this.#separator.length;
      return { start: from, end };
    });
  }

  get labels(): readonly string[] {
    return this.#cells.get(0) ?? [];
  }

  /** Writes a value into the cell of a row. */
  change(index: number, label: string, value: unknown): Splice {
    const { start } = this.#records[index + 1] ?? { start: this.#text.length };
    const place = this.#placesOf(this.#cells.get(index + 1) ?? [], start)[this.labels.indexOf(label)];
    if (!place) throw new EditRefusal(this.#noColumn(label), start);
    const written = this.#written(label, value, place.start);
    // An empty line would be no row.
    const isQuoted = this.#text[place.start] === '"' || (this.labels.length === 1 && written === "");
    return { ...place, text: isQuoted ? inQuotes(written) : cellOf(written, this.#separator) };
  }

  /** Takes rows out, each with its line end. */
  remove(indices: Iterable<number>): Splice[] {
    const removed = new Set(indices);
    const last = this.#records.length - 1;
    let kept = last;
    while (kept > 0 && removed.has(kept - 1)) kept--;
    const splices = [...removed].flatMap((index) => {
      const record = this.#records[index + 1];
      return record && index < kept ? [{ start: record.start, end: record.next, text: "" }] : [];
    });
    const [before, first, end] = [this.#records[kept], this.#records[kept + 1], this.#records[last]];
    if (!before || !first || !end) return splices;
    // The last row keeps the end of the file: with a line end, or without one.
    return [...splices, { start: end.next === end.end ? before.end : first.start, end: end.next, text: "" }];
  }

  /** A row as a line. */
  line(row: RowData): string {
    const at = this.#text.length;
    const strange = Object.keys(row).find(
      (label) => !this.labels.includes(label) && (entryIn(row, label) ?? null) !== null,
    );
    if (strange !== undefined) throw new EditRefusal(this.#noColumn(strange), at);
    const cells = this.labels.map((label) => cellOf(this.#written(label, entryIn(row, label), at), this.#separator));
    return cells.length === 1 && cells[0] === "" ? '""' : cells.join(this.#separator);
  }

  /** The text with other names of its columns, and with more behind them, whose cells are empty. */
  withColumns(added: readonly string[], names: ReadonlyMap<string, string>): string {
    const [head] = this.#records;
    const places = this.#placesOf(this.labels, head?.start ?? 0);
    const renamed = places.flatMap((place, at): Splice[] => {
      const now = names.get(this.labels[at] ?? "");
      return now === undefined ? [] : [{ ...place, text: labelOf(now) }];
    });
    const more = this.#records.map(({ end }, at): Splice => {
      const cells = added.map((label) => this.#separator + (at === 0 ? labelOf(label) : ""));
      return { start: end, end, text: cells.join("") };
    });
    return splice(this.#text, [...renamed, ...more]);
  }

  #noColumn(label: string): string {
    return `the file has no column ${quote(label)}: add it to the first line`;
  }

  /** A value as the text of a cell, without quotation marks. */
  #written(label: string, value: unknown, at: number): string {
    if (value === null || value === undefined) return "";
    const type = entryIn(this.#types, label) ?? "text";
    const isJson = type === "json" || type === "checkbox";
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    const text = isJson ? JSON.stringify(value) : isPlain ? String(value) : undefined;
    const read = text === undefined || text === "" ? undefined : readCell(text, type);
    const isSame = isJson ? JSON.stringify(jsonIn(text ?? "")) === text : Object.is(read, value);
    if (text === undefined || read === undefined || !isSame)
      throw new EditRefusal(`${label} is read as ${type} (types), and can't hold this value as it is`, at);
    if (text.includes("\0") || !text.isWellFormed())
      throw new EditRefusal(`${label} would hold a character that no CSV can: keep these rows in NDJSON`, at);
    return text;
  }
}

/** Adds lines at the end of a text, which keeps its last line end, or has none. */
export function withLines(text: string, lines: readonly string[]): string {
  const lineEnd = lineEndOf(text);
  const isOpen = text !== "" && !text.endsWith("\n");
  if (lines.length === 0) return text;
  return isOpen ? [text, ...lines].join(lineEnd) : text + lines.map((line) => line + lineEnd).join("");
}
