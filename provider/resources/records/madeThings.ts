import { randomBytes } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Made } from "../model/made.ts";
import { codeOf } from "./owners.ts";
import { sealOf } from "./seals.ts";

/**
 * First characters of a record's lines: a thing is about to be made, the engine has its result, another resource of the
 * stack owns it now.
 */
const signs = { begun: "+", settled: "-", handed: "=" } as const;

/**
 * The stack's own creations: only these are deleted when their declaration goes. A state has them, except where a run
 * was interrupted between a call and the state, and where a thing goes from one resource to another. So each process
 * writes a line before it makes something, and takes it back once the engine has the answer. A line is a seal, so it
 * names nobody, and nobody else can write one. Where no file can be kept, a found thing is not the stack's own: it
 * stays.
 */
export class MadeThings implements Made {
  readonly #directory: string;
  readonly #platform: () => string;
  readonly #name = `${process.pid}-${randomBytes(4).toString("hex")}`;
  /** Lines of this process: what it is making. */
  readonly #begun = new Set<string>();
  /** Things made by it, or owned by states of this run. */
  readonly #known = new Set<string>();
  /** Things it made, in case that the engine ended before it could save them. */
  readonly #settled = new Set<string>();
  #folder: string | undefined;
  /** Lines of other processes, by file. */
  #others: Map<string, Set<string>> | undefined;

  /** @param directory the program's folder */
  constructor(directory: string, platform: () => string) {
    this.#directory = directory;
    this.#platform = platform;
  }

  begin(urn: string | undefined, things: readonly string[]): void {
    for (const seal of this.#seals(urn, things)) {
      if (this.#begun.has(seal)) continue;
      this.#begun.add(seal);
      this.#write(signs.begun, seal);
    }
  }

  settled(urn: string | undefined, things: readonly string[], isMade = true): void {
    for (const seal of this.#seals(urn, things)) {
      if (isMade) this.#known.add(seal);
      if (!this.#begun.delete(seal)) continue;
      if (isMade) this.#settled.add(seal);
      this.#write(signs.settled, seal);
    }
    this.#tidy();
  }

  /** The engine has ended, perhaps before saving its last results. */
  orphaned(): void {
    for (const seal of this.#settled) this.#write(signs.begun, seal);
  }

  saved(urn: string | undefined, things: readonly string[]): void {
    for (const seal of this.#seals(urn, things)) {
      this.#known.add(seal);
      this.#settled.delete(seal);
      // Handed-over things stay noted: a preview shows a state that it does not save.
      this.#forget(signs.begun, seal);
    }
  }

  handed(urn: string | undefined, things: readonly string[]): void {
    for (const seal of this.#seals(urn, things)) {
      this.#known.add(seal);
      this.#write(signs.handed, seal);
    }
  }

  isMade(urn: string | undefined, things: readonly string[]): boolean {
    const lines = [...this.#read().values()];
    return this.#seals(urn, things).some(
      (seal) =>
        this.#known.has(seal) ||
        this.#begun.has(seal) ||
        lines.some((set) => set.has(signs.begun + seal) || set.has(signs.handed + seal)),
    );
  }

  removed(urn: string | undefined, things: readonly string[]): void {
    for (const seal of this.#seals(urn, things)) {
      this.#known.delete(seal);
      for (const sign of [signs.begun, signs.handed]) this.#forget(sign, seal);
    }
  }

  #seals(urn: string | undefined, things: readonly string[]): string[] {
    if (urn === undefined) return [];
    const [stack, project] = urn.split("::");
    return things.flatMap((thing) => sealOf("made", stack, project, this.#platform(), thing) ?? []);
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

  /** Takes a line out of the files of other processes. */
  #forget(sign: string, seal: string): void {
    for (const [name, lines] of this.#read()) {
      const folder = this.#folderOf();
      if (folder === undefined || !lines.delete(sign + seal)) continue;
      leniently(() => {
        const path = join(folder, name);
        if (lines.size === 0) rmSync(path, { force: true });
        else writeFileSync(path, [...lines, ""].join("\n"), { mode: 0o600 });
      });
    }
  }

  #write(sign: string, seal: string): void {
    leniently(() => {
      const folder = this.#folderOf(true);
      if (folder !== undefined) appendFileSync(join(folder, this.#name), `${sign}${seal}\n`, { mode: 0o600 });
    });
  }

  /** Removes the file of this process while it holds nothing. */
  #tidy(): void {
    const folder = this.#folderOf();
    if (folder === undefined || this.#begun.size > 0) return;
    leniently(() => {
      const path = join(folder, this.#name);
      if (linesOf(path).size === 0) rmSync(path, { force: true });
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

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []));
  } catch {
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
