import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAbsent } from "../../machine/failures.ts";
import { birthOf, isRunning } from "../../machine/processes.ts";
import { EngineError, messageOf } from "../errors.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";

/** The lock of a stack: a file for each engine, as Pulumi's file backend reads and writes them. */
export class Lock {
  readonly #folder: string;
  readonly #own = `${randomUUID()}.json`;

  readonly #stack: string;

  /** `folder`: `.pulumi/locks/organization/<project>/<stack>` */
  constructor(folder: string, stack: string) {
    this.#folder = folder;
    this.#stack = stack;
  }

  /**
   * Takes the lock, or fails. Locks of engines that were killed on this machine are removed first, and `say` gets a sentence
   * for each. It checks before and after writing, so that of two engines at most one goes on.
   */
  async take(say: (sentence: string) => void): Promise<void> {
    const ended = endedLocks(this.#folder);
    for (const { file, sentence } of ended) {
      say(sentence);
      await rm(file, { force: true });
    }
    if (ended.length > 0) await sleep(providersEndAfterMs);
    this.#refuseOthers();
    const content = {
      pid: process.pid,
      username: os.userInfo().username,
      hostname: os.hostname(),
      timestamp: new Date().toISOString(),
      ...birthOf(),
    };
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(path.join(this.#folder, this.#own), JSON.stringify(content), { mode: 0o600 });
    } catch (error) {
      await this.release();
      throw new EngineError(`could not lock the stack: ${messageOf(error)}`);
    }
    try {
      this.#refuseOthers();
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  async release(): Promise<void> {
    await rm(path.join(this.#folder, this.#own), { force: true });
  }

  #refuseOthers(): void {
    const others = locksIn(this.#folder).filter((name) => name !== this.#own);
    if (others.length === 0) return;
    const owners = others.map((name) => {
      const file = path.join(this.#folder, name);
      const lock = contentOf(file);
      const text = (key: string): string => oneLine(String(lock?.[key]));
      const owner = `created by ${text("username")}@${text("hostname")} (pid ${text("pid")}) at ${text("timestamp")}`;
      return lock ? `  ${file}: ${owner}` : `  ${file}`;
    });
    throw new EngineError(
      `the stack is currently locked by ${others.length} lock(s). Either wait for the other process(es) to end or ` +
        `delete the lock with 'microapps cancel ${this.#stack}'.\n${owners.join("\n")}`,
    );
  }
}

/** Deletes every lock of a stack, whoever made it, and returns their number. */
export async function breakLocks(folder: string): Promise<number> {
  const names = locksIn(folder);
  for (const name of names) await rm(path.join(folder, name), { force: true });
  return names.length;
}

/** Numbers of the processes of this machine that hold a lock in a folder and certainly run. */
export const runningHolders = (folder: string): number[] =>
  locksIn(folder).flatMap((name) => {
    const lock = contentOf(path.join(folder, name));
    return lock && stateOf(lock) === "running" ? [Number(lock["pid"])] : [];
  });

/** How long the providers of a killed engine may go on. */
const providersEndAfterMs = 3_000;

/** The locks of engines that have certainly ended: their birth is known, and they ran on this machine. */
export const endedLocks = (folder: string): { file: string; sentence: string }[] =>
  locksIn(folder).flatMap((name) => {
    const file = path.join(folder, name);
    const lock = contentOf(file);
    if (lock?.["bootID"] === undefined || stateOf(lock) !== "ended") return [];
    const run = `The run of ${oneLine(String(lock["timestamp"]))} (pid ${oneLine(String(lock["pid"]))})`;
    return [{ file, sentence: `${run} was killed and left its lock behind, which is deleted now.` }];
  });

function locksIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (isAbsent(error)) return []; // nobody has ever locked this stack
    throw new EngineError(`can't tell whether the stack is locked: could not read ${folder}: ${messageOf(error)}`);
  }
}

/** The content of a lock; undefined of one that is being written, is broken, or was just removed. */
function contentOf(file: string): Record<string, unknown> | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(content) ? content : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isAbsent(error)) return undefined;
    throw new EngineError(`can't tell who holds the lock ${file}: ${messageOf(error)}`);
  }
}

/**
 * Whether a lock's process certainly runs on this machine, has certainly ended, or nobody knows. Locks of Pulumi and of
 * earlier versions hold less about it.
 */
function stateOf({ hostname, pid, bootID, pidNamespace, startTime }: Record<string, unknown>): string {
  if (hostname !== os.hostname() || typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return "unknown";
  if (bootID === undefined) return isRunning(pid) ? "running" : "ended";
  const here = birthOf();
  if (here === undefined || pidNamespace !== here.pidNamespace) return "unknown"; // its number means nothing here
  if (bootID !== here.bootID || !isRunning(pid)) return "ended";
  const there = birthOf(pid);
  return there === undefined || there.startTime === startTime ? "running" : "ended";
}
