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
  const there = async (teamID: string) => (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.length;

  test("whoever is declared is owned: who was there before leaves with the declaration", async () => {
    const teamID = await scene.team();
    const declarations = {
      TeamMember: { teamID, email: ada, role: "member" },
      TeamRoster: { teamID, members: { [ada]: "member" } },
    };
    for (const [type, news] of Object.entries(declarations)) {
      await scene.client.insertteammembers({ teamIDs: [teamID], emails: [ada] });
      await scene.host.restart();
      const made = await scene.create(type, news);
      expect(await scene.calls(() => scene.host.destroy(type, made.id, made.outputs))).toEqual(["deleteteammember"]);
      expect([type, await there(teamID)]).toEqual([type, 1]);
    }
  });

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

  test.each(["TeamMember", "TeamRoster"])(
    "%s: a deletion that the platform answers for and does not carry out is none",
    async (type) => {
      const teamID = await scene.team();
      const news = type === "TeamMember" ? { email: ada } : { members: { [ada]: "member" } };
      const made = await scene.create(type, { teamID, ...news });
      // Some platforms answer so, also for a right that the account lacks.
      const missing = { endpoint: "deleteteammember", kind: "status", status: 404 } as const;
      scene.emulator.setFaults({ faults: [missing] });
      await expect(scene.host.destroy(type, made.id, made.outputs)).rejects.toThrow(`${ada} was not removed: `);
      expect((await scene.host.read(type, made.id, made.outputs)).id).toBe(made.id);
      scene.emulator.setFaults();
      await scene.host.restart();
      await scene.host.destroy(type, made.id, made.outputs);
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
        return scene.create(type, news);
      };
      const crew = await twice("crew", "Team", team);
      const member = await twice("ada", "TeamMember", { teamID: crew.id, email: ada });
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
