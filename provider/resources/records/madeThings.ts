import { randomBytes } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Made } from "../model/made.ts";
import { sealOf } from "./seals.ts";

/**
 * First characters of a record's lines: a thing is about to be made, nothing is open about it, another resource of the
 * stack owns it now.
 */
const signs = { begun: "+", settled: "-", handed: "=" } as const;

/**
 * The stack's own creations: only these are deleted when their declaration goes. A state has them, except where a run
 * was interrupted between a call and the state, and where a thing goes from one resource to another. So each process
 * writes a line before it makes something, and takes it back when it ends in order, since an engine ends it once the
 * state is written. After a kill the line stays until a later run sees the thing in the state. A line is a seal, so it
 * names nobody, and nobody else can write one. Where no file can be kept, a found thing is not the stack's own: it
 * stays.
 */
export class MadeThings implements Made {
  readonly #directory: string;
  readonly #platform: () => string;
  readonly #name = `${process.pid}-${randomBytes(4).toString("hex")}`;
  /** Lines of this process: what it is making. */
  readonly #begun = new Set<string>();
  /** Names of things made by it, or owned by states of this run: thousands, of which hardly one is asked for. */
  readonly #known = new Set<string>();
  /** Lines of this process: things it made, which the engine may not have saved. */
  readonly #answered = new Set<string>();
  #isOrphaned = false;
  /** True while it may have a file. */
  #hasFile = false;
  #folder: string | undefined;
  /** Lines of other processes, by file. */
  #others: Map<string, Set<string>> | undefined;

  /** @param directory the program's folder */
  constructor(directory: string, platform: () => string) {
    this.#directory = directory;
    this.#platform = platform;
  }

