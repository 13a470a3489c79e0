/** `make bench`: measures each job of the design beside its floor, prints the figures and writes them to bench/. */
import { writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { emulated } from "./emulated.ts";
import { crowding, growing } from "./manyRows.ts";
import type { Figure } from "./measure.ts";
import { members, roster } from "./members.ts";
import { programs } from "./programs.ts";
import { reports } from "./reports.ts";
import { changing, seeding } from "./seeds.ts";

const jobs: Record<string, () => Promise<Figure[]>> = {
  emulator: emulated,
  members: () => members(50, 20),
  roster: () => roster(1_500),
  programs: () => programs(200),
  report: () => reports(10_000, 200),
  change: () => changing(100_000),
  seed: () => seeding(1_000_000),
  crowd: () => crowding(20, 100_000),
  growth: () => growing(1_000_000),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(jobs, name));
if (unknown.length > 0) {
  process.stderr.write(`there is no job ${unknown.join(", ")}: choose among ${Object.keys(jobs).join(", ")}\n`);
  process.exit(2);
}

const figures: Figure[] = [];
for (const [name, run] of Object.entries(jobs)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  for (const figure of await run()) {
    figures.push(figure);
    process.stdout.write(`${line(figure)}\n`);
  }
}
// A part of the jobs would overwrite the figures of the others.
if (chosen.length === 0) {
  const folder = path.join(import.meta.dirname, "../../bench");
  const machine = `${os.cpus()[0]?.model ?? os.arch()}, ${os.availableParallelism()} cores, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(path.join(folder, "results.json"), `${JSON.stringify({ machine, date, jobs: figures }, null, 2)}\n`);
  const rows = figures.map(
    ({ job, value, unit, target, met }) => `| ${job} | ${value} ${unit} | ≤ ${target} | ${met ? "yes" : "**no**"} |`,
  );
  const head = [
    "# Results",
    "",
    `Written by \`make bench\` on ${date}: ${machine}.`,
    "",
    "| job | value | target | met |",
    "| --- | --- | --- | --- |",
  ];
  writeFileSync(path.join(folder, "RESULTS.md"), `${[...head, ...rows].join("\n")}\n`);
}

function line({ job, value, unit, target, met }: Figure): string {
  return `${met ? "  " : "! "}${job}: ${value} ${unit} (at most ${target})`;
}
