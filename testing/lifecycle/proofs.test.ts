import { beforeEach, expect, test } from "@jest/globals";
import { testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";

const ada = "ada@example.com";

/** The same platform, of which the client has no profile. */
const ignoring = { roleChange: "ignored" } as const;

throughBothKinds({}, (scene) => {
  let teamID: string;
  beforeEach(async () => {
    teamID = await scene.team();
    scene.emulator.behave(ignoring);
  });

  const listed = async (): Promise<unknown> =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.map(({ email, role }) => [email, role]);
  const isIn = expect.arrayContaining([[ada, "member"]]);
  /** Diff of a run that goes on from this state. */
  const goesOn = async (type: string, id: string, state: Record<string, unknown>, news: Record<string, unknown>) => {
    await scene.host.restart();
    const found = await scene.host.read(type, id, state);
    const { inputs } = await scene.host.check(type, news, news);
    return scene.host.diff(type, id, found.outputs, inputs);
  };

  test("a role that is not set is no success, of a TeamMember", async () => {
    const news = { teamID, email: ada, role: "admin" };
    const { message, id, state } = await scene.failure(scene.create("TeamMember", news));
    expect(message).toContain(`${ada} was not given the role admin in team ${teamID}`);
    expect(message).toContain('read back it is "member"');
    expect(state).toMatchObject({ role: "member" });
    expect(await listed()).toEqual(isIn);
    expect(await goesOn("TeamMember", id, state, news)).toMatchObject({ changes: true });
    scene.emulator.behave();
    const { inputs } = await scene.host.check("TeamMember", news, news);
    expect(await scene.host.update("TeamMember", id, state, inputs)).toMatchObject({ role: "admin" });
  });

  test("a role that is not taken away is no success, of a TeamRoster", async () => {
    scene.emulator.behave();
    const admins = { teamID, members: { [ada]: "admin" } };
    const made = await scene.create("TeamRoster", admins);
    scene.emulator.behave(ignoring);
    const news = { teamID, members: { [ada]: "member" }, minAdmins: 0 };
    const { inputs } = await scene.host.check("TeamRoster", news, made.inputs);
    const { message, state } = await scene.failure(scene.host.update("TeamRoster", made.id, made.outputs, inputs));
    expect(message).toContain(`${ada} was not made a plain member`);
    expect(message).toContain('read back it is "admin"');
    expect(state).toMatchObject({ members: { [ada]: "admin" } });
    expect(await goesOn("TeamRoster", made.id, state, news)).toMatchObject({ changes: true });
  });
});

throughBothKinds({}, (scene) => {
  test("who was there as declared is found: stays when the declaration goes, unless it is adopted", async () => {
    const teamID = await scene.team();
    await scene.client.insertteammembers({ teamIDs: [teamID], emails: [ada] });
    const there = async () => (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.length;
    const member = await scene.create("TeamMember", { teamID, email: ada, role: "member" });
    expect(member.outputs).toMatchObject({ found: "member" });
    await scene.host.destroy("TeamMember", member.id, member.outputs);
    expect(scene.host.told.at(-1)).toContain(`1 found (${ada}), stays`);
    expect(await there()).toBe(2);
    await scene.host.restart();
    const roster = await scene.create("TeamRoster", { teamID, members: { [ada]: "member" } });
    await scene.host.destroy("TeamRoster", roster.id, roster.outputs);
    expect(await there()).toBe(2);
    await scene.host.restart();
    const owned = await scene.create("TeamMember", { teamID, email: ada, adopt: true });
    expect(owned.outputs["found"]).toBeUndefined();
    await scene.host.destroy("TeamMember", owned.id, owned.outputs);
    expect(await there()).toBe(1);
  });

  testInOwnProcess("a team that a state lost within a day is gone on with, and the run says so", async () => {
    const news = { organizationID: await scene.organization(), name: "Crew" };
    const lost = await scene.create("Team", news);
    // The engine ends the provider in order.
    await scene.host.restart("SIGINT");
    const again = await scene.create("Team", news);
    expect(again.id).toBe(lost.id);
    expect(scene.host.told.join()).toContain("was already there with the ID that this resource creates it with");
    expect(await scene.calls(() => scene.host.destroy("Team", again.id, again.outputs))).toEqual(["deleteteam"]);
  });

  testInOwnProcess(
    "what was made is the stack's own in the next run, where engine and provider were killed before the state was written",
    async () => {
      const { host } = scene;
      const team = { organizationID: await scene.organization(), name: "Crew" };
      const twice = async (name: string, type: string, news: Record<string, unknown>) => {
        host.resource = name;
        await scene.create(type, news);
        await host.restart("SIGKILL");
        const made = await scene.create(type, news);
        expect(made.outputs["found"]).toBeUndefined();
        return made;
      };
      const crew = await twice("crew", "Team", team);
      const member = await twice("ada", "TeamMember", { teamID: crew.id, email: ada });
      const yard = { teamID: await scene.team(team.organizationID, "Yard"), email: ada };
      await scene.client.insertteammembers({ teamIDs: [yard.teamID], emails: [ada] });
      host.resource = "other";
      expect((await scene.create("TeamMember", yard)).outputs["found"]).toBe("member"); // others put them there
      host.resource = "ada";
      await host.destroy("TeamMember", member.id, member.outputs);
      host.resource = "crew";
      expect(await scene.calls(() => host.destroy("Team", crew.id, crew.outputs))).toEqual(["deleteteam"]);
    },
  );
});

throughBothKinds({}, (scene) => {
  type Endpoint = (typeof update | typeof insert)[(typeof kinds)[number]];
  const kinds = ["Organization", "Team"] as const;
  const update = { Organization: "updateorganization", Team: "updateteam" } as const;
  const insert = { Organization: "insertorganization", Team: "insertteam" } as const;
  const newsOf = async (kind: (typeof kinds)[number]): Promise<Record<string, unknown>> => ({
    ...(kind === "Team" ? { organizationID: await scene.organization() } : {}),
    ...{ name: "First", description: "Runs the place." },
  });
  const forgetful = (endpoint: Endpoint): void =>
    scene.emulator.setFaults({ faults: [{ endpoint, kind: "keepsPart" }] });

  test.each(kinds)("%s: a setting that is answered for and not kept is no success", async (kind) => {
    const news = await newsOf(kind);
    const { id, outputs } = await scene.create(kind, news);
    forgetful(update[kind]);
    const { inputs } = await scene.host.check(kind, { ...news, name: "Second", description: "Ran it." }, outputs);
    const { message, state } = await scene.failure(scene.host.update(kind, id, outputs, inputs));
    expect(message).toContain('name is "First", not "Second"; description is "Runs the place.", not "Ran it."');
    expect(state).toMatchObject({ name: "First", description: "Runs the place." });
    expect(await scene.host.diff(kind, id, state, inputs)).toMatchObject({ changes: true });
    scene.emulator.setFaults();
    expect(await scene.host.update(kind, id, state, inputs)).toMatchObject({ name: "Second" });
  });

  test.each(kinds)("%s: one that is answered for and not made is no success", async (kind) => {
    const news = await newsOf(kind);
    forgetful(insert[kind]);
    const { message, id, state } = await scene.failure(scene.create(kind, news));
    expect(message).toContain("the platform does not find it there");
    scene.emulator.setFaults();
    expect((await scene.host.read(kind, id, state)).id).toBe(""); // so the next run creates it
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
