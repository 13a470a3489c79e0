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

/** True if two splices can't both be made in one text. Insertions at one place can: they stand in the order of the edits. */
export const overlaps = (one: Splice, other: Splice): boolean =>
  one.start === one.end && other.start === other.end
    ? false
    : one.start < other.end && other.start < one.end
      ? true
      : one.start === other.start && (one.text !== "" || other.text !== "");

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