  begin(urn: string | undefined, things: readonly string[]): void {
    open.add(this);
    for (const seal of this.#names(urn, things).flatMap(sealsOf)) {
      if (!this.#begun.has(seal) && !this.#answered.delete(seal)) this.#write(signs.begun, [seal]);
      this.#begun.add(seal);
    }
  }

  settled(urn: string | undefined, things: readonly string[], isMade = true): void {
    const names = this.#names(urn, things);
    if (isMade) for (const name of names) this.#known.add(name);
    const begun = names.flatMap(sealsOf).filter((seal) => this.#begun.delete(seal));
    if (isMade) for (const seal of begun) this.#answered.add(seal);
    else this.#write(signs.settled, begun);
    this.#tidy();
  }

  /** The engine has ended, perhaps before saving its last results; or it is this process, and may end so. */
  orphaned(): void {
    this.#isOrphaned = true;
  }

  /** The engine ends this process, or its run, in order: it has saved what it was answered. */
  close(isSaved = !this.#isOrphaned): void {
    if (!isSaved) return;
    open.delete(this);
    this.#write(signs.settled, [...this.#answered]);
    this.#answered.clear();
    this.#tidy();
  }

  saved(urn: string | undefined, things: readonly string[]): void {
    const names = this.#names(urn, things);
    for (const name of names) this.#known.add(name);
    // Handed-over things stay noted: a preview shows a state that it does not save.
    this.#forget(signs.begun, names);
  }

  handed(urn: string | undefined, things: readonly string[]): void {
    const names = this.#names(urn, things);
    for (const name of names) this.#known.add(name);
    this.#write(signs.handed, names.flatMap(sealsOf));
  }

  isMade(urn: string | undefined, things: readonly string[]): boolean {
    const lines = [...this.#read().values()];
    return this.#names(urn, things).some((name) =>
      sealsOf(name).some(
        (seal) =>
          this.#known.has(name) ||
          this.#begun.has(seal) ||
          lines.some((set) => set.has(signs.begun + seal) || set.has(signs.handed + seal)),
      ),
    );
  }

  removed(urn: string | undefined, things: readonly string[]): void {
    const names = this.#names(urn, things);
    for (const name of names) this.#known.delete(name);
    for (const sign of [signs.begun, signs.handed]) this.#forget(sign, names);
  }

  /** Names of a stack's things; of none without the stack. */
  #names(urn: string | undefined, things: readonly string[]): string[] {
    if (urn === undefined || things.length === 0) return [];
    const [stack, project] = urn.split("::");
    const platform = this.#platform();
    return things.map((thing) => JSON.stringify([stack, project, platform, thing]));
  }

  /** The lines of other processes, of this stack and others. */
  #read(): Map<string, Set<string>> {
    if (this.#others) return this.#others;
    this.#others = new Map();
    const folder = this.#folderOf();
    if (folder === undefined) return this.#others;
    for (const name of namesIn(folder)) {
      if (name !== this.#name) this.#others.set(name, linesOf(join(folder, name)));
    }
    return this.#others;
  }

  /** Takes lines out of the files: of other processes, and of what this one has made. */
  #forget(sign: string, names: readonly string[]): void {
    const others = this.#read();
    if (this.#answered.size === 0 && [...others.values()].every(({ size }) => size === 0)) return; // as nearly always
    const seals = names.flatMap(sealsOf);
    if (sign === signs.begun) {
      this.#write(
        signs.settled,
        seals.filter((seal) => this.#answered.delete(seal)),
      );
      this.#tidy();
    }
    for (const [name, lines] of others) {
      const folder = this.#folderOf();
      const left = seals.filter((seal) => lines.delete(sign + seal));
      if (folder === undefined || left.length === 0) continue;
      leniently(() => {
        const path = join(folder, name);
        if (lines.size === 0) rmSync(path, { force: true });
        else if (sign === signs.begun) appendFileSync(path, textOf(signs.settled, left));
        else writeFileSync(path, [...lines, ""].join("\n"), { mode: 0o600 });
      });
    }
  }

  #write(sign: string, seals: readonly string[]): void {
    if (seals.length === 0) return;
    leniently(() => {
      const folder = this.#folderOf(true);
      this.#hasFile = true;
      if (folder !== undefined) appendFileSync(join(folder, this.#name), textOf(sign, seals), { mode: 0o600 });
    });
  }

  /** Removes the file of this process while it holds nothing. */
  #tidy(): void {
    if (!this.#hasFile || this.#begun.size + this.#answered.size > 0) return;
    const folder = this.#folderOf();
    if (folder === undefined) return;
    leniently(() => {
      const path = join(folder, this.#name);
      if (linesOf(path).size > 0) return;
      rmSync(path, { force: true });
      this.#hasFile = false;
    });
  }

  /** The folder of the records; undefined where there is none, or where a branch may have brought along a link. */
  #folderOf(create = false): string | undefined {
    if (this.#folder !== undefined) return this.#folder;
    const parent = join(this.#directory, ".microapps");
    const folder = join(parent, "made");
    if (create) mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isFolder(parent) && isFolder(folder)) this.#folder = folder;
    return this.#folder;
  }
}

/** Records of this process that its end in order closes. */
const open = new Set<MadeThings>();
process.once("exit", () => {
  for (const one of open) one.close();
});

/** The seal of a thing's name; none where no key can be kept. */
const sealsOf = (name: string): string[] => {
  const seal = sealOf("made", ...(JSON.parse(name) as unknown[]));
  return seal === undefined ? [] : [seal];
};

const textOf = (sign: string, seals: readonly string[]): string => seals.map((seal) => `${sign}${seal}\n`).join("");

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []));
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return []; // what is found is then nobody's own, and stays
  }
}

/** The lines of a file that nothing has taken back. */
function linesOf(path: string): Set<string> {
  const lines = new Set<string>();
  let text = "";
  leniently(() => (text = readFileSync(path, "utf8")));
  for (const line of text.split("\n")) {
    if (line.startsWith(signs.settled)) lines.delete(signs.begun + line.slice(1));
    else if (line !== "") lines.add(line);
  }
  return lines;
}

/** A record makes a difference only after an interruption: a folder that can't be used must not be the end of a run. */
function leniently(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

/** The error code of a file system. */
const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
