/**
 * `make bench-peers`: the same four jobs by this package and by what people would take otherwise, on one emulator each,
 * beside the platform and at a distance to it: people as members, and rows. Each works on 10 resources at a time. Prints
 * a table for both distances, and what the jobs of this package take beside OpenTofu's. Without arguments it writes README
 * and draws tools/bench/peers.svg; arguments choose peers: members, rosters, pulumi, opentofu, command, rows, rowsPulumi,
 * rowsOpentofu.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { median, timeWork } from "../measure.ts";
import { BenchPlatform } from "../platform.ts";
import { describeMachine } from "../results.ts";
import { openTofu, openTofuCommands } from "./openTofu.ts";
import { type Panel, picture } from "./picture.ts";
import { microapps, pulumiCommand, pulumiWith, seedRows, seedRowsWithPulumi } from "./pulumi.ts";
import { renewSection, tableOf } from "./readme.ts";
import { declarePeople, declareRows, NotHere, type Peer, table, users } from "./structure.ts";

const repository = path.join(import.meta.dirname, "../../../..");

interface Job<Structure> {
  name: string;
  work: (peer: Peer<Structure>) => Promise<unknown>;
  /** How often it is measured; the median counts. */
  times: number;
}

/** The jobs with something that can be declared in two ways. */
const jobsOf = <Structure>(change: string, declare: (changed: boolean) => Structure): readonly Job<Structure>[] => [
  { name: "from nothing", work: (peer) => peer.up(declare(false)), times: 1 },
  { name: "nothing changed", work: (peer) => peer.up(declare(false)), times: 3 },
  { name: change, work: (peer) => peer.up(declare(true)), times: 1 },
  { name: "taken down", work: (peer) => peer.down(), times: 1 },
];

/** Milliseconds that the platform waits before it answers a call: on the same machine, and on another continent. */
const delays = [0, 40];

type Measured = Panel["peers"][number];

/** Runs the jobs one after the other on a platform that answers after a delay. */
async function measure<Structure>(
  make: (platform: BenchPlatform) => Promise<Peer<Structure>>,
  jobs: readonly Job<Structure>[],
  delay: number,
): Promise<Measured> {
  const platform = await BenchPlatform.start({ [table.name]: { fields: table.fields } }, { users });
  try {
    const peer = await make(platform);
    try {
      process.stderr.write(`${peer.name}, ${delay} ms …\n`);
      const faults = delay === 0 ? [] : [{ kind: "slow", milliseconds: delay }];
      await platform.administrate("PUT", "faults", JSON.stringify({ faults }));
      const seconds: number[] = [];
      const callsOf: number[] = [];
      for (const { work, times } of jobs) {
        const taken: number[] = [];
        let calls = 0;
        for (let time = 0; time < times; time++) {
          calls = await platform.calls(async () => void taken.push(await timeWork(() => work(peer))));
        }
        seconds.push(median(taken) / 1000);
        callsOf.push(calls);
      }
      return { name: peer.name, seconds, calls: callsOf };
    } finally {
      await peer.remove();
    }
  } finally {
    await platform.stop();
  }
}

/** Measures with jobs at a delay. */
type Measure = (delay: number) => Promise<Measured>;

function group<Structure>(
  title: string,
  jobs: readonly Job<Structure>[],
  makers: Readonly<Record<string, (platform: BenchPlatform) => Promise<Peer<Structure>>>>,
): { title: string; jobs: string[]; peers: [word: string, measure: Measure][] } {
  const peers = Object.entries(makers).map(([word, make]): [string, Measure] => [
    word,
    (delay) => measure(make, jobs, delay),
  ]);
  return { title, jobs: jobs.map(({ name }) => name), peers };
}

/** Peers by the words that choose them. */
const groups = [
  group("1 organization, 10 teams, 100 members", jobsOf("one team changed", declarePeople), {
    members: microapps("TeamMember"),
    rosters: microapps("TeamRoster"),
    pulumi: pulumiWith("TeamMember"),
    opentofu: openTofu,
    command: pulumiCommand,
  }),
  group("1,000 rows", jobsOf("one row changed", declareRows), {
    rows: seedRows,
    rowsPulumi: seedRowsWithPulumi,
    rowsOpentofu: openTofuCommands,
  }),
];

const chosen = process.argv.slice(2);
const words = groups.flatMap(({ peers }) => peers.map(([word]) => word));
const unknown = chosen.filter((word) => !words.includes(word));
if (unknown.length > 0) {
  process.stderr.write(`there is no peer ${unknown.join(", ")}: choose among ${words.join(", ")}\n`);
  process.exit(2);
}

/** Describes what each job takes beside that of OpenTofu. */
function ratios({ title, jobs, peers }: Panel): string[] {
  const other = peers.find(({ name }) => name.startsWith("OpenTofu"));
  return peers.flatMap(({ name, seconds }) => {
    if (!other || name === other.name) return [];
    const each = jobs.map((job, at) => `${job} ${((seconds[at] ?? 0) / (other.seconds[at] ?? 0)).toFixed(2)}`);
    return `${title}: ${name} to ${other.name}: ${each.join(", ")}`;
  });
}

const panels: Panel[] = [];
const lines: string[] = [];
const missing = new Set<string>();
for (const { title, jobs, peers } of groups) {
  const some = peers.filter(([word]) => chosen.length === 0 || chosen.includes(word));
  if (some.length === 0) continue;
  const here: Panel[] = [];
  for (const delay of delays) {
    const measured: Measured[] = [];
    for (const [, measure] of some) {
      try {
        measured.push(await measure(delay));
      } catch (error) {
        if (!(error instanceof NotHere)) throw error;
        missing.add(`${error.message}.`);
      }
    }
    here.push({ title: `${title}, ${delay} ms for each call`, jobs, peers: measured });
  }
  lines.push(...(lines.length > 0 ? [""] : []), ...tableOf(title, here));
  panels.push(...here);
}
const shown = [...lines, "", ...panels.flatMap(ratios), ...missing];
process.stdout.write(shown.map((text) => `${text}\n`).join(""));
// Some peers alone would stand in the place of all.
if (chosen.length === 0) {
  const readme = path.join(repository, "README.md");
  const measured = `Seconds at 0 and at 40 ms a call, each tool 10 at a time, on ${describeMachine()}.`;
  const section = [measured, "", ...lines, "", "![Seconds of each job, by tool](tools/bench/peers.svg)"];
  writeFileSync(readme, renewSection(readFileSync(readme, "utf8"), section));
  writeFileSync(path.join(repository, "tools/bench/peers.svg"), picture(panels));
}
