/** `make bench`: measures each job of the design beside its floor, prints the figures and writes them to bench/. */
import type { Curves } from "./curves.ts";
import { emulated } from "./emulator/emulated.ts";
import { lasting } from "./emulator/lasting.ts";
import { snapshots } from "./emulator/snapshots.ts";
import { memberGrowth, resourceGrowth } from "./growth.ts";
import { crowding, growing, rowGrowth } from "./manyRows.ts";
import type { Figure } from "./measure.ts";
import { fromNothing, members, roster } from "./members.ts";
import { programs } from "./programs.ts";
import { reports } from "./reports.ts";
import { committed, line, worse, write } from "./results.ts";
import { changing, seeding } from "./seeds.ts";
import { starting } from "./start.ts";

const jobs: Record<string, () => Promise<Figure[]>> = {
  emulator: emulated,
  snapshots: () => snapshots(100_000, 1_000_000),
  lasting: () => lasting(150_000, 500_000),
  start: starting,
  members: () => members(50, 20),
  fromNothing,
  roster: () => roster(1_500),
  programs: () => programs(200, 5, 1.15),
  manyPrograms: () => programs(2_000, 3, 1.1),
  report: () => reports(10_000, 200),
  change: () => changing(100_000),
  seed: () => seeding(1_000_000),
  crowd: () => crowding(20, 100_000),
  growth: () => growing(1_000_000),
};
const growth: Record<string, () => Promise<Curves>> = { rowGrowth, memberGrowth, resourceGrowth };

const chosen = process.argv.slice(2);
const names = [...Object.keys(jobs), ...Object.keys(growth)];
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`there is no job ${unknown.join(", ")}: choose among ${names.join(", ")}\n`);
  process.exit(2);
}

async function each<Result>(of: Record<string, () => Promise<Result>>, take: (result: Result) => void): Promise<void> {
  for (const [name, run] of Object.entries(of)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    process.stderr.write(`${name} …\n`);
    take(await run());
  }
}

const figures: Figure[] = [];
const curves: Curves[] = [];
await each(jobs, (measured) => {
  figures.push(...measured);
  process.stdout.write(measured.map((figure) => `${line(figure)}\n`).join(""));
});
await each(growth, (measured) => void curves.push(measured));
const before = new Map(committed().map((figure) => [figure.job, figure]));
const slower = figures.flatMap((figure) => worse(figure, before.get(figure.job)) ?? []);
if (slower.length > 0) process.stdout.write(`Worse than in bench/results.json:\n  ${slower.join("\n  ")}\n`);
// A part of the jobs would overwrite the figures of the others.
if (chosen.length === 0) write(figures, curves);
