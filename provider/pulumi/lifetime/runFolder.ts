import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { whyRefused } from "../../../machine/failures.ts";
import { makeOwnFolder, whyNotOwn } from "../../../machine/ownFolder.ts";
import { birthOf, isRunning } from "../../../machine/processes.ts";

const digestOf = (length: number, ...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, length);

/** Names the folder of a run: the same for all of its processes, and allowed on every system. */
export const nameOfRun = (engine: string, start: string): string => digestOf(16, engine, start);

/**
 * Distinguishes an engine from an earlier one at the same address: by the sockets that listen there, whose numbers
 * Linux shows to all of its processes alike. Empty on other systems. Throws when there is no telling.
 * @param read reads a table of sockets; a parameter for tests
 */
export function startOf(engine: string, read: (table: string) => string = tableOf): string {
  const port = Number(engine.slice(engine.lastIndexOf(":") + 1));
  if (process.platform !== "linux" || !Number.isInteger(port)) return "";
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = new RegExp(String.raw`^ *\d+: [0-9A-F]+:${hexadecimal} \S+ 0A (?:\S+ +){5}(\d+)`, "gm");
  const found = ["tcp", "tcp6"].flatMap((table) => [...read(table).matchAll(listening)].map(([, inode = ""]) => inode));
  return found.toSorted().join();
}

function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, "latin1");
  } catch (error) {
    if (["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return ""; // the same for all of a run
    throw error;
  }
}

/** Where processes have numbers of their own: a container, or a machine that was started. */
function machineOf(): string {
  const birth = birthOf();
  return digestOf(8, birth ? `${birth.bootID} ${birth.pidNamespace}` : hostname());
}

/** Names a file of notes after the process that writes it. */
export const nameOfWriter = (pid = process.pid): string =>
  [pid, birthOf(pid)?.startTime ?? 0, machineOf(), randomBytes(4).toString("hex")].join("-") + ".ndjson";

const maxIdleMs = 86_400_000;

/** True if the process that wrote a file has ended; of another machine's, that it has written nothing for a day. */
export function isLeft(name: string, changedAt: number, now: number): boolean {
  const [pid = "", startTime = "", machine = ""] = name.split("-");
  if (machine !== machineOf()) return now - changedAt > maxIdleMs;
  if (!isRunning(Number(pid))) return true;
  const birth = birthOf(Number(pid));
  return birth !== undefined && startTime !== birth.startTime;
}

/** A folder that can't be used, and why. */
export class Unusable extends Error {
  readonly folder: string;
  constructor(folder: string, reason: string) {
    super(reason);
    this.folder = folder;
  }
}

/** Makes the folder of a run, and removes what killed runs have left. Throws an Unusable where it is not this user's alone. */
export function folderOfRun(engine: string, environment = process.env): string {
  const { folder: runs, reason } = makeOwnFolder("state", "runs", environment);
  if (reason !== undefined) throw new Unusable(runs, reason);
  try {
    const start = startOf(engine);
    const folder = join(runs, nameOfRun(engine, start));
    sweep(runs, start === "" ? undefined : folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const why = whyNotOwn(folder, lstatSync(folder));
    if (why !== undefined) throw new Unusable(folder, why);
    return folder;
  } catch (error) {
    throw error instanceof Unusable ? error : new Unusable(runs, whyRefused(error));
  }
}

/** Removes what killed processes have left: all of it but the notes of this run, which count although their writer has ended. */
function sweep(runs: string, kept: string | undefined): void {
  const now = Date.now();
  for (const entry of readdirSync(runs, { withFileTypes: true })) {
    const path = join(runs, entry.name);
    if (path === kept) continue;
    // Sockets are those of an earlier version.
    if (!entry.isDirectory()) removeOld(path, now - maxIdleMs);
    else sweepRun(path, now);
  }
}

function sweepRun(folder: string, now: number): void {
  try {
    const names = readdirSync(folder);
    for (const name of names) {
      const path = join(folder, name);
      if (isLeft(name, lstatSync(path).mtimeMs, now)) rmSync(path, { force: true });
    }
    // Between making its folder and writing there a process has none yet.
    if (names.length > 0 || now - lstatSync(folder).mtimeMs > maxIdleMs) removeEmpty(folder);
  } catch {
    // Another process tidies up.
  }
}

function removeOld(path: string, before: number): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && found.mtimeMs < before) rmSync(path, { force: true });
}

/** Removes a folder unless something stands in it. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Others are still at work.
  }
}
