import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Curves, inCell, picture, points } from "./curves.ts";
import type { FailedJob, Figure } from "./measure.ts";

const folder = path.join(import.meta.dirname, "../../../tools/bench");
const file = path.join(folder, "results.json");

/** Measurements of a run, and the jobs that failed. */
export interface Measured {
  jobs: readonly Figure[];
  curves: readonly Curves[];
  failed: readonly FailedJob[];
}

interface Results extends Measured {
  machine: string;
  date: string;
}

/** Measurements of the committed run, with its day and machine; empty before the first. */
export function readCommitted(): Measured & Partial<Results> {
  const none = { jobs: [], curves: [], failed: [] };
  return existsSync(file) ? { ...none, ...(JSON.parse(readFileSync(file, "utf8")) as Partial<Results>) } : none;
}

/** The results with those of some jobs renewed, the others as of their day; what failed again loses what it had. */
export function renewResults(before: Measured & Partial<Results>, now: Measured, ran: readonly string[]): Measured {
  const { date, machine } = before;
  const origin = date === undefined || machine === undefined ? {} : { from: `${date}: ${machine}` };
  const kept = <One extends Figure | Curves>(one: One): One => ({ ...origin, ...one });
  const others = <One>(all: readonly One[], isNew: (one: One) => boolean): One[] => all.filter((one) => !isNew(one));
  const jobs = new Map(now.jobs.map((figure) => [figure.job, figure]));
  const curves = new Set(now.curves.map(({ name }) => name));
  return {
    jobs: [
      ...before.jobs.map((figure) => jobs.get(figure.job) ?? kept(figure)),
      ...others(now.jobs, ({ job }) => before.jobs.some((figure) => figure.job === job)),
    ],
    curves: [...others(before.curves, ({ name }) => curves.has(name)).map(kept), ...now.curves],
    failed: [...others(before.failed, ({ job }) => ran.includes(job)), ...now.failed],
  };
}

export const line = ({ job, value, spread, unit, target, met }: Figure): string =>
  `${met ? "  " : "! "}${job}: ${value} ${unit}${spread ? ` (${spread.join(" to ")})` : ""}, at most ${target}`;

/** A job that is worse than before by more than the runs of either differ among themselves, as a sentence. */
export function worse(now: Figure, before: Figure | undefined): string | undefined {
  if (before === undefined || before.unit !== now.unit) return undefined;
  const least = now.spread?.[0] ?? now.value;
  const most = before.spread?.[1] ?? before.value;
  const tolerance = now.spread || /calls|characters/.test(now.unit) ? 0 : most / 10; // measured once
  return least > most + tolerance ? `${now.job}: ${now.value} ${now.unit}, and ${before.value} before` : undefined;
}

/** The results as people read them. */
export function page({ jobs, curves, failed }: Measured, machine: string, date: string): string {
  const others = [...jobs, ...curves].flatMap(({ from }) => (from === `${date}: ${machine}` ? [] : (from ?? [])));
  const origins = [...new Set(others)];
  const mark = (from = ""): string => "\\*".repeat(origins.indexOf(from) + 1);
  const rows = jobs.map(({ job, value, spread, unit, target, met, from }) => {
    return `| ${job}${mark(from)} | ${value} ${unit} | ${spread?.join(" – ") ?? ""} | ≤ ${target} | ${met ? "yes" : "**no**"} |`;
  });
  const text = [
    "# Results",
    "",
    `Written by \`make bench\` on ${date}: ${machine}. A value with a range is the median of its runs.`,
    "",
    ...origins.flatMap((from) => [`${mark(from)} Measured on ${from}.`, ""]),
    "| job | value | range | target | met |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    ...failed.map(({ job, reason }) => `| \`${job}\` | **failed**: ${inCell(reason)} | | | **no** |`),
    ...curves.flatMap((of) => [
      "",
      `## ${of.title}${mark(of.from)}`,
      "",
      `![${of.title}](${of.name}.svg)`,
      "",
      ...points(of),
    ]),
  ];
  return `${text.join("\n")}\n`;
}

/** This machine, for the readers of results. */
export const describeMachine = (): string =>
  `${os.cpus()[0]?.model ?? os.arch()}, ${os.availableParallelism()} cores, Node ${process.version}`;

/** Writes the figures, the curves and their pictures beside the sources. */
export function write(measured: Measured): void {
  const machine = describeMachine();
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${JSON.stringify({ machine, date, ...measured }, null, 2)}\n`);
  writeFileSync(path.join(folder, "RESULTS.md"), page(measured, machine, date));
  for (const of of measured.curves) writeFileSync(path.join(folder, `${of.name}.svg`), picture(of));
}
