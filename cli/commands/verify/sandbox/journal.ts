import { createHash } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { findOwnFolder } from "../../../../machine/ownFolder.ts";
import { birthOf, isRunning } from "../../../../machine/processes.ts";
import { isObject, jsonIn } from "../../../../provider/contract/wire.ts";
import { sealOf } from "../../../../provider/resources/records/seals.ts";

// A run notes each thing before making it, so that the next run finds it, however this one ends. Each line has the seal
// of this user on this machine: everything in a journal gets removed, and a cache of a pipeline may come from
// elsewhere.

/** Kinds of removable things; things made later are removed first. */
const kinds = ["organization", "team", "row", "child"] as const;

const thing = z.object({
  kind: z.enum(kinds),
  /** Undefined while it is made, where the platform chooses it. */
  id: z.string().optional(),
  /** Label of the table that a row is in. */
  table: z.string().optional(),
  /** True if it is any number of rows, of which no answer gives the IDs. */
  isBatch: z.boolean().optional(),
});

/** A thing of the platform that a run makes. */
export type JournalThing = z.output<typeof thing>;

const head = z.object({
  version: z.literal(1),
  /** Stands in whatever the run makes. */
  mark: z.string(),
  /** Digest of the platform's address, which may hold a secret in the wrong place. */
  platform: z.string(),
  /** IDs of the tables, by label. */
  tables: z.record(z.string(), z.string()),
  startedAt: z.number(),
  pid: z.number(),
  birth: z.object({ bootID: z.string(), pidNamespace: z.string(), startTime: z.string() }).optional(),
});

/** Which run it is. */
type Run = Pick<z.output<typeof head>, "mark" | "platform" | "tables" | "startedAt">;

const entry = z.discriminatedUnion("is", [
  z.object({ is: z.literal("making"), number: z.number(), thing }),
  z.object({ is: z.literal("made"), number: z.number(), ids: z.array(z.string()) }),
  z.object({ is: z.literal("gone"), number: z.number() }),
]);

type Entry = z.output<typeof entry>;

/** Something that may be there still. Without IDs nobody knows whether, or under which ID. */
export interface Left {
  number: number;
  thing: JournalThing;
  ids: readonly string[];
  /** True if the platform answered that it made it: an ID that we chose may be somebody else's until then. */
  isMade: boolean;
}

const leftOver = (number: number, thing: JournalThing): Left => ({
  ...{ number, thing, isMade: false },
  ids: thing.id === undefined ? [] : [thing.id],
});

export const digestOf = (endpoint: string): string => createHash("sha256").update(endpoint).digest("hex").slice(0, 16);

/** The folder of the journals; undefined where there can be none. */
export const journalFolder = (environment: NodeJS.ProcessEnv): string | undefined =>
  findOwnFolder("cache", "verify", environment);

/** A journal that this user of this machine did not write, or that somebody changed. */
export class ForeignJournal extends Error {}

/** The file of one run, in a folder of this user. It has no secret and nobody's address. */
export class Journal {
  readonly run: Run;
  readonly #file: string;
  readonly #open: number;
  readonly #left = new Map<number, Left>();
  #next: number;

  private constructor(run: Run, file: string, entries: readonly Entry[]) {
    this.run = run;
    this.#file = file;
    this.#open = openSync(file, "a", 0o600);
    for (const each of entries) note(this.#left, each);
    this.#next = Math.max(0, ...this.#left.keys()) + 1;
  }

  static begin(folder: string, run: Run): Journal {
    const journal = new Journal(run, fileOf(folder, run), []);
    journal.#write({ version: 1, ...run, pid: process.pid, birth: birthOf() });
    return journal;
  }

  /**
   * Journals of a platform whose runs have ended without removing everything. A journal that is not ours is reported
   * and left alone.
   */
  static leftOver(folder: string, platform: string, warn: (text: string) => void): Journal[] {
    const names = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
    return names.sort().flatMap((name) => {
      const file = path.join(folder, name);
      try {
        const read = readJournal(file);
        if (read?.head.platform !== platform || isAlive(read.head)) return [];
        const journal = new Journal(read.head, file, read.entries);
        writeSync(journal.#open, "\n"); // the last line may be cut off
        return [journal];
      } catch (error) {
        if (!(error instanceof ForeignJournal)) throw error;
        warn(`${file} was not written by this user on this machine: nothing that it names is removed.`);
        return [];
      }
    });
  }

  /** Notes what is about to be made, and gives it a number. */
  making(thing: JournalThing): number {
    const number = this.#next++;
    this.#note({ is: "making", number, thing });
    return number;
  }

  /** Notes the IDs of what was made. */
  made(number: number, ids: readonly string[]): void {
    this.#note({ is: "made", number, ids: [...ids] });
  }

  /** Notes that it is not there, or not any more. */
  removed(number: number): void {
    this.#note({ is: "gone", number });
  }

  /** Things that may still exist, the last first. */
  left(): Left[] {
    return [...this.#left.values()].reverse();
  }

  /** Closes the file; removes it when nothing is left. */
  end(): void {
    closeSync(this.#open);
    if (this.#left.size === 0) rmSync(this.#file, { force: true });
  }

  #note(each: Entry): void {
    note(this.#left, each);
    this.#write(each);
  }

  #write(line: Entry | z.output<typeof head>): void {
    writeSync(this.#open, `${JSON.stringify({ ...line, seal: lineSeal(this.#file, line) })}\n`);
  }
}

const lineSeal = (file: string, line: unknown): string | undefined => sealOf("verify", path.basename(file), line);

/** Reads a journal; of a run that was killed the last line may be cut off. Throws a ForeignJournal. */
function readJournal(file: string): { head: z.output<typeof head>; entries: Entry[] } | undefined {
  if (!lstatSync(file).isFile()) throw new ForeignJournal();
  const [first = "", ...rest] = readFileSync(file, "utf8").split("\n");
  const begun = head.safeParse(sealed(file, first));
  if (!begun.success) return undefined;
  if (file !== fileOf(path.dirname(file), begun.data)) throw new ForeignJournal();
  const entries = rest.flatMap((line) => {
    const read = entry.safeParse(sealed(file, line));
    return read.success ? [read.data] : [];
  });
  return { head: begun.data, entries };
}

/** The content of a line under its seal; undefined for one that was cut off. Throws a ForeignJournal. */
function sealed(file: string, text: string): unknown {
  const read = jsonIn(text);
  if (!isObject(read)) return undefined;
  const { seal, ...line } = read;
  if (seal === undefined || seal !== lineSeal(file, line)) throw new ForeignJournal(); // without a key there is none
  return line;
}

const fileOf = (folder: string, { mark }: Pick<Run, "mark">): string => path.join(folder, `${mark}.ndjson`);

/** Updates the remaining things after an entry. */
function note(left: Map<number, Left>, each: Entry): void {
  const { number } = each;
  const known = left.get(number);
  if (each.is === "making") left.set(number, leftOver(number, each.thing));
  else if (each.is === "gone") left.delete(number);
  else if (known) left.set(number, { ...known, ids: each.ids, isMade: true });
}

/** True if the run goes on: a number of a process means nothing after a restart, or in another container. */
function isAlive({ pid, birth }: z.output<typeof head>): boolean {
  if (!isRunning(pid)) return false;
  const now = birthOf(pid);
  return (
    birth === undefined ||
    now === undefined ||
    (Object.keys(birth) as (keyof typeof birth)[]).every((key) => birth[key] === now[key])
  );
}
