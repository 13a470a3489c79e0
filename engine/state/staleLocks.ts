import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { isAbsent } from "../../machine/failures.ts";
import { birthOf, isRunning } from "../../machine/processes.ts";
import { EngineError, messageOf, systemCode } from "../errors.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";

/** Describes the locks in a folder when all are of killed runs of this machine; empty otherwise. */
export function staleLocks(folder: string): string[] {
  let locks: unknown[];
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    locks = names.map((name): unknown => JSON.parse(readFileSync(path.join(folder, name), "utf8")));
  } catch (error) {
    if (!(error instanceof SyntaxError) && systemCode(error) === undefined) throw error;
    return []; // no folder, or a lock that is being written: nothing is known to be stale
  }
  const stale = locks.filter(isObject).filter(isStale);
  if (stale.length < locks.length) return [];
  return stale.map(({ timestamp, pid }) => {
    const run = `The run of ${oneLine(String(timestamp))} (pid ${oneLine(String(pid))})`;
    return `${run} was killed and left its lock behind, which is deleted now.`;
  });
}

/** Numbers of the processes of this machine that hold a lock in a folder and certainly run. */
export function runningHolders(folder: string): number[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw new EngineError(`can't tell who holds the lock: could not read ${folder}: ${messageOf(error)}`);
  }
  return names.flatMap((name) => {
    try {
      const lock: unknown = JSON.parse(readFileSync(path.join(folder, name), "utf8"));
      return isObject(lock) && typeof lock["pid"] === "number" && holds(lock, lock["pid"]) ? [lock["pid"]] : [];
    } catch (error) {
      if (error instanceof SyntaxError || isAbsent(error)) return []; // it is being written, is broken, or was just removed
      throw new EngineError(`can't tell who holds the lock ${path.join(folder, name)}: ${messageOf(error)}`);
    }
  });
}

/** True when the lock's process belongs to this machine and runs; a lock of Pulumi holds less about its process. */
function holds(lock: Record<string, unknown>, pid: number): boolean {
  const { hostname: host, bootID, pidNamespace, startTime } = lock;
  if (host !== hostname() || !Number.isInteger(pid) || pid < 1 || !isRunning(pid)) return false;
  const there = birthOf(pid);
  if (bootID === undefined || there === undefined) return true;
  return bootID === there.bootID && pidNamespace === there.pidNamespace && startTime === there.startTime;
}

/** True if a lock's process has certainly ended. Locks of Pulumi and of earlier versions hold less about it. */
function isStale(lock: Record<string, unknown>): boolean {
  const { pid, bootID, pidNamespace, startTime } = lock;
  if (lock["hostname"] !== hostname() || typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return false;
  if (bootID === undefined) return !isRunning(pid);
  const here = birthOf();
  if (here === undefined || pidNamespace !== here.pidNamespace) return false; // its number means nothing here
  if (bootID !== here.bootID || !isRunning(pid)) return true;
  const there = birthOf(pid);
  return there !== undefined && there.startTime !== startTime;
}
