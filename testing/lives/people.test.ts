import { expect, test } from "@jest/globals";
import type { Fault } from "../../emulator/platform/faults.ts";
import { throughBothKinds, type Scene } from "../harness/bothKinds.ts";
import { here } from "../harness/inProcessPlugin.ts";
import { Stage } from "../harness/stage.ts";

// People whom a list names twice or late, and roles that depend on each other: whoever is declared is a member with the
// declared role at the end of a run, or the run says that they are not.

const [ada, bob, kim] = ["ada@example.com", "bob@example.com", "kim@example.com"];
const caller = "admin@example.com";

const kimAsAdmin = { TeamMember: { email: kim, role: "admin" }, TeamRoster: { members: { [kim]: "admin" } } };

const lateBy = (milliseconds: number) => [{ kind: "late", endpoint: "teammembers", milliseconds } as const];

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
    await scene.create("TeamMember", { teamID, email: ada, role: "admin" }, "ada");
    const second = { teamID, email: bob, role: "admin" };
    const { message, id, state } = await scene.failure(scene.create("TeamMember", second, "bob"));
    expect(message).toContain(`but ${ada} has another role than declared after the others' changes`);
    const { inputs } = await host.check("TeamMember", second, second);
    await scene.failure(host.update("TeamMember", id, state, inputs));
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

  test.each(["objects", "userIDs"] as const)(
    "who is in a list of %s only after their run is in its state, also after a refresh, and leaves with the declaration",
    async (memberForm) => {
      scene.emulator.behave({ memberForm });
      const organizationID = await scene.organization();
      for (const [type, one] of Object.entries(kimAsAdmin)) {
        const teamID = await scene.daysAgo(1, () => scene.team(organizationID));
        scene.emulator.setFaults({ faults: lateBy(60_000) });
        const { inputs } = await scene.host.check(type, { teamID, ...one });
        const { message, id, state } = await scene.failure(scene.host.create(type, inputs));
        expect(message).toMatch(/is not in its list yet|was added and not seen since/);
        const seen = await scene.host.read(type, id, state);
        expect(seen.id).toBe(id);
        const again = await scene.host.check(type, { teamID, ...one }, inputs);
        const change = await scene.host.diff(type, id, seen.outputs, again.inputs);
        expect(change).toMatchObject({ changes: true, replaces: [] });
        await scene.host.destroy(type, id, seen.outputs);
        scene.emulator.setFaults();
        expect((await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers).toHaveLength(1);
      }
    },
  );

  test("where lists have user IDs alone and no address can be looked up, user IDs are asked for, and lead out", async () => {
    const { userID } = await scene.client.userid({ email: ada });
    const named = {
      TeamMember: [{ email: ada }, { userID }],
      TeamRoster: [{ members: { [ada]: "member" } }, { members: { [userID]: "member" } }],
    };
    const organizationID = await scene.organization();
    scene.emulator.behave({ memberForm: "userIDs" });
    scene.emulator.setFaults({ faults: [{ kind: "status", endpoint: "userid", status: 404 }] });
    for (const [type, [byAddress, byID]] of Object.entries(named)) {
      const teamID = await scene.team(organizationID);
      const first = await scene.host.check(type, { teamID, ...byAddress });
      const { message, id, state } = await scene.failure(scene.host.create(type, first.inputs));
      expect(message).toMatch(/Declare (userID|the user ID) in its place/);
      const destroyed = scene.host.destroy(type, id, state);
      await expect(destroyed).rejects.toThrow(`whether ${ada} is in the team is not known`);
      await scene.host.restart();
      const then = await scene.host.check(type, { teamID, ...byID }, first.inputs);
      if (type === "TeamRoster") await scene.host.update(type, id, state, then.inputs);
      else {
        await scene.host.create(type, then.inputs);
        await scene.host.delete(type, id, state);
      }
      expect((await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers).toHaveLength(2);
    }
  });
});

const unknownTeam = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

test.each(["objects", "userIDs"])("a list of %s may have a new team and its people a second later", async (form) => {
  process.env["MICROAPPS_CONSISTENCY_SECONDS"] = "60";
  const stage = await Stage.set({ settings: { memberForm: form } }, {}, here);
  process.env["MICROAPPS_CONSISTENCY_SECONDS"] = "0";
  const organizationID = await stage.organization();
  const news = { organizationID, name: "Crew" };
  for (const [type, one] of Object.entries(kimAsAdmin)) {
    stage.emulator.setFaults();
    const old = await stage.daysAgo(1, () => stage.team(organizationID));
    stage.emulator.setFaults({ faults: lateBy(1_000) });
    stage.host.resource = type;
    const { id: newest } = await stage.create("Team", news);
    for (const teamID of [newest, old]) {
      const { outputs } = await stage.create(type, { teamID, ...one });
      expect(outputs).toMatchObject(one);
      expect(outputs).not.toHaveProperty("unseen");
    }
  }
  await stage.clear();
});
