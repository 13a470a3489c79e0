import { readFileSync } from "node:fs";
import { messageOf } from "../../machine/failures.ts";

/** One figure beside what it has to reach. */
export interface Figure {
  job: string;
  value: number;
  /** Lowest and highest of the runs that `value` is the median of; absent for what was measured once. */
  spread?: readonly [number, number];
  /** `ratio`, `calls`, `characters`, `ms`, `MB`, `KB`. */
  unit: string;
  /** The value must not be above it. */
  target: number;
  met: boolean;
  /** Day and machine, where it was not measured with the others. */
  from?: string;
}

/** Measurements of several runs. */
export interface Runs {
  /** The median, so that a hiccup of the machine does not count. */
  value: number;
  spread: readonly [number, number];
}

const rounded = (value: number, unit: string): number =>
  unit === "calls" || unit === "characters" ? value : Number(value.toPrecision(3));

export function figure(job: string, measured: number | Runs, unit: string, target: number): Figure {
  const { value, spread }: { value: number; spread?: Runs["spread"] } =
    typeof measured === "number" ? { value: measured } : measured;
  return {
    job,
    value: rounded(value, unit),
    ...(spread && { spread: [rounded(spread[0], unit), rounded(spread[1], unit)] as const }),
    unit,
    target,
    met: value <= target,
  };
}

/** Milliseconds that a piece of work takes. */
export async function timeWork(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The middle one, so that a hiccup of the machine does not count. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export const runs = (values: readonly number[]): Runs => ({
  value: median(values),
  spread: [Math.min(...values), Math.max(...values)],
});

/** A job that did not come to its end. */
export interface FailedJob {
  job: string;
  reason: string;
}

/** Runs those of some jobs that were chosen, one after the other; one that fails ends no other. */
export async function each<Result>(
  jobs: Readonly<Record<string, () => Promise<Result>>>,
  chosen: readonly string[],
  take: (result: Result) => void,
): Promise<{ done: Result[]; failed: FailedJob[] }> {
  const done: Result[] = [];
  const failed: FailedJob[] = [];
  for (const [job, run] of Object.entries(jobs)) {
    if (!chosen.includes(job)) continue;
    process.stderr.write(`${job} …\n`);
    try {
      const result = await run();
      take(result);
      done.push(result);
    } catch (error) {
      failed.push({ job, reason: messageOf(error) });
    }
  }
  return { done, failed };
}

/** Runs both pieces of work in turn, and returns what the first takes as a multiple of the second. */
export async function measurePair(
  rounds: number,
  ours: () => Promise<unknown>,
  floor: () => Promise<unknown>,
): Promise<Runs> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const least = await timeWork(floor);
    ratios.push((await timeWork(ours)) / least);
  }
  return runs(ratios);
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
