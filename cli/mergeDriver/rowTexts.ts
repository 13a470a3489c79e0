import type { Cells } from "../../provider/reconcile/merging/records.ts";
import { lineEndOf } from "../edits/splices.ts";

/** A row of a file as it stands there. */
export interface RowText {
  cells: Cells;
  /** Its text, without what parts it from the rows beside it. */
  raw: string;
  /** The text between it and the row before; empty for the first row. */
  lead: string;
}

/** The text of a file of rows, part by part: nothing of it is lost. */
export interface RowsText {
  /** Labels in the order of the first line; undefined where each row has its own. */
  columns: readonly string[] | undefined;
  /** Everything before the first row. */
  head: string;
  rows: readonly RowText[];
  /** Everything after the last row. */
  tail: string;
  /** The text between two rows that have none of their own. */
  separator: string;
}

/** How rows of one format are read and written. */
export interface RowFormat {
  /** Reads a text. Throws an UnreadableRows. */
  parse: (text: string) => RowsText;
  /** The text before the first row, with these columns. */
  writeHead: (like: RowsText, columns: readonly string[] | undefined) => string;
  /** The row with other cells: those that stay as they are keep their text. */
  writeChanged: (like: RowsText, row: RowText, cells: Cells, columns: readonly string[] | undefined) => string;
  /** A row of another text, written as this one is. */
  writeNew: (like: RowsText, row: RowText, columns: readonly string[] | undefined) => string;
  /** The mark between two rows, besides white space. */
  comma: string;
}

/** Why a text is not merged by its rows, to stand after the name of the file. */
export class UnreadableRows extends Error {
  override readonly name = "UnreadableRows";
}

/** A row of the outcome: one text, or two that a person chooses from. */
export type MergedRow = { raw: string; lead?: string } | { ours: string | undefined; theirs: string | undefined };

/** Marks of a conflict as Git writes them. */
export interface Marks {
  size: number;
  ours: string;
  theirs: string;
}

/** Writes the rows of a merge: a conflict stands on lines of its own. */
export function composeRows(
  like: RowsText,
  { comma }: RowFormat,
  head: string,
  rows: readonly MergedRow[],
  marks: Marks,
): string {
  const lineEnd = lineEndOf(head + like.separator + like.tail);
  const margin = /[^\n]*$/.exec(like.separator)?.[0].replace(comma, "") ?? "";
  const parts: string[] = [head];
  let isAfterConflict = false as boolean;
  rows.forEach((row, index) => {
    const isLast = index === rows.length - 1;
    if ("raw" in row) {
      // The comma of a conflict stands in it, and its last line is ended.
      if (index > 0 && !isAfterConflict) parts.push(row.lead || like.separator);
      else if (isAfterConflict) parts.push(margin);
      parts.push(row.raw);
      isAfterConflict = false;
      return;
    }
    if (index > 0 && !isAfterConflict) parts.push(comma, lineEnd);
    else if (index === 0 && !/(^|\n)[^\S\n]*$/.test(head)) parts.push(lineEnd);
    else if (index === 0) parts[0] = head.replace(/[^\S\n]*$/, "");
    const side = (text: string | undefined): string =>
      text === undefined ? "" : `${margin}${text}${isLast ? "" : comma}${lineEnd}`;
    const mark = (sign: string, label: string): string => `${sign.repeat(marks.size)}${label}${lineEnd}`;
    parts.push(
      mark("<", ` ${marks.ours}`),
      side(row.ours),
      mark("=", ""),
      side(row.theirs),
      mark(">", ` ${marks.theirs}`),
    );
    isAfterConflict = true;
  });
  parts.push(isAfterConflict ? like.tail.replace(/^\r?\n/, "") : like.tail);
  return parts.join("");
}
