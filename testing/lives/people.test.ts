import { expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator } from "../../emulator/index.ts";
import type { Fault } from "../../emulator/platform/faults.ts";
import { createClient } from "../../platform/client/index.ts";
import type { Failure } from "../../provider/pulumi/operations.ts";
import { throughBothKinds, type Scene } from "../harness/bothKinds.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";

// People whom a list names twice or late, and roles that depend on each other: whoever is declared is a member with the
// declared role at the end of a run, or the run says that they are not.

const [ada, bob, kim] = ["ada@example.com", "bob@example.com", "kim@example.com"];
const caller = "admin@example.com";

async function roles({ client }: Scene, teamID: string): Promise<Record<string, string>> {
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  return Object.fromEntries(teamMembers.map(({ email = "", role = "" }) => [email, role]));
}

throughBothKinds({}, (scene) => {
  const twice = [{ kind: "repeatedItems", endpoint: "teammembers" } as const];

  test("a list that names everybody twice takes nobody out who is declared", async () => {
    const teamID = await scene.team();
    scene.emulator.setFaults({ faults: twice });
    const members = { [ada]: "member", [bob]: "admin", [kim]: "member" };
    const made = await scene.create("TeamRoster", { teamID, members });
    expect(made.outputs["userIDs"]).toHaveLength(3);
    const again = { ...made.inputs, ignore: ["nobody@example.com"] };
    expect(await scene.calls(() => scene.host.update("TeamRoster", made.id, made.outputs, again))).toEqual([]);
    const { [kim]: _, ...fewer } = members;
    const less = { ...made.inputs, members: fewer };
    const state = await scene.host.update("TeamRoster", made.id, made.outputs, less);
    expect(scene.host.told.join()).toContain("members: 1 removed, 2 unchanged, 1 kept by ignore or keepSelf");
    const member = await scene.create("TeamMember", {
      teamID: await scene.team(await scene.organization("Other")),
      email: ada,
    });
    expect((await scene.host.read("TeamMember", member.id, member.outputs)).id).toBe(member.id);
    scene.emulator.setFaults();
    expect(await roles(scene, teamID)).toEqual({ [caller]: "admin", [ada]: "member", [bob]: "admin" });
    scene.emulator.setFaults({ faults: twice });
    await scene.host.restart();
    await scene.host.destroy("TeamRoster", made.id, state);
    scene.emulator.setFaults();
    expect(await roles(scene, teamID)).toEqual({ [caller]: "admin" });
  });

  test("a roster and members of other teams are read in one call, and none is taken for gone when it fails", async () => {
    const { emulator, host } = scene;
    const organizationID = await scene.organization();
    const teams = [];
    for (const name of ["A", "B", "C"]) teams.push(await scene.team(organizationID, name));
    const [rosterID, ...others] = teams;
    const roster = await scene.create("TeamRoster", {
      teamID: rosterID,
      members: { [ada]: "member", [bob]: "member" },
    });
    const made = [{ type: "TeamRoster", id: roster.id, outputs: roster.outputs }];
    for (const teamID of others)
      for (const email of [ada, bob]) {
        const { id, outputs } = await scene.create("TeamMember", { teamID, email });
        made.push({ type: "TeamMember", id, outputs });
      }
    const there = made.map(({ id, outputs }) => ({ status: "fulfilled", value: { id, outputs } }));
    const lost = expect.arrayContaining([expect.objectContaining({ status: "rejected" })]) as unknown;
    // How often the list is asked for: once, and once more, or for each team, which may be the one that is gone.
    const cases: [fault: Fault, found: unknown, calls: number][] = [
      [{ kind: "errorInside" }, lost, 1],
      [{ kind: "brokenJSON" }, lost, 1],
      [{ kind: "status", status: 500 }, there, 2],
      [{ kind: "reset" }, there, 2],
      [{ kind: "status", status: 404 }, there, 1 + teams.length],
    ];
    for (const [fault, expected, calls] of cases) {
      await host.restart();
      emulator.setFaults({ faults: [{ ...fault, endpoint: "teammembers", count: 1 }] });
      const since = emulator.lastCall();
      const found = await Promise.allSettled(made.map(({ type, id, outputs }) => host.read(type, id, outputs)));
      if (expected === lost) expect(found).toEqual(lost);
      else expect(found).toMatchObject(there);
      // A busy machine may take some reads so late that they need a call of their own.
      expect(emulator.calls({ since, endpoint: "teammembers" }).length).toBeLessThanOrEqual(calls + 1);
    }
  });

  test("one administrator at a time: a roster that declares two ends with what the platform took", async () => {
    const teamID = await scene.team();
    scene.emulator.behave({ roleChange: "exclusive" });
    const made = await scene.create("TeamRoster", { teamID, members: { [ada]: "admin", [bob]: "member" } });
    const both = { ...made.inputs, members: { [ada]: "admin", [bob]: "admin" } };
    const { message, state } = await scene.failure(scene.host.update("TeamRoster", made.id, made.outputs, both));
    expect(message).toContain(`${ada} has another role than declared after the others' changes`);
    expect(state).toMatchObject({ members: { [ada]: "member", [bob]: "admin" } });
    // And so does each run after it.
    await scene.failure(scene.host.update("TeamRoster", made.id, state, both));
  });

  test("one administrator at a time: the second TeamMember says what its role took", async () => {
    const teamID = await scene.team();
    scene.emulator.behave({ roleChange: "exclusive" });
    const { host } = scene;
    host.resource = "ada";
    await scene.create("TeamMember", { teamID, email: ada, role: "admin" });
    host.resource = "bob";
    const second = { teamID, email: bob, role: "admin" };
    const { message, id, state } = await scene.failure(scene.create("TeamMember", second));
    expect(message).toContain(`but ${ada} has another role than declared after the others' changes`);
    const { inputs } = await host.check("TeamMember", second, second);
    await scene.failure(host.update("TeamMember", id, state, inputs));
    host.resource = "it";
  });

  test("the administrator of a team who lost that by hand is drift, and is no plain member in the same program", async () => {
    const { userID } = await scene.client.userid({ email: ada });
    const news = { organizationID: await scene.organization(), name: "Crew", adminID: userID };
    const made = await scene.create("Team", news);
    const kept = await scene.host.read("Team", made.id, made.outputs);
    expect(kept.outputs).toMatchObject({ adminID: userID });
    await scene.client.updateteammember({ teamID: made.id, userID, role: "member" });
    await scene.host.restart();
    const seen = await scene.host.read("Team", made.id, made.outputs);
    expect(seen.outputs).not.toHaveProperty("adminID");
    const { inputs } = await scene.host.check("Team", news, news);
    expect(await scene.host.diff("Team", made.id, seen.outputs, inputs)).toMatchObject({ changes: true, replaces: [] });
    const state = await scene.host.update("Team", made.id, seen.outputs, inputs);
    expect(state).toMatchObject({ adminID: userID });
    expect(await roles(scene, made.id)).toMatchObject({ [ada]: "admin" });

    const named = 'Team "it" names them as its adminID. Declare one of the two';
    for (const [type, one] of [
      ["TeamMember", { email: ada, role: "member" }],
      ["TeamRoster", { members: { [ada]: "member" }, minAdmins: 0 }],
    ] as const) {
      const { message, id, state } = await scene.failure(scene.create(type, { teamID: made.id, ...one }));
      expect(message).toContain(named);
      await scene.host.check(type, { teamID: unknownTeam, ...one });
      await scene.host.delete(type, id, state);
    }
    // A roster that does not name them leaves them in the team.
    await scene.create("TeamRoster", { teamID: made.id, members: { [bob]: "member" }, maxRemovals: 1 });
    expect(await roles(scene, made.id)).toMatchObject({ [ada]: "admin", [bob]: "member" });
  });

  test("what decides about people is a change by itself", async () => {
    const teamID = await scene.team();
    const members = { [ada]: "member" };
    const made = await scene.create("TeamRoster", { teamID, members });
    for (const one of [{ keepSelf: false }, { minAdmins: 0 }, { maxRemovals: 1 }, { sensitive: true }]) {
      const { inputs } = await scene.host.check("TeamRoster", { ...made.inputs, ...one }, made.inputs);
      const change = await scene.host.diff("TeamRoster", made.id, made.outputs, inputs);
      expect([one, change]).toMatchObject([one, { changes: true, replaces: [] }]);
    }
    const { inputs } = await scene.host.check("TeamRoster", { ...made.inputs, keepSelf: false, minAdmins: 0 });
    await scene.host.update("TeamRoster", made.id, made.outputs, { ...inputs, maxRemovals: 1 });
    expect(await roles(scene, teamID)).toEqual({ [ada]: "member" });
  });
});

