import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { whyRefused } from "../../../machine/failures.ts";
import { isOwn } from "../../../machine/ownFolder.ts";
import { folderOfRun, nameOfWriter, removeEmpty, Unusable } from "./runFolder.ts";

/** A note of a provider process: a method of one of its objects, with its arguments. */
const entrySchema = z.object({
  platform: z.string(),
  object: z.string(),
  method: z.string(),
  with: z.array(z.unknown()),
});
export type JournalEntry = z.output<typeof entrySchema>;

/** Milliseconds within which the time of a folder may stay the same. */
const precisionMs = 100;

/** This process's own file. */
interface Own {
  folder: string;
  path: string;
  descriptor: number;
  /** The file itself, whatever stands under its path later. */
  ino: bigint;
  /** Bytes of whole lines. */
  length: number;
}

/** Writes to a file and answers how many bytes it took; a parameter for tests. */
export type Write = (descriptor: number, bytes: Buffer) => number;

/**
 * Shares declarations between the provider processes of one run. An engine starts a process for each provider of a
 * program, and the one that made a resource deletes it: it must know what others declare. Each process appends to a file
 * of its own (NDJSON) in a folder of the run, and reads those of the others. What can't be written or read is refused:
 * it would be taken for nothing.
 */
export class RunJournal {
  readonly #engine: string | undefined;
  readonly #write: Write;
  readonly #pending: Buffer[] = [];
  /** How many bytes of each other file were read. */
  readonly #heard = new Map<string, number>();
  #listed: { mtimeMs: number; names: readonly string[] } | undefined;
  #own: Own | undefined;

  /** @param engine the address of the run's engine; without one, nothing is shared */
  constructor(engine: string | undefined, write: Write = (descriptor, bytes) => writeSync(descriptor, bytes)) {
    this.#engine = engine || undefined;
    this.#write = write;
  }

  /**
   * Writes the notes for other processes. A note that can't be written waits: the next `flush` or `hear` refuses,
   * before anything is sent.
   */
  note(entry: JournalEntry): void {
    if (this.#engine === undefined) return;
    this.#pending.push(Buffer.from(`${JSON.stringify(entry)}\n`));
    try {
      this.flush();
    } catch {
      // A finished operation must still be saved, so a failed note is no error.
    }
  }

  /** Throws unless all that was noted is written. */
  flush(): void {
    if (this.#engine === undefined) return;
    this.#refusing(() => {
      const own = (this.#own ??= this.#opened(this.#engine ?? ""));
      if (inodeAt(own.path) !== own.ino) throw new Unusable(own.folder, "they were removed while it ran");
      for (let [first] = this.#pending; first; [first] = this.#pending) {
        this.#append(own, first);
        this.#pending.shift();
      }
    });
  }

  /** Notes of other processes since the last call. Throws when they can't be read, or when ours can't be written. */
  hear(): JournalEntry[] {
    if (this.#engine === undefined) return [];
    this.flush();
    return this.#refusing(() => {
      const folder = this.#own?.folder ?? "";
      return this.#others(folder).flatMap((name) => this.#entriesOf(folder, name));
    });
  }

  /** Removes this process's notes, and the folder with the last ones. */
  close(): void {
    if (!this.#own) return;
    const { descriptor, folder, path } = this.#own;
    this.#own = undefined;
    try {
      closeSync(descriptor);
      rmSync(path, { force: true });
      removeEmpty(folder);
    } catch {
      // The next run removes what is left.
    }
  }

  #refusing<Answer>(work: () => Answer): Answer {
    try {
      return work();
    } catch (error) {
      const folder = error instanceof Unusable ? error.folder : (this.#own?.folder ?? "");
      const reason = error instanceof Unusable ? error.message : whyRefused(error);
      throw new Error(
        `nothing was sent: the notes of this run can't be kept in ${folder}: ${reason}. Without them one provider of a ` +
          `program may delete what another one declares. Mend that, or set XDG_STATE_HOME to a folder of this user alone.`,
        { cause: error },
      );
    }
  }

  #opened(engine: string): Own {
    for (let attempt = 1; ; attempt++) {
      const folder = folderOfRun(engine);
      try {
        const path = join(folder, nameOfWriter());
        const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
        const descriptor = openSync(path, O_APPEND | O_CREAT | O_EXCL | O_WRONLY, 0o600);
        process.once("exit", () => this.close());
        return { folder, path, descriptor, ino: fstatSync(descriptor, { bigint: true }).ino, length: 0 };
      } catch (error) {
        // Another process may have removed the folder as the last one of its run.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 3)
          throw new Unusable(folder, whyRefused(error));
      }
    }
  }

  /** Appends a line as a whole, or nothing of it. */
  #append(own: Own, line: Buffer): void {
    let written = 0;
    try {
      while (written < line.length) written += this.#write(own.descriptor, line.subarray(written));
      own.length += line.length;
    } catch (error) {
      ftruncateSync(own.descriptor, own.length);
      throw error;
    }
  }

  /** The files of the others. The folder is read again only once something in it came or went: every call asks. */
  #others(folder: string): readonly string[] {
    const { mtimeMs } = statSync(folder);
    if (this.#listed?.mtimeMs === mtimeMs) return this.#listed.names;
    const names = readdirSync(folder).filter((name) => join(folder, name) !== this.#own?.path);
    // An entry added in the same moment, or in the same second on disks that count these, would not change the time.
    const isOver = Date.now() - mtimeMs > precisionMs && mtimeMs % 1_000 !== 0;
    this.#listed = isOver ? { mtimeMs, names } : undefined;
    return names;
  }

  /** The entries of whole lines since the last look: a part of a line is one that is being written. */
  #entriesOf(folder: string, name: string): JournalEntry[] {
    const path = join(folder, name);
    const before = this.#heard.get(name) ?? 0;
    const size = statSync(path, { throwIfNoEntry: false })?.size; // it has ended, and declares nothing more
    if (size === undefined || size === before) return [];
    if (size < before) throw new Unusable(folder, `${name} was cut short`);
    const bytes = bytesFrom(path, before);
    const end = bytes.lastIndexOf("\n") + 1;
    try {
      const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
      const entries = lines.map((line) => entrySchema.parse(JSON.parse(line)));
      this.#heard.set(name, before + end);
      return entries;
    } catch {
      throw new Unusable(folder, `${name} holds what no provider of this version writes`);
    }
  }
}

/** There are no such links on Windows, and no such flag. */
const noFollow = process.platform === "win32" ? 0 : constants.O_NOFOLLOW;

const inodeAt = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

/** Reads a file of this user from a place to its end. */
function bytesFrom(path: string, from: number): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | noFollow);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || !isOwn(found)) throw new Unusable(join(path, ".."), `${path} is open to other users`);
    const bytes = Buffer.alloc(found.size - from);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, from + length);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
