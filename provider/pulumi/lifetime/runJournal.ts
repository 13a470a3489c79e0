import { createHash, randomBytes } from "node:crypto";
import { lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { isOwn, ownFolder } from "../../../machine/ownFolder.ts";

/** What a provider process has noted: a method of one of its objects, with its arguments. */
const entrySchema = z.object({
  platform: z.string(),
  object: z.string(),
  method: z.string(),
  with: z.array(z.unknown()),
});
export type Entry = z.output<typeof entrySchema>;

/** Milliseconds that another process of the run has to answer. */
const answerTimeoutMs = 60_000;
/** Milliseconds after which a socket at which nobody listens is what a killed process left. */
const maxIdleMs = 5_000;
/** Milliseconds within which the time of a folder may stay the same. */
const precisionMs = 100;
/** Longest path of a socket on every system. */
const maxPath = 100;

const unanswered = "another provider of this run does not answer, and may declare the same things: run it again";

/**
 * Shares declarations between the provider processes of one run. An engine starts a process for each provider of a
 * program, and the one that made a resource deletes it: it must know what others declare. Each process answers at a
 * socket in a folder of this user, named after the engine, and writes nothing down.
 */
export class RunJournal {
  readonly #run: string | undefined;
  readonly #name: string;
  readonly #entries: Entry[] = [];
  /** How many entries of each other process were heard. */
  readonly #heard = new Map<string, number>();
  #listed: { mtimeMs: number; names: readonly string[] } | undefined;
  #folder: Promise<string | undefined> | undefined;
  #hearing: Promise<unknown> = Promise.resolve();

  /** @param engine the address of the run's engine; without one, nothing is shared */
  constructor(engine: string | undefined) {
    this.#run = engine ? createHash("sha256").update(engine).digest("hex").slice(0, 12) : undefined;
    this.#name = `${this.#run ?? ""}-${process.pid}-${randomBytes(2).toString("hex")}`;
  }

  /** Tells the others; the arguments are kept as they are, and sent as JSON. */
  note(entry: Entry): void {
    if (this.#run !== undefined) this.#entries.push(entry);
  }

  /** What others have noted since it was heard last. Throws when one of them does not answer. */
  hear(): Promise<Entry[]> {
    const heard = this.#hearing.then(() => this.#hear());
    this.#hearing = heard.catch(() => undefined);
    return heard;
  }

  async #hear(): Promise<Entry[]> {
    const folder = await (this.#folder ??= this.#listen());
    if (folder === undefined) return [];
    const all: Entry[] = [];
    for (const name of this.#others(folder)) {
      const count = this.#heard.get(name) ?? 0;
      const entries = await entriesOf(join(folder, name), count);
      this.#heard.set(name, count + entries.length);
      all.push(...entries);
    }
    return all;
  }

  /** The sockets of the others. The folder is read again only once something in it came or went: every call asks. */
  #others(folder: string): readonly string[] {
    const { mtimeMs = NaN } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (this.#listed?.mtimeMs === mtimeMs) return this.#listed.names;
    const names = socketsIn(folder).filter((name) => name !== this.#name && name.startsWith(`${this.#run ?? ""}-`));
    // What comes in the same moment, or in the same second where a disk counts these, would not change the time.
    const isOver = Date.now() - mtimeMs > precisionMs && mtimeMs % 1_000 !== 0;
    this.#listed = isOver ? { mtimeMs, names } : undefined;
    return names;
  }

  /** Answers the others from now on. Undefined where this user has no folder for it. */
  async #listen(): Promise<string | undefined> {
    const folder = this.#run === undefined ? undefined : folderOfRuns(this.#name.length);
    if (folder === undefined) return undefined;
    for (const name of socketsIn(folder)) void sweep(join(folder, name));
    const path = join(folder, this.#name);
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined); // the other process has ended
      void text(socket).then(
        (since) => socket.end(JSON.stringify(this.#entries.slice(Number(since)))),
        () => undefined,
      );
    });
    const listening = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(path, () => resolve(true));
    });
    if (!listening) return undefined;
    server.unref();
    process.once("exit", () => rmSync(path, { force: true }));
    return folder;
  }
}

/** A folder of this user where paths of sockets are short enough. */
function folderOfRuns(length: number): string | undefined {
  const fits = (folder: string | undefined) => (folder && folder.length + 1 + length <= maxPath ? folder : undefined);
  const own = fits(ownFolder("state", "runs", process.env));
  if (own !== undefined) return own;
  const temporary = join(tmpdir(), `microapps-${process.getuid?.() ?? ""}`);
  const folder = fits(ownFolder("state", "runs", { XDG_STATE_HOME: temporary }));
  return folder !== undefined && isOwn(lstatSync(temporary)) ? folder : undefined;
}

function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes what a killed process left. */
async function sweep(path: string): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && Date.now() - found.mtimeMs > maxIdleMs && (await ask(path, Infinity)) === undefined)
    rmSync(path, { force: true });
}

/** What a process has noted since; nothing once it has ended. */
async function entriesOf(path: string, since: number): Promise<Entry[]> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(path, since);
    if (answer === undefined) return [];
    try {
      return z.array(entrySchema).parse(JSON.parse(answer));
    } catch {
      // When it ended while it answered, nobody listens there any more.
      if (attempt === 3) throw new Error(unanswered);
    }
  }
}

/** The text that a process answers; undefined when none listens. */
function ask(path: string, since: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    const late = (): void => {
      socket.destroy();
      reject(new Error(unanswered));
    };
    socket.setTimeout(answerTimeoutMs, late);
    socket.once("connect", () => {
      socket.end(String(since));
      text(socket).then(resolve, () => resolve(""));
    });
    socket.once("error", () => resolve(undefined));
  });
}