const unknownTeam = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

test.each(["objects", "userIDs"] as const)(
  "late lists of %s forget nobody whose invitation was a success",
  async (memberForm) => {
    const administrator = { email: caller, password: "correct-horse" };
    const clock = { behind: 86_400_000 };
    const now = (): number => Date.now() - clock.behind;
    const emulator = await createEmulator({ seed: { administrator, settings: { memberForm } }, now });
    const client = createClient({ endpoint: emulator.url, ...administrator });
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Acme" } });
    const team = async () => (await client.insertteam({ teamInfo: { organizationID, name: "Crew" } })).teamID;
    const late = (milliseconds: number) =>
      emulator.setFaults({ faults: [{ kind: "late", endpoint: "teammembers", milliseconds }] });
    const folder = mkdtempSync(join(tmpdir(), "microapps-late-"));
    const hostWith = (consistencySeconds: number) =>
      new InProcessHost({ endpoint: emulator.url, ...administrator, consistencySeconds }, folder);
    const [patient, hasty] = [hostWith(60), hostWith(0)];
    const people = async (teamID: string) => (await client.teammembers({ teamIDs: [teamID] })).teamMembers.length;
    const declared = { TeamMember: { email: kim, role: "admin" }, TeamRoster: { members: { [kim]: "admin" } } };
    for (const [type, one] of Object.entries(declared)) {
      clock.behind = 86_400_000;
      const [soon, later] = [await team(), await team()];
      clock.behind = 0;
      // A team that was just made may be unknown to its list, and a person be listed soon enough.
      late(1_000);
      patient.resource = type;
      const { id: newest } = await patient.create("Team", { organizationID, name: "New" });
      await patient.create(type, (await patient.check(type, { teamID: newest, ...one })).inputs);
      const early = { teamID: soon, ...one };
      const made = await patient.create(type, (await patient.check(type, early)).inputs);
      expect(made.outputs).toMatchObject(one);
      expect(made.outputs).not.toHaveProperty("unseen");

      // Too late for the run that adds them: the state has them, also after a refresh, and they leave with the declaration.
      late(60_000);
      const { inputs } = await hasty.check(type, { teamID: later, ...one });
      const failed: unknown = await hasty.create(type, inputs).catch((reason: unknown) => reason);
      const { message, partial } = failed as Failure;
      expect(message).toMatch(/is not in its list yet|was added and not seen since/);
      const { id, outputs } = partial ?? { id: "", outputs: {} };
      const seen = await hasty.read(type, id, outputs);
      expect(seen.id).toBe(id);
      const again = await hasty.check(type, { teamID: later, ...one }, inputs);
      expect(await hasty.diff(type, id, seen.outputs, again.inputs)).toMatchObject({ changes: true, replaces: [] });
      await hasty.restart();
      await hasty.destroy(type, id, seen.outputs);
      emulator.setFaults();
      expect(await people(later)).toBe(1);
    }
    for (const host of [patient, hasty]) host.stop();
    await client.close();
    await emulator.close();
    rmSync(folder, { recursive: true });
  },
);

