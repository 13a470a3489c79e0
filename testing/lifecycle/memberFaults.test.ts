import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Fault } from "../../emulator/platform/faults.ts";
import { throughBothDoors, type Scene } from "../harness/bothDoors.ts";
import * as doors from "../harness/doors.ts";
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

/** What each of them was told: who it is, or what went wrong. */
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

describe.each(["objects", "ids"] as const)("with lists of %s,", (memberForm) => {
  throughBothDoors({ users, settings: { memberForm } }, (scene) => {
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

    test("everybody who asked is told of their own membership when one call of many fails", async () => {
      const { emulator } = scene;
      const cases: [string, Fault, extra: number][] = [
        ["500 after commit", { kind: "status", status: 500, commit: true }, 1],
        ["reset after commit", { kind: "reset", commit: true }, 1],
        ["503", { kind: "status", status: 503 }, 1],
        ["200 with an error in it", { kind: "errorInside" }, 2], // its halves are tried
        ["broken JSON", { kind: "brokenJSON" }, 0], // the list says that they were added
      ];
      const all: string[] = [];
      for (const [name, fault, extra] of cases) {
        const teams = await someTeams(name);
        const since = emulator.lastCall();
        emulator.setFaults({ faults: [{ ...fault, endpoint: "insertteammembers", count: 1 }] });
        const { outcomes } = await add(scene, everywhere(teams));
        expect([name, ...told(outcomes)]).toEqual([name, ...ids(teams)]);
        expect([name, sent(scene, "insertteammembers", since)]).toEqual([name, teams.length + extra]);
        all.push(...teams);
      }
      await scene.host.restart();
      await settled(all);
    });

    test("one who is refused is told why, the others of the team and of other teams go in", async () => {
      const teams = await someTeams("refused");
      const stranger = { teamID: teams[1], userID: "nobody" };
      const { outcomes } = await add(scene, [...everywhere(teams), stranger]);
      expect(told(outcomes).pop()).toMatch(/insertteammembers: .*nobody/);
      expect(told(outcomes.slice(0, -1))).toEqual(ids(teams));
      await settled(teams);
      await expect(scene.create("TeamMember", stranger)).rejects.toThrow("nobody");
    });

    test("those who are led elsewhere are another call, whose failure is theirs alone", async () => {
      const { emulator } = scene;
      const teamID = await scene.team(organizationID);
      const led = people.map((name, index) => {
        return { teamID, email: emailOf(name), ...(index < 2 ? {} : { targetRoute: "go" }) };
      });
      const hits = { endpoint: "insertteammembers", after: 1, count: 1 } as const;
      emulator.setFaults({ faults: [{ ...hits, kind: "status", status: 403 }] });
      const ends = (await add(scene, led)).outcomes.map(({ status }) => status);
      const [first, last] = [ends.slice(0, 2), ends.slice(2)];
      // Which of the two calls is the first one nobody says.
      expect([first, last].toSorted()).toEqual([
        ["fulfilled", "fulfilled"],
        ["rejected", "rejected"],
      ]);
      expect(await live(scene, teamID)).toEqual(first[0] === "fulfilled" ? people.slice(0, 2) : people.slice(2));
      expect(told((await add(scene, led)).outcomes)).toEqual(ids([teamID]));
    });

    test("a refusal that lasts is everybody's, and the next run adds them", async () => {
      const { emulator } = scene;
      const teams = await someTeams("lasting");
      emulator.setFaults({ faults: [{ kind: "errorInside", endpoint: "insertteammembers" }] });
      for (const one of told((await add(scene, everywhere(teams))).outcomes)) {
        expect(one).toContain("insertteammembers: This failure was asked for");
      }
      for (const teamID of teams) expect(await live(scene, teamID)).toEqual([]);
      emulator.setFaults();
      expect(told((await add(scene, everywhere(teams))).outcomes)).toEqual(ids(teams));
      await settled(teams);
    });

    test("calls without an answer end with the engine's time or its provider, and the next run goes on", async () => {
      const { emulator, host, door } = scene;
      const all: string[] = [];
      for (const commit of [true, false]) {
        const teams = await someTeams(commit ? "carried out" : "lost");
        const hits = { endpoint: "insertteammembers", count: teams.length } as const;
        emulator.setFaults({ faults: [{ ...hits, kind: "timeout", commit }] });
        // No time-out reaches dynamic resources.
        host.timeout = door === doors.plugin ? 1 : 0;
        const adding = add(scene, everywhere(teams));
        if (door === doors.dynamic) {
          await eventually("a call for each team", () => (emulator.faults()[0]?.hit ?? 0) >= teams.length);
          if (host.pid !== undefined) process.kill(host.pid, "SIGKILL");
        }
        const words = door === doors.plugin ? "not done within the 1 s of its timeout" : "";
        for (const one of told((await adding).outcomes)) expect(one).toMatch(new RegExp(`^Error: ${words}`));
        host.timeout = 0;
        host.trace.length = 0; // what was said differs
        await host.restart();
        expect(told((await add(scene, everywhere(teams))).outcomes)).toEqual(ids(teams));
        all.push(...teams);
      }
      await settled(all);
    });

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
      // Lists of bare IDs are asked for team by team.
      const single = memberForm === "ids" ? teams.length : 0;

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
        expect(count).toBeLessThanOrEqual(2 + single + late);
        await host.restart();
      }
      // One of the teams may be gone: so all are asked about by themselves.
      const { found, count } = await readAll({ kind: "status", status: 404 });
      expect(found).toMatchObject(there);
      expect(count).toBeLessThanOrEqual(1 + teams.length + late);
    });
  });
});
