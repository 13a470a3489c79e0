/**
 * `make bench`: measures each job of the design beside its floor, prints the figures and writes them to tools/bench/. With names
 * of jobs it measures these, and writes with `--write` alone. A job that fails ends no other; the status is 1 then.
 */
import { measureMasks } from "./commands/masked.ts";
import { measurePromotions } from "./commands/promotions.ts";
import { reports } from "./commands/reports.ts";
import { type Curves, failures, points } from "./curves.ts";
import { measureConsole } from "./emulator/console.ts";
import { measureEmulator } from "./emulator/emulated.ts";
import { measureLasting } from "./emulator/lasting.ts";
import { snapshots } from "./emulator/snapshots.ts";
import { memberGrowth, resourceGrowth } from "./growth.ts";
import { crowding, measureGrowth, rowGrowth } from "./manyRows.ts";
import { each, type Figure } from "./measure.ts";
import { fromNothing, members, roster } from "./members.ts";
import { programs } from "./programs.ts";
import { readCommitted, line, renewResults, worse, write } from "./results.ts";
import { measureChanges, seeding } from "./seeds.ts";
import { starting } from "./start.ts";

const jobs: Record<string, () => Promise<Figure[]>> = {
  emulator: measureEmulator,
  snapshots: () => snapshots(100_000, 1_000_000),
  console: () => measureConsole(1_000_000),
  lasting: () => measureLasting(150_000, 500_000),
  start: starting,
  members: () => members(50, 20),
  fromNothing,
  roster: () => roster(1_500),
  programs: () => programs(200, 5, 1.15),
  manyPrograms: () => programs(2_000, 3, 1.1),
  report: () => reports(10_000, 200),
  promotions: () => measurePromotions(100_000, { ms: 3_000, MB: 350 }),
  manyPromotions: () => measurePromotions(1_000_000, { ms: 30_000, MB: 600 }),
  change: () => measureChanges(100_000),
  seed: () => seeding(1_000_000, 3),
  masked: () => measureMasks(1_000_000),
  crowd: () => crowding(20, 100_000, 3),
  growth: () => measureGrowth(1_000_000),
};
const growth: Record<string, () => Promise<Curves>> = {
  rowGrowth: () => rowGrowth([10_000, 100_000, 1_000_000, 10_000_000]),
  memberGrowth: () => memberGrowth([10, 100, 1_000, 10_000]),
  resourceGrowth: () => resourceGrowth([10, 100, 500, 2_000]),
};

const words = process.argv.slice(2);
const chosen = words.filter((word) => word !== "--write");
const names = [...Object.keys(jobs), ...Object.keys(growth)];
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`there is no job ${unknown.join(", ")}: choose among ${names.join(", ")}\n`);
  process.exit(2);
}
const ran = chosen.length > 0 ? chosen : names;

const figures = await each(jobs, ran, (measured) =>
  process.stdout.write(measured.map((figure) => `${line(figure)}\n`).join("")),
);
const curves = await each(growth, ran, (measured) => process.stdout.write(`${points(measured).join("\n")}\n`));
const failed = [...figures.failed, ...curves.failed, ...curves.done.flatMap(failures)];
const now = { jobs: figures.done.flat(), curves: curves.done, failed: [...figures.failed, ...curves.failed] };
const before = readCommitted();
const known = new Map(before.jobs.map((figure) => [figure.job, figure]));
const slower = now.jobs.flatMap((figure) => worse(figure, known.get(figure.job)) ?? []);
if (slower.length > 0) process.stdout.write(`Worse than in tools/bench/results.json:\n  ${slower.join("\n  ")}\n`);
// The figures of jobs that did not run stay.
if (chosen.length === 0) write(now);
else if (words.includes("--write")) write(renewResults(before, now, ran));
for (const { job, reason } of failed) process.stdout.write(`Failed: ${job}: ${reason}\n`);
if (failed.length > 0) process.exitCode = 1;
