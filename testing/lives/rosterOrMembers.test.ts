import { expect, test } from "@jest/globals";
import { throughBothKinds, unknown } from "../harness/bothKinds.ts";

const [ada, grace] = ["ada@example.com", "grace@example.com"];

throughBothKinds({}, (scene) => {
  const live = async (teamID: string): Promise<(string | undefined)[]> =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.map(({ email }) => email);

  test.each([
    ["TeamMember", "TeamRoster"],
    ["TeamRoster", "TeamMember"],
  ])("%s and then %s on one team are refused before anything is sent", async (first, second) => {
    const { host, emulator } = scene;
    const news = { TeamMember: { email: ada }, TeamRoster: { members: { [ada]: "member" } } } as const;
    const check = (type: string, teamID: string) => host.check(type, { ...news[type as keyof typeof news], teamID }); // one of the two
    expect((await check(first, "t1")).problems).toEqual([]);
    expect((await check(second, "t1")).problems).toEqual([
      `teamID: ${first} "it" says who is in team t1 as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both`,
    ]);
    expect((await check(second, "t2")).problems).toEqual([]);
    // A value that is not known yet is judged once it is.
    expect((await check(second, unknown)).problems).toEqual([]);
    expect((await check(first, "t2")).problems).toEqual([]);
    expect(emulator.calls()).toEqual([]);
  });

  test("a roster that takes over from a TeamMember keeps the member, and the reverse", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const member = await scene.create("TeamMember", { teamID, email: ada });
    // In the next run the program declares a roster; the engine deletes the TeamMember after creating it.
    await host.restart();
    const roster = await scene.create("TeamRoster", { teamID, members: { [ada]: "member", [grace]: "member" } });
    await host.delete("TeamMember", member.id, member.outputs);
    expect(host.told.at(-1)).toBe(`info: ${ada} stays a member of team ${teamID}: TeamRoster "it" declares that`);
    expect(await live(teamID)).toEqual(["admin@example.com", ada, grace]);

    await host.restart();
    await scene.create("TeamMember", { teamID, email: ada });
    await host.delete("TeamRoster", teamID, roster.outputs);
    expect(await live(teamID)).toEqual(["admin@example.com", ada]);

    // Where nothing else declares them, they go.
    await host.restart();
    await host.delete("TeamMember", member.id, member.outputs);
    expect(await live(teamID)).toEqual(["admin@example.com"]);
  });
});