test("where lists have user IDs alone and no address can be looked up, user IDs are asked for, and lead out", async () => {
  const administrator = { email: caller, password: "correct-horse" };
  const seed = { administrator, users: [{ email: ada, id: "ada-1" }], settings: { memberForm: "userIDs" as const } };
  const emulator = await createEmulator({ seed });
  const client = createClient({ endpoint: emulator.url, ...administrator });
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Acme" } });
  const folder = mkdtempSync(join(tmpdir(), "microapps-bare-"));
  const host = new InProcessHost({ endpoint: emulator.url, ...administrator }, folder);
  emulator.setFaults({ faults: [{ kind: "status", endpoint: "userid", status: 404 }] });
  const named = {
    TeamMember: [{ email: ada }, { userID: "ada-1" }],
    TeamRoster: [{ members: { [ada]: "member" } }, { members: { "ada-1": "member" } }],
  };
  for (const [type, [byAddress, byID]] of Object.entries(named)) {
    const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: type } });
    const first = await host.check(type, { teamID, ...byAddress });
    const failed = (await host.create(type, first.inputs).catch((reason: unknown) => reason)) as Failure;
    expect(failed.message).toMatch(/Declare (userID|the user ID) in its place/);
    const { id, outputs } = failed.partial ?? { id: "", outputs: {} };
    await expect(host.destroy(type, id, outputs)).rejects.toThrow(`whether ${ada} is in the team is not known`);
    await host.restart();
    const then = await host.check(type, { teamID, ...byID }, first.inputs);
    if (type === "TeamRoster") await host.update(type, id, outputs, then.inputs);
    else {
      await host.create(type, then.inputs);
      await host.delete(type, id, outputs);
    }
    expect((await client.teammembers({ teamIDs: [teamID] })).teamMembers).toHaveLength(2);
  }
  host.stop();
  await client.close();
  await emulator.close();
  rmSync(folder, { recursive: true });
});
