import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, messageOf, systemCode } from "../errors.ts";

/** Writes a file; a parameter, so that tests can simulate a full disk. */
export type WriteFile = (file: string, text: string) => Promise<void>;

/** Writes synchronously: a detour through the thread pool takes longer than writing a state of usual size. */
export const writeDurably: WriteFile = (file, text) => {
  writeAtomically(file, text);
  return Promise.resolve();
};

/** Replaces a file. A reader sees the old content or the new one, also after a power cut. */
export function writeAtomically(file: string, text: string): void {
  const temporary = temporaryName(file);
  try {
    const handle = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeFailure(file, error);
  }
}

/** Replaces a file whose text was `before`, which stays beside it as `.bak`. */
export function replaceKeeping(file: string, before: string, after: string): void {
  writeAtomically(`${file}.bak`, before);
  writeAtomically(file, after);
}

// The name ends differently from what the backend lists, so that a leftover is never taken for a stack or a lock.
const temporaryName = (file: string): string =>
  path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);

function writeFailure(file: string, error: unknown): EngineError {
  const reason = systemCode(error) === "ENOSPC" ? "the disk is full" : messageOf(error);
  return new EngineError(`could not write ${file}: ${reason}`);
}
