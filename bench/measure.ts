import { readFileSync } from "node:fs";

/** One figure beside what it has to reach. */
export interface Figure {
  job: string;
  value: number;
  /** `ratio`, `calls`, `characters`, `ms`, `MB`, `KB`. */
  unit: string;
  /** The value must not be above it. */
  target: number;
  met: boolean;
}

export function figure(job: string, value: number, unit: string, target: number): Figure {
  const rounded = unit === "calls" || unit === "characters" ? value : Number(value.toPrecision(3));
  return { job, value: rounded, unit, target, met: value <= target };
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The middle one, so that a hiccup of the machine does not count. */
export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Most memory that a process ever had, in MB; known on Linux alone. */
export const peakMemory = (pid: number | undefined): number => memory(pid, "VmHWM");

/** Memory that a process has now, in MB; known on Linux alone. */
export const memoryNow = (pid: number | undefined): number => memory(pid, "VmRSS");

function memory(pid: number | undefined, what: "VmHWM" | "VmRSS"): number {
  if (pid === undefined || process.platform !== "linux") return Number.NaN;
  const found = new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) / 1024;
}
