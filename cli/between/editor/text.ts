import type { RowData } from "../../../platform/contract/values.ts";
import { type Source, csvTextOf, TextError, textOf } from "../../../provider/seedRows/source/source.ts";

/** A step on the way to a value: a key of a map; or the item of a list that has these values, or stands there. */
export type EditStep = string | { where: RowData } | { at: number };

/** Changes a value of a YAML or JSON file. */
export interface ValueFileEdit {
  kind: "value";
  file: string;
  /** Maps that are missing on the way to what is set are made. */
  path: readonly EditStep[];
  /** `append` adds to the list at the path, which is made where it is missing. */
  do: "set" | "remove" | "append";
  value?: unknown;
  /** With `remove`: takes out as well what holds nothing then. */
  prune?: boolean;
}

export const valueEdit = (
  verb: ValueFileEdit["do"],
  file: string,
  path: readonly EditStep[],
  value?: unknown,
): ValueFileEdit => ({ kind: "value", do: verb, file, path, value });

/** Changes a row of a seed's file. */
export interface RowFileEdit {
  kind: "row";
  /** The seed's source, with its key and types. */
  source: Source & { source: string; key: readonly string[] };
  do: "change" | "remove" | "add";
  /** The values of the key, as the file has them; of an added row all values. */
  row: RowData;
  /** With `change`: the new values by label; undefined takes a label out (in a CSV its cell becomes empty). */
  values?: RowData;
}

/** Adds an empty column to a CSV, behind the others; or gives one another name. */
export interface ColumnFileEdit {
  kind: "column";
  file: string;
  /** That of the seed, where it says one. */
  delimiter?: Source["delimiter"];
  /** A column to be added that is there already stays. */
  label: string;
  now?: string;
}

/** A part of a text and the text that comes in its place. */
export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** A reason why an edit is not made, to stand after the place. */
export class EditRefusal extends Error {
  override readonly name = "EditRefusal";
  /** Characters before the place; undefined where it is the whole file. */
  readonly offset: number | undefined;
  constructor(reason: string, offset?: number) {
    super(reason);
    this.offset = offset;
  }
}

/** Makes splices that don't overlap. */
export function splice(text: string, splices: readonly Splice[]): string {
  let [result, at] = ["", 0];
  for (const { start, end, text: inserted } of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) throw new Error("two splices overlap");
    result += text.slice(at, start) + inserted;
    at = end;
  }
  return result + text.slice(at);
}

/** The line end that a text has most likely chosen: that of its first line. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const end = text.indexOf("\n");
  return end > 0 && text[end - 1] === "\r" ? "\r\n" : "\n";
}

/** Where the line of a place begins. */
export const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** Where the line after that of a place begins, or the end of the text. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

/** Line and column of a place, from 1. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

const mark = Buffer.from("\uFEFF");

/**
 * The text of a file, and the mark that begins it. Throws an EditRefusal where it is no text, or holds a conflict: of a CSV
 * its reader has found that.
 */
export function decode(bytes: Buffer, isCsv = false): { text: string; mark: Buffer } {
  try {
    const isMarked = bytes.subarray(0, mark.length).equals(mark);
    return { text: isCsv ? csvTextOf(bytes) : textOf(bytes), mark: isMarked ? mark : Buffer.alloc(0) };
  } catch (error) {
    if (error instanceof TextError) throw new EditRefusal(`line ${error.line}: ${error.message}`);
    throw error;
  }
}

export const encode = (text: string, begin: Buffer): Buffer => {
  const bytes = Buffer.from(text);
  return begin.length === 0 ? bytes : Buffer.concat([begin, bytes]);
};
