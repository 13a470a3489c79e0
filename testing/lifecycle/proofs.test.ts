import { beforeEach, expect, test } from "@jest/globals";
import { throughBothDoors } from "../harness/bothDoors.ts";

const ada = "ada@example.com";

/** The same platform, of which the client has no profile. */
const ignoring = { version: 1, habits: { roleChange: "ignored" } } as const;

throughBothDoors({}, (scene) => {
  let teamID: string;
  beforeEach(async () => {
    teamID = await scene.team();
    scene.emulator.setProfile(ignoring);
  });

  const listed = async (): Promise<unknown> =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.map(({ email, role }) => [email, role]);
  const isIn = expect.arrayContaining([[ada, "member"]]);
  /** What a run tells that would go on. */
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
    scene.emulator.setProfile();
    const { inputs } = await scene.host.check("TeamMember", news, news);
    expect(await scene.host.update("TeamMember", id, state, inputs)).toMatchObject({ role: "admin" });
  });

  test("a role that is not taken away is no success, of a TeamRoster", async () => {
    scene.emulator.setProfile();
    const admins = { teamID, members: { [ada]: "admin" } };
    const made = await scene.create("TeamRoster", admins);
    scene.emulator.setProfile(ignoring);
    const news = { teamID, members: { [ada]: "member" }, minAdmins: 0 };
    const { inputs } = await scene.host.check("TeamRoster", news, made.inputs);
    const { message, state } = await scene.failure(scene.host.update("TeamRoster", made.id, made.outputs, inputs));
    expect(message).toContain(`${ada} was not made a plain member`);
    expect(message).toContain('read back it is "admin"');
    expect(state).toMatchObject({ members: { [ada]: "admin" } });
    expect(await goesOn("TeamRoster", made.id, state, news)).toMatchObject({ changes: true });
  });
});

throughBothDoors({}, (scene) => {
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

  test("a team that was moved to another stack and is declared again is not owned by both", async () => {
    const news = { organizationID: await scene.organization(), name: "Crew" };
    const moved = await scene.create("Team", news);
    await scene.host.restart();
    const again = await scene.create("Team", news);
    expect(again.id).toBe(moved.id);
    expect(again.outputs).toMatchObject({ found: true });
    expect(await scene.calls(() => scene.host.destroy("Team", again.id, again.outputs))).toEqual([]);
    expect(scene.host.told.at(-1)).toContain("1 found, stays");
    expect(await scene.calls(() => scene.host.destroy("Team", moved.id, moved.outputs))).toEqual(["deleteteam"]);
  });
});
