import { ConflictError, csvTextOf, EncodingError, textOf } from "../../provider/sources/textFiles.ts";
import { EditRefusal } from "./splices.ts";

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
    if (error instanceof EncodingError || error instanceof ConflictError)
      throw new EditRefusal(`line ${error.line}: ${error.message}`);
    throw error;
  }
}

export const encode = (text: string, begin: Buffer): Buffer => {
  const bytes = Buffer.from(text);
  return begin.length === 0 ? bytes : Buffer.concat([begin, bytes]);
};
