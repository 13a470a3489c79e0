import { expect, test } from "@jest/globals";
import { throughBothKinds, unknown } from "../harness/bothKinds.ts";

const [ada, grace] = ["ada@example.com", "grace@example.com"];

throughBothKinds({}, (scene) => {
  /** Problems with a resource that is new in the program. */
  const judge = async (name: string, type: string, news: Record<string, unknown>): Promise<string[]> =>
    (await scene.host.as(name).check(type, news)).problems;

  test.each([
    ["TeamMember", "TeamRoster"],
    ["TeamRoster", "TeamMember"],
  ])("%s and then %s on one team are refused before anything is sent", async (first, second) => {
    const { host, emulator } = scene;
    const news = {
      TeamMember: { email: "ada@example.com" },
      TeamRoster: { members: { "ada@example.com": "member" } },
    } as const;
    const check = (type: string, teamID: string) => host.check(type, { ...news[type as keyof typeof news], teamID }); // one of the two
    expect((await check(first, "t1")).problems).toEqual([]);
    expect((await check(second, "t1")).problems).toEqual([
      `teamID: ${first} "it" says who is in team t1 as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both`,
    ]);
    expect((await check(second, "t2")).problems).toEqual([]);
    // A value that is not known yet is judged once it is.
    expect((await check(second, unknown)).problems).toEqual([]);
    expect((await check(first, "t2")).problems).toEqual([]);
    expect(emulator.calls({ mutating: true })).toEqual([]);
  });

  test("two owners of one person are refused before anything is sent, with both names", async () => {
    expect(await judge("a", "TeamMember", { teamID: "t1", email: "Ada@example.com" })).toEqual([]);
    const second = { teamID: "t1", email: ada };
    expect(await judge("b", "TeamMember", second)).toEqual([
      `email: TeamMember "a" declares ${ada} a member of team t1 as well. Keep one of them`,
    ]);
    for (const other of [{ email: grace }, { teamID: "t2" }, { teamID: unknown }, { email: unknown }]) {
      expect(await judge("b", "TeamMember", { ...second, ...other })).toEqual([]);
    }
    // The same one again is no second one.
    expect(await judge("a", "TeamMember", second)).toEqual([]);

    expect(await judge("r", "TeamRoster", { teamID: "t3", members: { [ada]: "admin" } })).toEqual([]);
    const roster = { teamID: "t3", members: { [grace]: "member" }, mode: "additive" };
    const twice = `teamID: TeamRoster "r" says who is in team t3 as well. Keep one of them`;
    expect(await judge("s", "TeamRoster", roster)).toEqual([twice]);
    // Rosters that remove nobody and have nobody in common leave each other alone.
    expect(await judge("r", "TeamRoster", { ...roster, members: { [ada]: "admin" } })).toEqual([]);
    expect(await judge("s", "TeamRoster", roster)).toEqual([]);
    expect(await judge("s", "TeamRoster", { ...roster, members: { "ADA@example.com": "member" } })).toEqual([twice]);
    expect(scene.emulator.calls({ mutating: true })).toEqual([]);
  });

  test("one person by address and by ID is found out by up, before the second one is sent", async () => {
    const teamID = await scene.team();
    const { host } = scene;
    const { userID } = await scene.client.userid({ email: ada });
    // Before anybody knows whose the address is.
    const judged = async (name: string, news: Record<string, unknown>) => {
      const { inputs, problems } = await host.as(name).check("TeamMember", news);
      expect(problems).toEqual([]);
      return inputs;
    };
    const first = await judged("a", { teamID, email: ada, role: "admin" });
    const second = await judged("b", { teamID, userID, role: "member" });
    await host.as("a").create("TeamMember", first);
    const reason = `TeamMember "a" declares ${userID} a member of team ${teamID} as well. Keep one of them`;
    await expect(host.as("b").create("TeamMember", second)).rejects.toThrow(reason);
    // Values known by then are judged at once.
    const either = new RegExp(`^userID: TeamMember "[ab]" declares ${userID} a member of team ${teamID} as well`);
    expect(await judge("c", "TeamMember", { teamID, userID })).toEqual([expect.stringMatching(either)]);
    expect((await scene.client.readteammember({ teamID, userID })).teamMember?.role).toBe("admin");
  });

  test("two resources that have one ID in the state are refused, and one of them can be given up", async () => {
    const { host } = scene;
    const organizationID = await scene.organization();
    const news = { organizationID, name: "Crew" };
    const made = await scene.create("Team", news, "crew");
    await host.restart();
    const compare = async (name: string) => {
      const { inputs } = await host.as(name).check("Team", news, made.inputs);
      return host.diff("Team", made.id, made.outputs, inputs);
    };
    expect(await compare("crew")).toMatchObject({ changes: false });
    await expect(compare("other")).rejects.toThrow(
      `Team "other" and Team "crew" are one thing on the platform: both have the ID ${made.id}. Remove one of them`,
    );
    // The program without the other one.
    await host.restart();
    await compare("crew");
    expect(await scene.calls(() => host.as("other").delete("Team", made.id, made.outputs))).toEqual([]);
    // A dynamic resource goes by the URN in its state, which is that of the one that made it.
    expect(host.told.at(-1)).toMatch(/^info: team "Crew" stays: (Team "crew" has it|this resource goes on with it)$/);
    // The program without both.
    await host.destroy("Team", made.id, made.outputs);
    expect((await host.read("Team", made.id, made.outputs)).id).toBe("");
  });
});
