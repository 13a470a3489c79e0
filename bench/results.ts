import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Curves, picture, points } from "./curves.ts";
import type { Figure } from "./measure.ts";

const folder = path.join(import.meta.dirname, "../../bench");
const file = path.join(folder, "results.json");

interface Results {
  machine: string;
  date: string;
  jobs: Figure[];
}

/** The figures of the committed run; none before the first. */
export const committed = (): Figure[] =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results).jobs : [];

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

/** Writes the figures, the curves and their pictures beside the sources. */
export function write(figures: readonly Figure[], curves: readonly Curves[]): void {
  const machine = `${os.cpus()[0]?.model ?? os.arch()}, ${os.availableParallelism()} cores, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${JSON.stringify({ machine, date, jobs: figures }, null, 2)}\n`);
  const rows = figures.map(({ job, value, spread, unit, target, met }) => {
    return `| ${job} | ${value} ${unit} | ${spread?.join(" – ") ?? ""} | ≤ ${target} | ${met ? "yes" : "**no**"} |`;
  });
  const text = [
    "# Results",
    "",
    `Written by \`make bench\` on ${date}: ${machine}. A value with a range is the median of its runs.`,
    "",
    "| job | value | range | target | met |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    ...curves.flatMap((of) => ["", `## ${of.title}`, "", `![${of.title}](${of.name}.svg)`, "", ...points(of)]),
  ];
  writeFileSync(path.join(folder, "RESULTS.md"), `${text.join("\n")}\n`);
  for (const of of curves) writeFileSync(path.join(folder, `${of.name}.svg`), picture(of));
}
