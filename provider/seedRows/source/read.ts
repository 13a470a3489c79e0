import type { FileHandle } from "node:fs/promises";
import type { RowData } from "../../../platform/contract/values.ts";
import { FileRefusal, maxMegabytesOfRows, openFile, assertInTime } from "../../files/files.ts";
import { keyText } from "../digests.ts";
import { csvRows } from "./csv.ts";
import { jsonRows, ndjsonRows, yamlRows } from "./documents.ts";
import {
  hasEdits,
  formatOf,
  explainRefusedFormat,
  placeOf,
  editAt,
  firstLines,
  type Reading,
  type Refuse,
  type Source,
  type SourceRow,
  type Wrong,
  type List,
  TextError,
  textOf,
  type Chunks,
} from "./source.ts";

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
  const reading = readingOf(source, wrong);
  // An edit is found by the key of its row.
  yield* hasEdits(source)
    ? editRows(reading, unedited(reading, directory))
    : unedited({ ...reading, takes }, directory);
}

function readingOf(source: Source, wrong?: Wrong): Reading {
  const refuse: Refuse = (line, reason, column) => {
    throw new SourceError(`${placeOf(source, line, column)}: ${reason}`);
  };
  return { source, refuse, wrong: wrong ?? (({ line, text, column }) => refuse(line, text, column)) };
}

/** Shows the rows of a source one by one, each with its index, until `see` answers true. */
export async function seeRows(
  source: Source,
  directory: string,
  see: (row: SourceRow, index: number) => unknown,
): Promise<void> {
  let index = 0;
  for await (const block of read(source, directory)) for (const row of block) if (see(row, index++) === true) return;
}

/** The rows that a file of these bytes would have, as they stand in it. Throws a SourceError. */
export async function* readBlocks(source: Source & { source: string }, bytes: Buffer): AsyncGenerator<SourceRow[]> {
  const reading = readingOf(source);
  try {
    yield* rowsIn(reading, source.source, { chunks: slicesOf(bytes), whole: () => bytes });
  } catch (error) {
    if (error instanceof TextError) return reading.refuse(error.line, error.message);
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
    if (error instanceof TextError) return reading.refuse(error.line, error.message);
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

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ENOENT" ? "there is no such file; correct source" : message;

interface Edit {
  line: number;
  row?: RowData;
  isMet: boolean;
}

/** Edits by the natural key of their rows. What is wrong with them is reported when the source has been read. */
class Edits {
  readonly #labels: readonly string[];
  readonly #reading: Reading;
  readonly #byKey: Record<List, Map<string, Edit>> = { additions: new Map(), changes: new Map(), removals: new Map() };

  constructor(reading: Reading, labels: readonly string[]) {
    const { additions = [], changes = [], removals = [] } = reading.source;
    this.#labels = labels;
    this.#reading = reading;
    removals.forEach((removal, at) => {
      const key = this.#keyOf(Array.isArray(removal) ? (removal as readonly unknown[]) : [removal]);
      this.#take("removals", at, key);
    });
    for (const [list, rows] of [["changes", changes] as const, ["additions", additions] as const]) {
      rows.forEach((row, at) => this.#take(list, at, this.#keyIn(row), row));
    }
  }

  #take(list: List, at: number, key: string | undefined, row?: RowData): void {
    const line = firstLines[list] + at;
    const same = this.#byKey[list];
    const other = key === undefined ? undefined : (same.get(key) ?? this.#contrary(list, key));
    if (key === undefined) {
      // Added rows are validated like any others.
      if (list !== "additions")
        this.#reading.wrong({ line, text: `names no row: give it ${this.#labels.join(" and ")}` });
    } else if (other) {
      const text = `the row${this.#named(key)} stands at ${editAt(other.line) ?? ""} already: remove one of the two`;
      this.#reading.wrong({ line, text });
    } else same.set(key, { line, ...(row && { row }), isMet: false });
  }

  /** Returns the removal that contradicts a change of the same row. */
  #contrary(list: List, key: string): Edit | undefined {
    return list === "changes" ? this.#byKey.removals.get(key) : undefined;
  }

  /** The row as the seed has it; undefined when it has it not. */
  apply(row: SourceRow): SourceRow | undefined {
    const key = this.#keyIn(row.values);
    if (key === undefined) return row;
    const removal = this.#byKey.removals.get(key);
    if (removal) {
      removal.isMet = true;
      return undefined;
    }
    const added = this.#byKey.additions.get(key);
    if (added && !added.isMet) {
      const text = `the row${this.#named(key)} stands here, and ${editAt(added.line) ?? ""} adds it: change it there, or remove it first`;
      this.#reading.wrong({ line: row.line, text });
      added.isMet = true;
      return row;
    }
    const change = this.#byKey.changes.get(key);
    if (!change) return row;
    change.isMet = true;
    return { line: row.line, values: { ...row.values, ...change.row } };
  }

  /** The rows beside those of the source, once all of it was seen. */
  rest(): SourceRow[] {
    const { source = "rows" } = this.#reading.source;
    for (const [list, verb] of [["changes", "change"] as const, ["removals", "remove"] as const]) {
      for (const [key, { line, isMet }] of this.#byKey[list]) {
        if (isMet) continue;
        this.#reading.wrong({
          line,
          text: `${source} has no row${this.#named(key)} to ${verb}: correct the key, or leave it out`,
        });
      }
    }
    const met = new Set([...this.#byKey.additions.values()].flatMap(({ line, isMet }) => (isMet ? [line] : [])));
    return (this.#reading.source.additions ?? [])
      .map((values, at) => ({ line: firstLines.additions + at, values }))
      .filter(({ line }) => !met.has(line));
  }

  #keyIn(row: RowData): string | undefined {
    return this.#keyOf(this.#labels.map((label) => row[label]));
  }

  #keyOf(parts: readonly unknown[]): string | undefined {
    const texts = parts.map((part) => keyText(part));
    return texts.length === this.#labels.length && !texts.includes(undefined) ? JSON.stringify(texts) : undefined;
  }

  #named(key: string): string {
    return this.#reading.source.sensitive ? "" : ` "${(JSON.parse(key) as string[]).join(", ")}"`;
  }
}

/** The rows of a source with what is done to them: a block of it at a time, and then those beside them. */
async function* editRows(reading: Reading, blocks: AsyncIterable<SourceRow[]>): AsyncGenerator<SourceRow[]> {
  const edits = new Edits(reading, reading.source.key ?? []);
  for await (const block of blocks) yield block.flatMap((row) => edits.apply(row) ?? []);
  yield edits.rest();
}
