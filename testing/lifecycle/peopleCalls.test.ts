import { afterEach, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";
import type { Properties } from "../harness/providerHost.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };

/** Longer than anything takes on a busy machine. */
const waits = { reads: 500, additions: 500, ttlMs: 60_000 };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function started(): Promise<{ emulator: Emulator; host: InProcessHost }> {
  const emulator = await createEmulator({ seed: { administrator } });
  const folder = await mkdtemp(join(tmpdir(), "people-calls-"));
  const host = new InProcessHost({ endpoint: emulator.url, ...administrator }, folder, waits);
  ends.push(async () => {
    host.stop();
    await emulator.close();
    await rm(folder, { recursive: true });
  });
  return { emulator, host };
}

/** Works on many, so many at a time, as an engine does: what becomes ready goes to the end of the queue. */
class Engine {
  readonly #queue: (() => void)[] = [];
  #free = 8;

  async run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

const numbers = Array.from({ length: 10 }, (_, number) => number);

/** Changes of each team, and the calls that all of them may take. */
const cases: [
  string,
  most: number,
  lists: number,
  (teamID: string, team: number) => [type: string, news: Properties][],
][] = [
  [
    "TeamRosters",
    30,
    4,
    (teamID, team) => {
      const members = Object.fromEntries(numbers.map((one) => [`m${team}x${one}@example.com`, "member"]));
      return [["TeamRoster", { teamID, members }]];
    },
  ],
  [
    "TeamMembers",
    50,
    20,
    (teamID, team) =>
      numbers.map((one) => ["TeamMember", { teamID, email: `m${team}x${one}@example.com`, role: "member" }]),
  ],
];

test.each(cases)(
  "1 organization, 10 teams and 100 people as %s from nothing take %i calls at most",
  async (_, most, lists, people) => {
    const { emulator, host } = await started();
    const engine = new Engine();
    const make = async (name: string, type: string, news: Properties): Promise<string> => {
      host.resource = name;
      const { inputs } = await host.check(type, news);
      return engine.run(() => {
        host.resource = name;
        return host.create(type, inputs).then(({ id }) => id);
      });
    };
    const organizationID = await make("acme", "Organization", { name: "Acme" });
    const teams = numbers.map(async (team) => {
      const teamID = await make(`team${team}`, "Team", { organizationID, name: `Team ${team}` });
      await Promise.all(people(teamID, team).map(([type, news], one) => make(`${team}x${one}`, type, news)));
    });
    await Promise.all(teams);
    const calls = emulator.calls().flatMap(({ endpoint }) => (/^log(in|out)$/.test(endpoint) ? [] : endpoint));
    expect(calls.filter((endpoint) => endpoint === "teammembers").length).toBeLessThanOrEqual(lists);
    expect(calls.filter((endpoint) => /^read/.test(endpoint))).toEqual(["readorganization", "readteam"]);
    expect(calls.length).toBeLessThanOrEqual(most);
  },
);
