import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as others } from "node:timers/promises";
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from "node:zlib";
import { profile } from "../../provider/habits/profile.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import type { Database } from "../data/database.ts";
import { invalid } from "../data/platformError.ts";
import { settings } from "../data/settings.ts";
import { seed } from "../seed/schema.ts";
import { sliceMs } from "./drafts.ts";
import { Exchange, manyRows } from "./exchange.ts";
import { notes, Reader, writeText, type SnapshotLine } from "./snapshotText.ts";

type Bytes = AsyncIterable<Uint8Array>;

const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 6, [constants.ZSTD_c_checksumFlag]: 1 } };
const chunkSize = 256 * 1024;

/** How a snapshot is packed, by the end of its file's name. */
const packings = { zst: () => createZstdCompress(zstd), gz: () => createGzip(), json: undefined };
export type Packing = keyof typeof packings;

export function packingOf(file: string): Packing {
  const [, end] = /\.json(?:\.(zst|gz))?$/.exec(file) ?? invalidName(file);
  return (end ?? "json") as Packing;
}

function invalidName(file: string): never {
  throw invalid(`the name of a snapshot's file ends in .json.zst, .json.gz or .json: ${file}`);
}

/** The platform's state as the bytes of a file. */
export function packState(database: Database, packing: Packing): Readable {
  const text = Readable.from(writeText(database), { objectMode: false });
  const packer = packings[packing]?.();
  if (!packer) return text;
  pipeline(text, packer).catch(() => undefined); // the reader of the stream gets the error
  return packer;
}

/** Writes a file that is there with all of its bytes or as it was. Only its owner may read it. */
export async function writeWhole(file: string, bytes: Bytes): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString("hex")}.draft`; // nobody can put a link there before
  try {
    await pipeline(bytes, createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export async function saveFile(database: Database, file: string): Promise<void> {
  await writeWhole(file, packState(database, packingOf(file)));
}

export const loadFile = (database: Database, file: string, check: () => void): Promise<void> =>
  loadBytes(database, createReadStream(file, { highWaterMark: chunkSize }), file, check);

/**
 * Exchanges the platform's state for the one in a file, whose name is for messages. What is wrong in it is refused with
 * its line, and so is what `check` throws for, which sees the new state; all stays as it was then. Others are answered
 * meanwhile, and see the old state until the new one is whole.
 */
export async function loadBytes(database: Database, bytes: Bytes, name: string, check: () => void): Promise<void> {
  const exchange = new Exchange(database);
  const reader = new Reader();
  const filling = new Filling(database, exchange);
  let line = 0;
  try {
    for await (const lines of linesOf(unpack(bytes))) {
      let at = 0;
      while (at < lines.length) {
        const until = performance.now() + sliceMs;
        database.transaction(() => {
          while (at < lines.length && performance.now() < until) {
            line++;
            const read = reader.read(lines[at++] ?? "");
            if (read) filling.take(read);
          }
        });
        if (filling.rows >= manyRows) await exchange.index();
        await others();
      }
    }
    line++;
    reader.end();
    await exchange.index();
    exchange.commit(check);
  } catch (error) {
    await exchange.undo();
    const { message = String(error) } = error as Partial<Error>;
    throw invalid(`${name}${line === 0 ? "" : `:${line}`}: ${message.replaceAll(/draft:[^:]*:[^:]*:/g, "")}`);
  } finally {
    exchange.end();
  }
}

/** Notes in a data file that its contents are those of a snapshot, which is not in yet. */
export const awaitSnapshot = (database: Database): unknown =>
  database.run("INSERT OR REPLACE INTO meta VALUES ('awaits', 'snapshot')");

/** Loads the snapshot that a data file waits for, if it does. Another process may do the same. */
export async function loadAwaited(database: Database, file: string): Promise<void> {
  const isAwaited = () => database.one("SELECT 1 FROM meta WHERE key = 'awaits'") !== undefined;
  if (!isAwaited()) return;
  try {
    await loadFile(database, file, () => {
      if (database.run("DELETE FROM meta WHERE key = 'awaits'") === 0) throw new Error("it is there");
    });
  } catch (error) {
    if (isAwaited()) throw error;
  }
}

/** Puts lines into the new contents. */
class Filling {
  readonly #database: Database;
  readonly #exchange: Exchange;
  #insert: ReturnType<Database["prepare"]> | undefined;
  #isMeta = false;
  /** Rows written to the current table. */
  rows = 0;

  constructor(database: Database, exchange: Exchange) {
    this.#database = database;
    this.#exchange = exchange;
  }

  take(line: SnapshotLine): void {
    if (line.kind === "row") {
      if (this.#isMeta) requireNotes(line.values);
      this.#insert?.run(...line.values);
      this.rows++;
      return;
    }
    this.rows = 0;
    const { table, columns } = line;
    this.#isMeta = table === "meta";
    if (table === "rows") {
      this.#requireNames();
      this.#exchange.sortRows();
    }
    // json() refuses text that later reads could not parse.
    const values = columns.map((column) => (/^(data|content|value)$/.test(column) ? "json(?)" : "?"));
    const name = this.#exchange.nameOf(table);
    this.#insert = this.#database.prepare(
      `INSERT INTO "${name}" (${columns.join(", ")}) VALUES (${values.join(", ")})`,
    );
  }

  /** Statements name these; a seed has no others. */
  #requireNames(): void {
    const [tables, fields] = [this.#exchange.nameOf("tables"), this.#exchange.nameOf("fields")];
    const wrong = this.#database.one<{ id: string }>(
      `SELECT id FROM (SELECT id FROM "${tables}" UNION SELECT table_id FROM "${fields}")
       WHERE id GLOB '*[^A-Za-z0-9_.-]*' OR length(id) NOT BETWEEN 1 AND 100
       UNION SELECT id FROM "${fields}" WHERE sort IS NOT NULL AND (typeof(sort) <> 'integer' OR sort NOT BETWEEN 1 AND 50)`,
    );
    if (wrong) throw new Error(`a table or a sort field can't be as ${JSON.stringify(wrong.id)} is above`);
  }
}

