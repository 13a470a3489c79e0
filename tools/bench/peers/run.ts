/**
 * `make bench-peers`: the same four jobs by this package and by what people would take otherwise, on one emulator each,
 * beside the platform and at a distance to it. Each works on 10 resources at a time. Prints a table for each distance and
 * draws them into tools/bench/peers.svg. Arguments choose peers: members, rosters, pulumi, opentofu, command.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { median, timeWork } from "../measure.ts";
import { BenchPlatform } from "../platform.ts";
import { openTofu } from "./openTofu.ts";
import { type Panel, picture } from "./picture.ts";
import { microapps, pulumiCommand, pulumiWith } from "./pulumi.ts";
import { NotHere, type Peer, structure, users } from "./structure.ts";

type Make = (platform: BenchPlatform) => Promise<Peer>;

/** Peers by the words that choose them. */
const makers: Readonly<Record<string, Make>> = {
  members: microapps("TeamMember"),
  rosters: microapps("TeamRoster"),
  pulumi: pulumiWith("TeamMember"),
  opentofu: openTofu,
  command: pulumiCommand,
};

interface Job {
  name: string;
  work: (peer: Peer) => Promise<unknown>;
  /** How often it is measured; the median counts. */
  times: number;
}

const jobs: readonly Job[] = [
  { name: "from nothing", work: (peer) => peer.up(structure(false)), times: 1 },
  { name: "nothing changed", work: (peer) => peer.up(structure(false)), times: 3 },
  { name: "one team changed", work: (peer) => peer.up(structure(true)), times: 1 },
  { name: "taken down", work: (peer) => peer.down(), times: 1 },
];

/** Milliseconds that the platform waits before it answers a call: on the same machine, and on another continent. */
const delays = [0, 40];

interface Measured {
  name: string;
  seconds: number[];
  calls: number[];
}

/** Runs the jobs one after the other on a platform that answers after a delay. */
async function measure(make: Make, delay: number): Promise<Measured> {
  const platform = await BenchPlatform.start({}, { users });
  try {
    const peer = await make(platform);
    try {
      process.stderr.write(`${peer.name}, ${delay} ms …\n`);
      const faults = delay === 0 ? [] : [{ kind: "slow", milliseconds: delay }];
      await platform.administrate("PUT", "faults", JSON.stringify({ faults }));
      const measured: Measured = { name: peer.name, seconds: [], calls: [] };
      for (const { work, times } of jobs) {
        const taken: number[] = [];
        let calls = 0;
        for (let time = 0; time < times; time++) {
          calls = await platform.calls(async () => void taken.push(await timeWork(() => work(peer))));
        }
        measured.seconds.push(median(taken) / 1000);
        measured.calls.push(calls);
      }
      return measured;
    } finally {
      await peer.remove();
    }
  } finally {
    await platform.stop();
  }
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((word) => !Object.hasOwn(makers, word));
if (unknown.length > 0) {
  process.stderr.write(`there is no peer ${unknown.join(", ")}: choose among ${Object.keys(makers).join(", ")}\n`);
  process.exit(2);
}
const panels: Panel[] = [];
const missing = new Set<string>();
for (const delay of delays) {
  const peers: Measured[] = [];
  for (const [word, make] of Object.entries(makers)) {
    if (chosen.length > 0 && !chosen.includes(word)) continue;
    try {
      peers.push(await measure(make, delay));
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      missing.add(`${error.message}.`);
    }
  }
  const title = delay === 0 ? "Without distance" : `${delay} ms for each call`;
  panels.push({ title: `${title}, 10 at a time`, jobs: jobs.map(({ name }) => name), peers });
  const heads = [`${title}: 1 organization, 10 teams, 100 members`, ...jobs.map(({ name }) => name)];
  const rows = peers.map(({ name, seconds, calls }) => [
    name,
    ...seconds.map((each, at) => `${each.toFixed(1)} s, ${calls[at] ?? 0} calls`),
  ]);
  const lines = [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  process.stdout.write(`${lines.join("\n")}\n\n`);
}
process.stdout.write([...missing].map((text) => `${text}\n`).join(""));
// A picture of some peers alone would stand in the place of the whole one.
if (chosen.length === 0)
  writeFileSync(path.join(import.meta.dirname, "../../../../tools/bench/peers.svg"), picture(panels));
