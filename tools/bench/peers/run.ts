/** `make bench-peers`: the same four jobs by this package and by what people would take otherwise, on one emulator each. */
import { timeWork } from "../measure.ts";
import { Platform } from "../platform.ts";
import { openTofu } from "./openTofu.ts";
import { microapps, pulumiCommand, pulumiWith } from "./pulumi.ts";
import { NotHere, type Peer, structure, users } from "./structure.ts";

const peers: readonly ((platform: Platform) => Promise<Peer>)[] = [
  microapps("TeamMember"),
  microapps("TeamRoster"),
  pulumiWith("TeamMember"),
  openTofu,
  pulumiCommand,
];

const jobs: readonly [string, (peer: Peer) => Promise<unknown>][] = [
  ["from nothing", (peer) => peer.up(structure(false))],
  ["nothing changed", (peer) => peer.up(structure(false))],
  ["one team changed", (peer) => peer.up(structure(true))],
  ["taken down", (peer) => peer.down()],
];

const rows: string[] = [];
const missing: string[] = [];
for (const make of peers) {
  const platform = await Platform.start({}, { users });
  try {
    const peer = await make(platform);
    process.stderr.write(`${peer.name} …\n`);
    const cells: string[] = [];
    try {
      for (const [, job] of jobs) {
        let ms = 0;
        const calls = await platform.calls(async () => (ms = await timeWork(() => job(peer))));
        cells.push(`${(ms / 1000).toFixed(1)} s, ${calls} calls`);
      }
    } finally {
      await peer.remove();
    }
    rows.push(`| ${[peer.name, ...cells].join(" | ")} |`);
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    missing.push(`${error.message}.`);
  } finally {
    await platform.stop();
  }
}
const heads = ["1 organization, 10 teams, 100 members", ...jobs.map(([name]) => name)];
process.stdout.write(
  [`| ${heads.join(" | ")} |`, `|${heads.map(() => " --- |").join("")}`, ...rows, ...missing].join("\n") + "\n",
);
