import { beforeEach, expect, test } from "@jest/globals";
import type { Fault } from "../../emulator/platform/faults.ts";
import { type Scene, testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";
import * as testedKinds from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";

const people = ["ada", "alan", "edsger", "grace"];
const emailOf = (name: string): string => `${name}@example.com`;
const users = people.map((name) => ({ id: name, email: emailOf(name) }));

type Inputs = Record<string, unknown>;
type Outcome = PromiseSettledResult<{ id: string; outputs: Inputs }>;

/** Adds members, all of them at the same time. */
async function add(scene: Scene, news: readonly Inputs[]): Promise<{ inputs: Inputs[]; outcomes: Outcome[] }> {
  const checked = await Promise.all(news.map((one) => scene.host.check("TeamMember", one)));
  const inputs = checked.map(({ inputs }) => inputs);
  return { inputs, outcomes: await Promise.allSettled(inputs.map((one) => scene.host.create("TeamMember", one))) };
}

/** The result for each: the person's ID, or the error. */
const told = (outcomes: readonly Outcome[]): string[] =>
  outcomes.map((one) => (one.status === "fulfilled" ? one.value.id : String(one.reason)));

/** The user IDs of a team's members but for the administrator who made it. */
async function live({ client }: Scene, teamID: string): Promise<(string | undefined)[]> {
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  const self = await client.callerID();
  return teamMembers.flatMap(({ userID }) => (userID === self ? [] : userID)).toSorted();
}

/** Calls that were made since another one. */
const sent = ({ emulator }: Scene, endpoint: "insertteammembers" | "teammembers", since: number): number =>
  emulator.calls({ since, endpoint }).length;

// Many additions with failing calls are covered in testing/disturbed, without a process.
throughBothKinds({ users }, (scene) => {
  let organizationID: string;
  beforeEach(async () => {
    organizationID = await scene.organization();
  });

  async function someTeams(names: string): Promise<string[]> {
    const teams: string[] = [];
    for (const name of ["A", "B", "C"]) teams.push(await scene.team(organizationID, `${names} ${name}`));
    return teams;
  }
  const everywhere = (teams: readonly string[]): Inputs[] =>
    teams.flatMap((teamID) => people.map((name) => ({ teamID, email: emailOf(name), role: "member" })));
  const ids = (teams: readonly string[]): string[] =>
    teams.flatMap((teamID) => people.map((name) => `${teamID}/${name}`));

  /** Everybody is where they are wanted, and the next run, even one whose state was lost, finds nothing to do. */
  async function settled(teams: readonly string[]): Promise<void> {
    for (const teamID of teams) expect(await live(scene, teamID)).toEqual(people);
    const since = scene.emulator.lastCall();
    const { inputs, outcomes } = await add(scene, everywhere(teams));
    expect(told(outcomes)).toEqual(ids(teams));
    expect(scene.emulator.calls({ since, mutating: true })).toEqual([]);
    const [first] = outcomes;
    if (first?.status !== "fulfilled") throw new Error("nobody was added");
    const { id, outputs } = first.value;
    expect(await scene.host.diff("TeamMember", id, outputs, inputs[0] ?? {})).toMatchObject({ changes: false });
  }

  testInOwnProcess(
    "calls without an answer end with the engine's time or its provider, and the next run goes on",
    async () => {
      const { emulator, host, providerKind } = scene;
      const all: string[] = [];
      for (const commit of [true, false]) {
        const teams = await someTeams(commit ? "carried out" : "lost");
        const hits = { endpoint: "insertteammembers", count: 1 } as const;
        emulator.setFaults({ faults: [{ ...hits, kind: "timeout", commit }] });
        // No time-out reaches dynamic resources.
        host.timeout = providerKind === testedKinds.plugin ? 1 : 0;
        const adding = add(scene, everywhere(teams));
        if (providerKind === testedKinds.dynamic) {
          await eventually("the call", () => emulator.faults()[0]?.hit === 1);
          if (host.pid !== undefined) process.kill(host.pid, "SIGKILL");
        }
        const words = providerKind === testedKinds.plugin ? "not done within the 1 s of its timeout" : "";
        for (const one of told((await adding).outcomes)) expect(one).toMatch(new RegExp(`^Error: ${words}`));
        host.timeout = 0;
        host.trace.length = 0; // earlier messages differ
        await host.restart();
        expect(told((await add(scene, everywhere(teams))).outcomes)).toEqual(ids(teams));
        all.push(...teams);
      }
      await settled(all);
    },
  );

  test("a roster and members of other teams are read in one call, and none is taken for gone when it fails", async () => {
    const { emulator, host } = scene;
    const teams = await someTeams("read");
    const [rosterID = "", ...others] = teams;
    const members = Object.fromEntries(people.map((name) => [emailOf(name), "member"]));
    const roster = await scene.create("TeamRoster", { teamID: rosterID, members });
    const made = [{ type: "TeamRoster", id: roster.id, outputs: roster.outputs }];
    for (const one of (await add(scene, everywhere(others))).outcomes) {
      if (one.status === "fulfilled") made.push({ type: "TeamMember", ...one.value });
    }
    expect(made).toHaveLength(1 + 2 * people.length);
    const readAll = async (fault: Fault) => {
      emulator.setFaults({ faults: [{ ...fault, endpoint: "teammembers", count: 1 }] });
      const since = emulator.lastCall();
      const found = await Promise.allSettled(made.map(({ type, id, outputs }) => host.read(type, id, outputs)));
      return { found, count: sent(scene, "teammembers", since) };
    };
    const there = made.map(({ id, outputs }) => ({ status: "fulfilled", value: { id, outputs } }));

    await host.restart();
    // A busy machine may take some reads so late that they need a call of their own.
    const late = 1;
    for (const kind of ["errorInside", "brokenJSON"] as const) {
      const { found, count } = await readAll({ kind });
      expect(found).toContainEqual(expect.objectContaining({ status: "rejected" }));
      expect(count).toBeLessThanOrEqual(1 + late);
    }
    for (const fault of [{ kind: "status", status: 500 }, { kind: "reset" }] as const) {
      const { found, count } = await readAll(fault);
      expect(found).toMatchObject(there);
      expect(count).toBeLessThanOrEqual(2 + late);
      await host.restart();
    }
    // One of the teams may be gone: so all are asked about by themselves.
    const { found, count } = await readAll({ kind: "status", status: 404 });
    expect(found).toMatchObject(there);
    expect(count).toBeLessThanOrEqual(1 + teams.length + late);
  });
});
