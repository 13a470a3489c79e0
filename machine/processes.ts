import { readFileSync, readlinkSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

/** Distinguishes a process from all others with its number; known on Linux only. */
interface Birth {
  /** Changes whenever the machine starts. */
  bootID: string;
  /** Each container of a machine numbers its processes itself. */
  pidNamespace: string;
  /** Ticks from the machine's start to the process's. */
  startTime: string;
}

/** Reads the birth of a running process; default: this one. Undefined where the system does not show it. */
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

/** True if a process with this number runs here, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // killing throws nothing else
  }
}

/** Removes what decrypts the state: programs, providers and Git get what they need in clear. */
export function withoutPassphrase(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PULUMI_CONFIG_PASSPHRASE: _, PULUMI_CONFIG_PASSPHRASE_FILE: __, ...others } = environment;
  return others;
}

let isSmall = false; // by the first who asks: rows ask with each call

/**
 * Keeps this process small among many short-lived things: rows that stream through it, the resources of a large state. V8
 * alone takes 200 MB more to save a tenth of the work. The heap grows by so many percent before it is collected.
 */
export function keepMemorySmall(growth = 25): void {
  if (isSmall) return;
  isSmall = true;
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}
