import type { FileHandle } from "node:fs/promises";
import { assertInTime, FileRefusal, maxMegabytesOfRows, openFile } from "../../files/files.ts";
import { csvRows } from "./csvRows.ts";
import { editRows } from "./editedRows.ts";
import { hasEdits } from "./edits.ts";
import { formatOf, explainRefusedFormat } from "./formats.ts";
import { jsonRows, ndjsonRows } from "./jsonRows.ts";
import { placeOf, type Reading, type Refuse, type Source, type SourceRow, type Wrong } from "./source.ts";
import { ConflictError, EncodingError, LongLineError, textOf, type Chunks } from "./textFiles.ts";
import { yamlRows } from "./yamlRows.ts";

/** Bytes of a file that are read at a time. */
const chunkSize = 64 * 1024;

/** Something wrong with a source, in one sentence with file, line and remedy. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/**
 * The rows of a source, in blocks; a file is streamed where its format allows it. The first row that can't be read ends
 * it with a SourceError, unless `wrong` takes the mistakes; what makes the whole file unreadable always does.
 * @param takes true for the place of a row that is needed, of a source that was read before: of a long file the others
 * may come without line and values
 */
export async function* read(
  source: Source,
  directory: string,
  wrong?: Wrong,
  takes?: Reading["takes"],
): AsyncGenerator<SourceRow[]> {
  const refuse: Refuse = (line, reason, column) => {
    throw new SourceError(`${placeOf(source, line, column)}: ${reason}`);
  };
  const reading: Reading = { source, refuse, wrong: wrong ?? (({ line, text, column }) => refuse(line, text, column)) };
  // An edit is found by the key of its row.
  yield* hasEdits(source)
    ? editRows(reading, unedited(reading, directory))
    : unedited({ ...reading, takes }, directory);
}

/** The rows that a file of these bytes would have, as they stand in it. Throws a SourceError. */
export async function* readBlocks(source: Source & { source: string }, bytes: Buffer): AsyncGenerator<SourceRow[]> {
  const refuse: Refuse = (line, reason, column) => {
    throw new SourceError(`${placeOf(source, line, column)}: ${reason}`);
  };
  const reading: Reading = { source, refuse, wrong: ({ line, text, column }) => refuse(line, text, column) };
  try {
    yield* rowsIn(reading, source.source, { chunks: slicesOf(bytes), whole: () => bytes });
  } catch (error) {
    if (isWrongText(error)) refuse(error.line, error.message);
    throw error;
  }
}

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
}

/** The bytes of a file: streamed, or as a whole where its format can't be streamed. */
interface Bytes {
  chunks: Chunks;
  whole: () => Buffer | Promise<Buffer>;
}

async function* rowsIn(reading: Reading, source: string, bytes: Bytes): AsyncGenerator<SourceRow[]> {
  const refusal = explainRefusedFormat(source);
  if (refusal !== undefined) throw new SourceError(`${source} ${refusal}`);
  const format = formatOf(source);
  if (format === ".csv") yield* inTime(csvRows(reading, bytes.chunks));
  else if (isStreamed(format)) yield* inTime(ndjsonRows(reading, bytes.chunks));
  else if (format === ".json") yield await jsonRows(reading, textOf(await bytes.whole()));
  else yield await yamlRows(reading, textOf(await bytes.whole()));
}

const isStreamed = (format: string): boolean => [".csv", ".ndjson", ".jsonl"].includes(format);

/** The rows as they stand in the source. */
async function* unedited(reading: Reading, directory: string): AsyncGenerator<SourceRow[]> {
  const { source: declared } = reading;
  const { rows, source } = declared;
  if (source === undefined) {
    yield (rows ?? []).map((values, index) => ({ line: index + 1, values }));
    return;
  }
  try {
    const file = await openFile(directory, source, isStreamed(formatOf(source)) ? Infinity : maxMegabytesOfRows);
    try {
      yield* rowsIn(reading, source, { chunks: chunksOf(file), whole: () => file.readFile() });
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileRefusal) throw new SourceError(`${source} can't be read: ${error.message}`);
    if (isSystemError(error)) throw new SourceError(`${source} can't be read: ${reasonOf(error)}`);
    if (isWrongText(error)) throw new SourceError(`${placeOf(declared, error.line)}: ${error.message}`);
    throw error;
  }
}

async function* inTime(blocks: AsyncIterable<SourceRow[]>): AsyncGenerator<SourceRow[]> {
  for await (const block of blocks) {
    assertInTime();
    yield block;
  }
}

/** A stream begins to read when it is made, so it is made when somebody asks. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for await (const chunk of file.createReadStream({ highWaterMark: chunkSize })) yield chunk as Buffer; // it has no encoding
}

const isWrongText = (error: unknown): error is EncodingError | ConflictError | LongLineError =>
  [EncodingError, ConflictError, LongLineError].some((kind) => error instanceof kind);

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT" ? "there is no such file; correct source" : message;
