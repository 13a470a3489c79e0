import { createHash } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isAbsent, messageOf } from "../../machine/failures.ts";
import { isOwn, makeOwnFolder, pathOfOwnFolder } from "../../machine/ownFolder.ts";
import { jsonIn } from "../../platform/contract/wire.ts";
import { isTracked } from "../files/files.ts";
import { ResourceError } from "./common.ts";

const line = z.looseObject({
  urn: z.string(),
  /** What is made, and its ID where this package chose it: `Team 4aB…`, `GeneratedApp`. */
  thing: z.string(),
  /** ISO 8601. */
  startedAt: z.string().optional(),
  /** Takes back the lines before it: the state shows the result, or nothing was made. */
  done: z.literal(true).optional(),
});

/** Something that a run began and no state has shown since. */
export interface Entry {
  urn: string;
  thing: string;
  /** When the call was about to be sent, ISO 8601. */
  startedAt: string;
  /** The file for people: to look into where the answer never arrived. */
  file: string;
  [fact: string]: unknown;
}

/** Facts of an entry beside its own: digests and IDs, no secrets. */
type Facts = Readonly<Record<string, unknown>>;

/**
 * What can't be read back from the platform: a line is on disk before the call, and is taken back once a state shows the
 * result. So a run after a kill knows what was begun, and neither pays for an app twice nor sends a message twice. One file
 * for each stack and platform, in the state folder of this user; on another machine nothing is known. A run that ends in order
 * leaves no line about what was answered, since the engine has saved it.
 */
export class Journal {
  readonly #platform: () => string;
  /** Entries by stack. */
  readonly #stacks = new Map<string, Map<string, Entry>>();
  /** What this process got an answer for. */
  readonly #answered = new Map<string, Pick<Entry, "urn" | "thing">>();
  #isOrphaned = false;

  constructor(platform: () => string) {
    this.#platform = platform;
  }

  /** What an earlier run, or this one, began of a thing. */
  find(urn: string | undefined, thing: string): Entry | undefined {
    return urn === undefined ? undefined : this.#entries(urn).get(nameOf(urn, thing));
  }

  /** Notes what is about to be made. It is on disk when this returns; throws where it can't be, before anything is sent. */
  begin(urn: string | undefined, thing: string, startedAt: string, facts: Facts = {}): void {
    if (urn === undefined) return;
    const { reason } = makeOwnFolder("state", "journal", process.env);
    if (reason !== undefined) {
      throw new ResourceError(
        `nothing was sent, since it can't be noted that it was begun: ${reason}. A run that is killed would not know ` +
          `about it. Make that folder usable, or set XDG_STATE_HOME to a folder of your own.`,
      );
    }
    const file = this.#fileOf(urn);
    const entry = { ...facts, urn, thing, startedAt };
    append(file, entry);
    open.add(this);
    this.#entries(urn).set(nameOf(urn, thing), { ...entry, file });
  }

  /** Notes what the platform answered: IDs and the like. */
  answered(urn: string | undefined, thing: string, answer: Facts = {}): void {
    const entry = this.find(urn, thing);
    if (!entry) return;
    const { file, ...known } = { ...entry, ...answer };
    if (Object.keys(answer).length > 0) append(file, known);
    this.#entries(entry.urn).set(nameOf(entry.urn, thing), { ...entry, ...answer });
    this.#answered.set(nameOf(entry.urn, thing), { urn: entry.urn, thing });
  }

  /** Takes an entry back: a state shows the result, or it is certain that nothing was made. */
  settle(urn: string | undefined, thing: string): void {
    const entry = this.find(urn, thing);
    if (!entry) return;
    const entries = this.#entries(entry.urn);
    entries.delete(nameOf(entry.urn, thing));
    this.#answered.delete(nameOf(entry.urn, thing));
    if (entries.size === 0) rmSync(entry.file, { force: true });
    else append(entry.file, { urn: entry.urn, thing, done: true });
  }

  /** The engine has ended, perhaps before it saved its last results; or it is this process, and may end so. */
  orphaned(): void {
    this.#isOrphaned = true;
  }

  /** The engine ends this process, or its run, in order: it has saved what it was answered. */
  close(isSaved = !this.#isOrphaned): void {
    open.delete(this);
    if (isSaved) for (const { urn, thing } of [...this.#answered.values()]) this.settle(urn, thing);
    this.#stacks.clear();
  }

  #entries(urn: string): Map<string, Entry> {
    const file = this.#fileOf(urn);
    const known = this.#stacks.get(file) ?? entriesOf(file);
    this.#stacks.set(file, known);
    return known;
  }

  /** The file of the stack that a URN names, on this platform. */
  #fileOf(urn: string): string {
    const [stack, project] = urn.split("::");
    const digest = createHash("sha256").update(JSON.stringify([stack, project, this.#platform()]));
    const name = `${digest.digest("hex").slice(0, 32)}.ndjson`;
    return join(pathOfOwnFolder("state", "journal", process.env), name);
  }
}

/** Journals of this process that its end in order closes. */
const open = new Set<Journal>();
process.once("exit", () => {
  for (const journal of open) journal.close();
});

const nameOf = (urn: string, thing: string): string => `${urn} ${thing}`;

function append(file: string, entry: object): void {
  const descriptor = openSync(file, "a", 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function entriesOf(file: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const text of textOf(file).split("\n")) {
    // A line without its end was being written when its process was killed, before the call.
    const parsed = line.safeParse(jsonIn(text));
    if (!parsed.success) continue;
    const { urn, thing, done, startedAt = "", ...facts } = parsed.data;
    if (done) entries.delete(nameOf(urn, thing));
    else entries.set(nameOf(urn, thing), { ...facts, urn, thing, startedAt, file });
  }
  return entries;
}

/** The text of a file that only this user can write; empty where there is none. */
function textOf(file: string): string {
  try {
    const found = lstatSync(file);
    if (!found.isFile() || !isOwn(found) || found.nlink > 1) {
      throw new ResourceError(`${file} may be written by others: nothing was done. Look at it, and delete it.`);
    }
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isAbsent(error)) return "";
    throw error;
  }
}

/**
 * What version 0.1.0 began, and got no answer for: it kept a file beside the program. It is read until its thing is made, and
 * never one that a branch may have brought along.
 */
export function findLegacyIntent(directory: string, urn: string | undefined): (Facts & { file: string }) | undefined {
  if (urn === undefined) return undefined;
  const name = `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`;
  const file = join(directory, ".microapps", "intents", name);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.nlink > 1 || isTracked(file)) return undefined;
  try {
    const parsed = z
      .looseObject({ urn: z.literal(urn), startedAt: z.string() })
      .safeParse(jsonIn(readFileSync(file, "utf8")));
    return parsed.success ? { ...parsed.data, file } : undefined;
  } catch (error) {
    throw new ResourceError(`${file} can't be read: ${messageOf(error)}`);
  }
}
