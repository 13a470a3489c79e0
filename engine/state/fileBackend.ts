import { lstatSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { isAbsent } from "../../machine/failures.ts";
import { EngineError, messageOf, Refusal, systemCode } from "../errors.ts";
import { isObject } from "../values/json.ts";
import { writeDurably, type WriteFile } from "./atomicWrite.ts";

/** Finds the folder of a backend URL; a relative one counts from the command's folder, as with Pulumi. */
export function backendFolder(url: string, cwd: string): string {
  if (!url.startsWith("file://")) {
    const scheme = url.split(":")[0] ?? url;
    throw new Refusal(
      `the embedded engine keeps its state in files (backend file://…), not in '${scheme}:': use the Pulumi CLI for that backend`,
    );
  }
  const place = (url.slice("file://".length).split("?")[0] ?? "").replace(/%20/g, " ");
  if (place === "~") return os.homedir();
  if (place.startsWith("~")) return path.join(os.homedir(), place.slice(2));
  return path.resolve(cwd, place);
}

/** The files of Pulumi's file backend, layout version 1. */
export class FileBackend {
  /** The folder that holds `.pulumi`. */
  readonly folder: string;
  readonly #write: WriteFile;
  /** The folders that are there, so that not each write looks for its own. */
  readonly #made = new Set<string>();

  constructor(folder: string, write: WriteFile = writeDurably) {
    this.folder = folder;
    this.#write = write;
  }

  #path(...parts: string[]): string {
    return within(path.join(this.folder, ".pulumi"), ...parts);
  }

  checkpointFile(project: string, stack: string): string {
    return this.#path("stacks", project, `${stack}.json`);
  }

  lockFolder(project: string, stack: string): string {
    return this.#path("locks", "organization", project, stack);
  }

  /**
   * Creates the layout where there is none yet; refuses the layouts of other versions.
   * @param beforeNew called before anything is created
   */
  async open(beforeNew?: () => void): Promise<void> {
    const file = this.#path("meta.yaml");
    const text = await readIfThere(file);
    if (text === undefined) {
      const legacy = (await list(this.#path("stacks"))).filter((name) => /\.json(\.gz|\.zst)?$/.test(name));
      if (legacy.length > 0) throw new Refusal(legacyLayout(this.#path()));
      beforeNew?.();
      try {
        await mkdir(this.#path("stacks"), { recursive: true });
        await writeFile(file, "version: 1\n", { flag: "wx" });
      } catch (error) {
        // Another engine made it in this very moment.
        if (systemCode(error) !== "EEXIST") {
          throw new EngineError(`could not open the state backend ${this.folder}: ${messageOf(error)}`);
        }
      }
      return;
    }
    const meta: unknown = parse(text);
    if (isObject(meta) && meta["version"] === 0) throw new Refusal(legacyLayout(this.#path()));
    if (!isObject(meta) || meta["version"] !== 1) {
      throw new Refusal(`${file}: the embedded engine knows version 1 of this layout only: use the Pulumi CLI`);
    }
  }

  async stacks(project: string): Promise<string[]> {
    const names = await list(this.#path("stacks", project));
    return names
      .filter((name) => /\.json(\.gz|\.zst)?$/.test(name))
      .map((name) => name.replace(/\.json(\.gz|\.zst)?$/, ""))
      .filter(isName)
      .sort();
  }

  /** Reads the text of a checkpoint; undefined where there is no such stack. */
  async read(project: string, stack: string): Promise<string | undefined> {
    const file = this.checkpointFile(project, stack);
    const names = await list(path.dirname(file));
    const compressed = names.find((name) => [`${stack}.json.gz`, `${stack}.json.zst`].includes(name));
    if (compressed !== undefined)
      throw new Refusal(`${compressed}: compressed state is not read by the embedded engine: use the Pulumi CLI`);
    return readIfThere(file);
  }

  async write(project: string, stack: string, content: readonly Buffer[]): Promise<void> {
    const file = this.checkpointFile(project, stack);
    const folder = path.dirname(file);
    if (!this.#made.has(folder)) await mkdir(folder, { recursive: true });
    this.#made.add(folder);
    await this.#write(file, content);
  }

  async remove(project: string, stack: string): Promise<void> {
    await rm(this.checkpointFile(project, stack), { force: true });
    for (const extension of [".bak", ".attrs"]) {
      await rm(this.checkpointFile(project, stack) + extension, { force: true });
    }
    await rm(this.#path("history", project, stack), { recursive: true, force: true });
  }
}

const legacyLayout = (folder: string): string =>
  `${folder} has the old layout without projects: run 'pulumi state upgrade' with the Pulumi CLI first`;

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new EngineError(`could not read ${file}: ${messageOf(error)}`);
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw new EngineError(`could not read ${folder}: ${messageOf(error)}`);
  }
}

// Names of projects and stacks become names of files and folders.

/** True if Pulumi accepts a name. One that begins with a period would be hidden, or lead out of its folder. */
export const isName = (text: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(text);

export const nameRule = "up to 100 letters, digits, hyphens, underscores and periods, and no period at the beginning";

/**
 * Joins a path below a folder. Throws when it leads out of the folder, by its names or by a symbolic link in any part of
 * it: a branch that somebody proposes may hold such links.
 */
export function within(folder: string, ...parts: readonly string[]): string {
  const place = path.join(folder, ...parts);
  if (!isBelow(path.resolve(folder), path.resolve(place))) throw leaving(place, folder);
  if (!isThere(folder)) return place;
  const root = realpathSync(folder);
  let there = place;
  while (!isThere(there)) there = path.dirname(there);
  try {
    if (isBelow(root, realpathSync(there))) return place;
  } catch (error) {
    // A link to what is not there yet would have it made there.
    if (systemCode(error) !== "ENOENT") throw new EngineError(`${there}: this can't be read: ${messageOf(error)}`);
  }
  throw leaving(place, folder);
}

const leaving = (place: string, folder: string): EngineError =>
  new EngineError(`${place}: this leads out of ${folder}, where all state is kept: nothing was read or changed there`);

const isBelow = (folder: string, place: string): boolean => place === folder || place.startsWith(folder + path.sep);

const isThere = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false }) !== undefined;
