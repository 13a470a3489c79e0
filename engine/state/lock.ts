import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { isAbsent } from "../../machine/failures.ts";
import { birthOf } from "../../machine/processes.ts";
import { EngineError, messageOf } from "../errors.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";

/** The lock of a stack: a file for each engine, as Pulumi's file backend reads and writes them. */
export class Lock {
  readonly #folder: string;
  readonly #own = `${randomUUID()}.json`;

  /** `folder`: `.pulumi/locks/organization/<project>/<stack>` */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes the lock, or fails. It checks before and after writing, so that of two engines at most one goes on. */
  async take(): Promise<void> {
    await this.#refuseOthers();
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
      await this.#refuseOthers();
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  async release(): Promise<void> {
    await rm(path.join(this.#folder, this.#own), { force: true });
  }

  async #refuseOthers(): Promise<void> {
    const others = (await locksIn(this.#folder)).filter((name) => name !== this.#own);
    if (others.length === 0) return;
    const owners = await Promise.all(others.map((name) => describe(path.join(this.#folder, name))));
    throw new EngineError(
      `the stack is currently locked by ${others.length} lock(s). Either wait for the other process(es) to end or ` +
        `delete the lock with 'cancel'.\n${owners.map((owner) => `  ${owner}`).join("\n")}`,
    );
  }
}

/** Deletes every lock of a stack, whoever made it, and returns their number. */
export async function breakLocks(folder: string): Promise<number> {
  const names = await locksIn(folder);
  for (const name of names) await rm(path.join(folder, name), { force: true });
  return names.length;
}

async function locksIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (isAbsent(error)) return []; // nobody has ever locked this stack
    throw new EngineError(`can't tell whether the stack is locked: could not read ${folder}: ${messageOf(error)}`);
  }
}

async function describe(file: string): Promise<string> {
  try {
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    if (!isObject(content)) return file;
    const text = (name: string): string => oneLine(String(content[name]));
    return `${file}: created by ${text("username")}@${text("hostname")} (pid ${text("pid")}) at ${text("timestamp")}`;
  } catch {
    return file;
  }
}