/** Throws when seed, settings or profile are not what this emulator understands. */
function requireNotes([key, value]: readonly unknown[]): void {
  const name = notes.find((each) => each === key);
  if (typeof value !== "string" || name === undefined) throw new Error("this is no seed, settings or profile");
  const found = { seed, settings, profile }[name].safeParse(JSON.parse(value), sentences);
  const [issue] = found.error?.issues ?? [];
  if (issue) throw new Error(`the ${name}: ${[...issue.path, issue.message].map(String).join(": ")}`);
}

/** Longest line: the largest row or stored file. */
export const maxLine = 256 * 1024 * 1024;

/** Lines of a text, as they end in each piece of it. Throws where one is longer than `max` characters. */
export async function* linesOf(bytes: Bytes, max = maxLine): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // Joined once it ends: a line that grew piece by piece would be copied with each.
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    const [end = "", ...lines] = decoder.decode(chunk, { stream: true }).split("\n");
    begun.push(end);
    length += end.length;
    if (length > max) throw new Error("this line is too long");
    const next = lines.pop();
    if (next === undefined) continue;
    yield [begun.join(""), ...lines];
    [begun, length] = [[next], next.length];
  }
  const rest = begun.join("") + decoder.decode();
  if (rest !== "") yield [rest];
}

const mebibyte = 1024 * 1024;

/** Bytes that a packed snapshot may become: rows that are much alike shrink to a fortieth, and what is small may stay small. */
export const mayUnpackTo = (packed: number): number =>
  Math.min(32 * mebibyte + 100 * packed, Math.max(256 * mebibyte, 40 * packed));

/** Unpacks bytes by what they begin with. Throws where they become more than `limit` allows for as many as were read. */
export async function* unpack(bytes: Bytes, limit = mayUnpackTo): Bytes {
  const source: AsyncIterator<Uint8Array, unknown> = bytes[Symbol.asyncIterator]();
  let begin = Buffer.alloc(0);
  while (begin.length < 4) {
    const next = await source.next();
    if (next.done === true) break;
    begin = Buffer.concat([begin, next.value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield begin;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  }
  const isZstd = begin.length >= 4 && begin.readUInt32LE() === 0xfd2fb528;
  const isGzip = begin.length >= 2 && begin.readUInt16LE() === 0x8b1f;
  if (!isZstd && !isGzip) {
    yield* whole();
    return;
  }
  const unpacker = isZstd ? createZstdDecompress({ chunkSize }) : createGunzip({ chunkSize });
  let [taken, made] = [0, 0];
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const bytes of whole()) {
      taken += bytes.length;
      yield bytes;
    }
  }
  pipeline(counted(), unpacker).catch(() => undefined); // the reader of the stream gets the error
  for await (const bytes of unpacker as AsyncIterable<Buffer>) {
    made += bytes.length;
    const most = limit(taken);
    if (made > most)
      throw new Error(`it unpacks to more than ${Math.floor(most / mebibyte)} MB, which no snapshot of its size does`);
    yield bytes;
  }
}
