import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

const ada = "ada@example.com";

throughBothKinds({}, (scene) => {
  const there = async (teamID: string) => (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.length;

  test.each(["TeamMember", "TeamRoster"])(
    "%s: people of a state that an earlier version found there are owned from now on, which is said once",
    async (type) => {
      const teamID = await scene.team();
      const news = type === "TeamMember" ? { email: ada, role: "member" } : { members: { [ada]: "member" } };
      const made = await scene.create(type, { teamID, ...news });
      const [userID = ""] = (made.outputs["userIDs"] as string[] | undefined) ?? [];
      const old = { ...made.outputs, found: type === "TeamMember" ? "member" : { [userID]: "member" } };
      await scene.host.restart();
      const { inputs } = await scene.host.check(type, made.inputs, made.inputs);
      expect(await scene.host.diff(type, made.id, old, inputs)).toMatchObject({ changes: true, replaces: [] });
      const said = "1 person was found there and is managed from now on";
      expect(scene.host.told.join()).toContain(said);
      let state: Record<string, unknown> = old;
      expect(await scene.calls(async () => void (state = await scene.host.update(type, made.id, old, inputs)))).toEqual(
        [],
      );
      expect(state).not.toHaveProperty("found");
      scene.host.told.length = 0;
      expect(await scene.host.diff(type, made.id, state, inputs)).toMatchObject({ changes: false });
      expect((await scene.host.read(type, made.id, old)).outputs).toEqual(state);
      await scene.host.destroy(type, made.id, state);
      expect(await there(teamID)).toBe(1);
    },
  );

  test.each(["TeamMember", "TeamRoster", "Team"])(
    "%s: a list that answers not found for a missing right is no team that is gone",
    async (type) => {
      const teamID = type === "Team" ? undefined : await scene.team();
      const organizationID = teamID === undefined ? await scene.organization() : undefined;
      const news = { TeamMember: { email: ada }, TeamRoster: { members: { [ada]: "member" } }, Team: { name: "Crew" } }[
        type
      ];
      const made = await scene.create(type, { teamID, organizationID, ...news });
      scene.emulator.setFaults({ faults: [{ endpoint: "teammembers", kind: "status", status: 404 }] });
      await scene.host.restart();
      const answered = "the platform answers to their list that there is no such team, and the team is there";
      const sent = scene.calls(() => expect(scene.host.destroy(type, made.id, made.outputs)).rejects.toThrow(answered));
      expect(await sent).toEqual([]);
      if (type !== "Team") await expect(scene.host.read(type, made.id, made.outputs)).rejects.toThrow(answered);
    },
  );

  test("a roster that goes takes back the people of its last state and nobody else, under its guards", async () => {
    const teamID = await scene.team();
    const members = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}@example.com`, "member"]));
    const made = await scene.create("TeamRoster", { teamID, members });
    await scene.client.insertteammembers({ teamIDs: [teamID], emails: ["eve@example.com"] });
    await scene.host.restart();
    const refused = scene.host.destroy("TeamRoster", made.id, made.outputs);
    await expect(refused).rejects.toThrow(/nobody was removed from team .*12 of 12 members.*set maxRemovals to 1/);
    expect(await there(teamID)).toBe(14);
    await scene.host.restart();
    await scene.host.destroy("TeamRoster", made.id, { ...made.outputs, maxRemovals: 1 });
    const { teamMembers } = await scene.client.teammembers({ teamIDs: [teamID] });
    expect(teamMembers.map(({ email }) => email)).toEqual(["admin@example.com", "eve@example.com"]);
  });
});

throughBothKinds({}, (scene) => {
  const kinds = ["Organization", "Team"] as const;
  const newsOf = async (kind: (typeof kinds)[number]): Promise<Record<string, unknown>> => ({
    ...(kind === "Team" ? { organizationID: await scene.organization() } : {}),
    ...{ name: "First", description: "Runs the place." },
  });

  test.each(kinds)("%s: a deletion is proved by the answer that an unknown ID gets, and by no other", async (kind) => {
    const news = await newsOf(kind);
    const { id, outputs } = await scene.create(kind, news);
    const read = kind === "Team" ? "readteam" : "readorganization";
    const refusal = { endpoint: read, kind: "errorInside", message: "Nothing for you" } as const;
    scene.emulator.setFaults({ faults: [{ ...refusal, count: 1 }] });
    await expect(scene.host.destroy(kind, id, outputs)).rejects.toThrow("Nothing for you");
    await scene.host.restart();
    const other = await scene.create(kind, { ...news, name: "Other" });
    scene.emulator.setFaults({ faults: [refusal] });
    await scene.host.destroy(kind, other.id, other.outputs);
    scene.emulator.setFaults();
    expect((await scene.host.read(kind, other.id, other.outputs)).id).toBe("");
  });

  test("a team goes where the account itself stands in the way, and stays whole where others do", async () => {
    const organizationID = await scene.organization();
    const { id, outputs } = await scene.create("Team", { organizationID, name: "Crew" });
    const refusal = { endpoint: "deleteteam", kind: "status", status: 400 } as const;
    const members = async () => (await scene.client.teammembers({ teamIDs: [id] })).teamMembers.length;
    await scene.client.insertteammembers({ teamIDs: [id], emails: [ada] });
    scene.emulator.setFaults({ faults: [refusal] });
    await expect(scene.host.destroy("Team", id, outputs)).rejects.toThrow(`it still has members: ${ada}`);
    expect(await members()).toBe(2);
    const { userID } = await scene.client.userid({ email: ada });
    await scene.client.deleteteammember({ teamID: id, userID });
    scene.emulator.setFaults({ faults: [{ ...refusal, count: 1 }] });
    await scene.host.destroy("Team", id, outputs);
    expect((await scene.host.read("Team", id, outputs)).id).toBe("");
  });
});

/** Lists of user IDs alone: whom an address belongs to is then asked by a call of its own. */
const profile = { version: 1, habits: { memberForm: "userIDs" } } as const;

throughBothKinds({ profile }, (scene) => {
  test("an address is sent as it is declared, in all calls", async () => {
    const email = "Newcomer@Example.com";
    const cases: [string, (teamID: string) => object][] = [
      ["TeamMember", (teamID) => ({ teamID, email, role: "admin" })],
      ["TeamRoster", (teamID) => ({ teamID, members: { [email]: "admin" } })],
    ];
    const organizationID = await scene.organization();
    for (const [type, newsOf] of cases) {
      const teamID = await scene.team(organizationID, type);
      const since = scene.emulator.lastCall();
      const { id, outputs } = await scene.create(type, { ...newsOf(teamID) });
      await scene.host.restart();
      await scene.host.read(type, id, outputs);
      const sent = JSON.stringify(scene.emulator.calls({ since }).map(({ request }) => request));
      const spellings = new Set(sent.match(/newcomer@example\.com/gi));
      expect([type, ...spellings]).toEqual([type, email]);
      await scene.host.destroy(type, id, outputs);
    }
  });
});
