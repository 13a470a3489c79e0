/**
 * `make bench`: measures the jobs of the design, each beside a floor or a peer in the same run, prints the figures and writes
 * them to tools/bench/RESULTS.md. With names of jobs it measures these and writes nothing; with `--small` a hundredth of each.
 * A job that fails ends no other; the status is 1 then.
 */
import { writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { messageOf } from "../../machine/failures.ts";
import { measureEmulator } from "./emulator.ts";
import { measureMembers } from "./members.ts";
import { measurePeers } from "./peers.ts";
import { measureRows } from "./rows.ts";
import { repository, type Figure } from "./stage.ts";
import { measureStart } from "./start.ts";

const words = process.argv.slice(2);
const isSmall = words.includes("--small");
const sized = (count: number, small: number): number => (isSmall ? small : count);
const jobs: Record<string, () => Promise<Figure[]>> = {
  emulator: () => measureEmulator(10_000),
  start: () => measureStart(sized(2_000, 20)),
  members: () => measureMembers(sized(10_000, 100)),
  peers: () => measurePeers(sized(100, 20)),
  rows: () => measureRows(sized(1_000_000, 10_000)),
};

const chosen = words.filter((word) => word !== "--small");
const unknown = chosen.filter((name) => !Object.hasOwn(jobs, name));
if (unknown.length > 0) {
  process.stderr.write(`there is no job ${unknown.join(", ")}: choose among ${Object.keys(jobs).join(", ")}\n`);
  process.exit(2);
}

const figures: Figure[] = [];
const failed: string[] = [];
const isMet = ({ value, target }: Figure): boolean => value <= target;
for (const [name, measure] of Object.entries(jobs)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  try {
    for (const one of await measure()) {
      figures.push(one);
      const { job, value, range, unit, target } = one;
      const told = `${job}: ${value} ${unit}${range ? ` (${range.join(" to ")})` : ""}, at most ${target}`;
      process.stdout.write(`${isMet(one) ? "  " : "! "}${told}\n`);
    }
  } catch (error) {
    failed.push(`\`${name}\`: ${messageOf(error).split("\n")[0] ?? ""}`);
    process.stdout.write(`Failed: ${name}: ${messageOf(error)}\n`);
  }
}
if (failed.length > 0) process.exitCode = 1;

if (chosen.length === 0 && !isSmall) {
  const machine = `${os.cpus()[0]?.model ?? os.arch()}, ${os.availableParallelism()} cores, Node ${process.version}`;
  const rows = figures.map((one) => {
    const { job, value, range, unit, target } = one;
    return `| ${job} | ${value} ${unit} | ${range?.join(" – ") ?? ""} | ≤ ${target} | ${isMet(one) ? "yes" : "**no**"} |`;
  });
  const text = [
    "# Results",
    "",
    `Written by \`make bench\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. A value with a range is the median of its runs.`,
    "",
    "| job | value | range | target | met |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    ...failed.map((reason) => `| **failed**: ${reason.replaceAll("|", "\\|")} | | | | **no** |`),
  ];
  writeFileSync(path.join(repository, "tools/bench/RESULTS.md"), `${text.join("\n")}\n`);
}
