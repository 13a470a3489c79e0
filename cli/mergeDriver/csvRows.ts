import type { Cells } from "../../provider/reconcile/merging/records.ts";
import { cellOf, inQuotes, isInQuotes, needsQuotes, unquote } from "../../provider/sources/csvCells.ts";
import { lineEndOf } from "../edits/splices.ts";
import { UnreadableRows, type RowFormat, type RowsText, type RowText } from "./rowTexts.ts";

/** A record: the text of its cells as they stand there, and its line end with the empty lines behind it. */
interface CsvLine {
  cells: string[];
  end: string;
}

/** Cells of rows as they stand there, so that they are found once. */
const written = new WeakMap<RowText, readonly string[]>();

/** Merges of CSV files. */
export const csvFormat: RowFormat = {
  comma: "",
  parse: parseCsv,
  writeHead: (like, columns = []) => {
    const known = like.columns ?? [];
    if (isSameList(known, columns)) return like.head;
    const { mark, cells } = headOf(like);
    const isQuoted = cells.length > 0 && cells.every(isInQuotes);
    const labels = columns.map((label) => cells[known.indexOf(label)] ?? quote(label, isQuoted));
    const [end = lineEndOf(like.head)] = /(\r?\n)+$/.exec(like.head) ?? [];
    return `${mark}${labels.join(",")}${end}`;
  },
  writeChanged: (like, row, cells, columns = []) => {
    const known = like.columns ?? [];
    const raw = written.get(row) ?? [];
    return line(
      columns.map((label) => {
        const before = raw[known.indexOf(label)];
        const value = textOf(cells[label]);
        return before !== undefined && textOf(row.cells[label]) === value
          ? before
          : quote(value, before === undefined ? isQuotedColumn(like, label) : isInQuotes(before));
      }),
    );
  },
  writeNew: (like, row, columns = []) =>
    line(columns.map((label) => quote(textOf(row.cells[label]), isQuotedColumn(like, label)))),
};

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((label, index) => label === other[index]);

function headOf({ head }: RowsText): { mark: string; cells: string[] } {
  const mark = head.startsWith("\uFEFF") ? "\uFEFF" : "";
  return { mark, cells: linesOf(head.slice(mark.length))[0]?.cells ?? [] };
}

/** True if a column's cells stand in quotation marks also where they needn't, as in its first row. */
function isQuotedColumn({ rows, columns = [] }: RowsText, label: string): boolean {
  const cell = rows[0] && written.get(rows[0])?.[columns.indexOf(label)];
  return cell !== undefined && isInQuotes(cell) && !needsQuotes(unquote(cell));
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const quote = (text: string, always: boolean): string => (always && text !== "" ? inQuotes(text) : cellOf(text));

/** A line of one empty cell would be no row. */
const line = (cells: readonly string[]): string => (cells.join(",") === "" ? '""' : cells.join(","));

function parseCsv(text: string): RowsText {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const [first, ...lines] = linesOf(text.slice(mark.length));
  const separator = lineEndOf(text);
  if (!first) return { columns: [], head: mark, rows: [], tail: separator, separator };
  const columns = first.cells.map(unquote);
  const twice = columns.find((label, index) => ["", "__proto__"].includes(label) || columns.indexOf(label) < index);
  if (twice !== undefined) throw new UnreadableRows("has a first line with an empty label, or one that stands twice");
  const rows: RowText[] = [];
  let lead = "";
  for (const { cells, end } of lines) {
    if (cells.length !== columns.length)
      throw new UnreadableRows("has a row with another number of cells than the first line");
    const row = { cells: valuesOf(columns, cells), raw: cells.join(","), lead };
    written.set(row, cells);
    rows.push(row);
    lead = end;
  }
  const head = mark + first.cells.join(",") + first.end;
  return { columns, head, rows, tail: lines.length > 0 ? lead : "", separator };
}

function valuesOf(columns: readonly string[], cells: readonly string[]): Cells {
  const values: Record<string, string> = {};
  columns.forEach((label, index) => (values[label] = unquote(cells[index] ?? "")));
  return values;
}

const cellPattern = /"(?:[^"]|"")*"|[^",\r\n]*/y;
const endPattern = /(?:\r?\n)+/y;

function linesOf(text: string): CsvLine[] {
  const lines: CsvLine[] = [];
  endPattern.lastIndex = 0;
  let at = endPattern.test(text) ? endPattern.lastIndex : 0;
  while (at < text.length) {
    const cells: string[] = [];
    for (;;) {
      cellPattern.lastIndex = at;
      const cell = cellPattern.exec(text)?.[0] ?? "";
      cells.push(cell);
      at += cell.length;
      if (text[at] !== ",") break;
      at++;
    }
    endPattern.lastIndex = at;
    const [end = ""] = endPattern.exec(text) ?? [];
    if (end === "" && at < text.length) {
      throw new UnreadableRows("has a quotation mark, or a line end, where a CSV has none");
    }
    lines.push({ cells, end });
    at += end.length;
  }
  return lines;
}
