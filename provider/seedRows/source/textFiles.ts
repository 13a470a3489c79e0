import { isUtf8 } from "node:buffer";
import { conflict, findConflict } from "../../files/files.ts";

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
        "holds a NUL character, so it is no text in UTF-8: save the file in that encoding",
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
