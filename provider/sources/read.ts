import { assertInTime } from "../files/deadline.ts";
import { FileRefusal, maxMegabytesOfRows, openFile } from "../files/files.ts";
import { csvRows } from "./csvRows.ts";
import { editRows } from "./editedRows.ts";
import { hasEdits } from "./edits.ts";
import { formatOf, explainRefusedFormat } from "./formats.ts";
import { jsonRows, ndjsonRows } from "./jsonRows.ts";
import { placeOf, type Reading, type Refuse, type Source, type SourceRow, type Wrong } from "./source.ts";
import { ConflictError, EncodingError, textOf } from "./textFiles.ts";
import { yamlRows } from "./yamlRows.ts";

/** Something wrong with a source, in one sentence with file, line and remedy. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/**
 * The rows of a source, in blocks; a file is streamed where its format allows it. The first row that can't be read ends
 * it with a SourceError, unless `wrong` takes the mistakes; what makes the whole file unreadable always does.
 */
export async function* read(source: Source, directory: string, wrong?: Wrong): AsyncGenerator<SourceRow[]> {
  const refuse: Refuse = (line, reason, column) => {
    throw new SourceError(`${placeOf(source, line, column)}: ${reason}`);
  };
  const reading: Reading = { source, refuse, wrong: wrong ?? (({ line, text, column }) => refuse(line, text, column)) };
  yield* hasEdits(source) ? editRows(reading, unedited(reading, directory)) : unedited(reading, directory);
}

/** The rows as they stand in the source. */
async function* unedited(reading: Reading, directory: string): AsyncGenerator<SourceRow[]> {
  const { source: declared } = reading;
  const { rows, source } = declared;
  if (source === undefined) {
    yield (rows ?? []).map((values, index) => ({ line: index + 1, values }));
    return;
  }
  const format = formatOf(source);
  const streamed = [".csv", ".ndjson", ".jsonl"].includes(format);
  try {
    const file = await openFile(directory, source, streamed ? Infinity : maxMegabytesOfRows);
    try {
      const refusal = explainRefusedFormat(source);
      if (refusal !== undefined) throw new SourceError(`${source} ${refusal}`);
      if (format === ".csv") yield* inTime(csvRows(reading, file));
      else if (streamed) yield* inTime(ndjsonRows(reading, file));
      else if (format === ".json") yield await jsonRows(reading, await textOf(file));
      else yield await yamlRows(reading, await textOf(file));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileRefusal) throw new SourceError(`${source} can't be read: ${error.message}`);
    if (isSystemError(error)) throw new SourceError(`${source} can't be read: ${reasonOf(error)}`);
    if (error instanceof EncodingError || error instanceof ConflictError)
      throw new SourceError(`${placeOf(declared, error.line)}: ${error.message}`);
    throw error;
  }
}

async function* inTime(blocks: AsyncIterable<SourceRow[]>): AsyncGenerator<SourceRow[]> {
  for await (const block of blocks) {
    assertInTime();
    yield block;
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT" ? "there is no such file; correct source" : message;
