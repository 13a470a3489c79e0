import { readFileSync, readlinkSync } from "node:fs";

/** What tells a process from all others that ever have its number. Linux alone tells it. */
interface Birth {
  /** Changes whenever the machine starts. */
  bootID: string;
  /** Containers of one machine count their processes each for itself. */
  pidNamespace: string;
  /** Ticks from the machine's start to the process's. */
  startTime: string;
}

/** Of a process that runs here, this one when none is named; undefined where the system does not tell. */
export function birthOf(pid: number | "self" = "self"): Birth | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // A name in brackets, which may hold anything, stands before the third field; this is the 22nd.
    const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const bootID = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return startTime === undefined ? undefined : { bootID, pidNamespace: readlinkSync("/proc/self/ns/pid"), startTime };
  } catch {
    return undefined;
  }
}

/** Whether a process of that number runs here, whoever's it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // killing throws nothing else
  }
}
