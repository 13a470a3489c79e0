import { closeSync, fsync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { EngineError, messageOf, systemCode } from "../errors.ts";

/** Writes a file; a parameter, so that tests can simulate a full disk. */
export type WriteFile = (file: string, content: readonly Buffer[]) => Promise<void>;

/** Bytes that are on the disk before another thread has heard of them. */
const small = 65_536;
const flushed = promisify(fsync);

/**
 * Replaces a file. A reader sees the old content or the new one, also after a power cut. While a large one is on its way to
 * the disk, steps go on, and share the next write.
 */
export const writeDurably: WriteFile = async (file, content) => {
  const isLarge = content.reduce((length, piece) => length + piece.length, 0) > small;
  const temporary = temporaryName(file);
  try {
    // A killed process of the same number may have left one, as in a container that was started again.
    rmSync(temporary, { force: true });
    const handle = openSync(temporary, "wx", 0o600);
    try {
      for (const piece of content) writeFileSync(handle, piece);
      if (isLarge) await flushed(handle);
      else fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeFailure(file, error);
  }
};

// The name ends differently from what the backend lists, so that a leftover is never taken for a stack or a lock.
const temporaryName = (file: string): string =>
  path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);

function writeFailure(file: string, error: unknown): EngineError {
  const reason = systemCode(error) === "ENOSPC" ? "the disk is full" : messageOf(error);
  return new EngineError(`could not write ${file}: ${reason}`);
}
