import { describe, expect, test } from "@jest/globals";
import { throughBothKinds, type Scene } from "../harness/bothKinds.ts";

const caller = "admin@example.com";
const [ada, grace, alan] = ["ada@example.com", "grace@example.com", "alan@example.com"];
const people = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}@example.com`, "member"]));

/** Everybody in a team, with their roles. */
async function live({ client }: Scene, teamID: string): Promise<Record<string, string>> {
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  return Object.fromEntries(teamMembers.map(({ email = "", role = "" }) => [email, role]));
}
const idOf = async ({ client }: Scene, email: string): Promise<string> => (await client.userid({ email })).userID;

describe.each(["objects", "userIDs"] as const)("with lists of %s,", (memberForm) => {
  throughBothKinds({ settings: { memberForm } }, (scene) => {
    test("TeamRoster: whoever gets another address stays the same member", async () => {
      const teamID = await scene.team();
      const former = "ada.byron@example.com";
      const made = await scene.create("TeamRoster", { teamID, members: { [ada]: "member" } });
      const members = { [former]: "member" };
      const state = { ...made.outputs, members };
      expect((await scene.host.read("TeamRoster", teamID, state)).outputs).toMatchObject({ members });
      const inputs = { ...made.inputs, members, targetRoute: "go" };
      expect(await scene.calls(() => scene.host.update("TeamRoster", teamID, state, inputs))).toEqual([]);
    });
  });
});

throughBothKinds({}, (scene) => {
  test("TeamRoster: additive leaves alone whom it never declared; who leaves its declaration leaves the team", async () => {
    const { host, client } = scene;
    const teamID = await scene.team();
    await client.insertteammembers({ teamIDs: [teamID], emails: [alan] });
    const news = { teamID, members: { [ada]: "member", [grace]: "member" }, mode: "additive" };
    const made = await scene.create("TeamRoster", news);
    expect(made.outputs).toMatchObject({ members: news.members });
    const fewer = { ...made.inputs, members: { [ada]: "admin" } };
    const outputs = await host.update("TeamRoster", teamID, made.outputs, fewer);
    expect(await live(scene, teamID)).toEqual({
      [caller]: "admin",
      [ada]: "admin",
      [alan]: "member",
    });
    expect(await host.read("TeamRoster", teamID, outputs)).toMatchObject({ outputs: { members: fewer.members } });
    await host.destroy("TeamRoster", teamID, outputs);
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin", [alan]: "member" });

    const all = { ...fewer, mode: "authoritative" };
    host.told.length = 0;
    await host.diff("TeamRoster", teamID, outputs, all);
    expect(host.told).toEqual([
      "info: members: 1 unchanged",
      "info: people whom the roster left alone may now be removed as well: only the update shows whom",
    ]);
    await host.update("TeamRoster", teamID, outputs, all);
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin", [ada]: "admin" });
  });

  test("TeamRoster: the administrator whom its team names stays without a change, and leaves with that", async () => {
    const { host, client } = scene;
    const organizationID = await scene.organization();
    await client.insertteammembers({ teamIDs: [await scene.team(organizationID, "Guests")], emails: [grace] });
    const news = { organizationID, name: "Crew", adminID: await idOf(scene, grace) };
    const team = await scene.create("Team", news);
    const roster = { teamID: team.id, members: { [ada]: "admin" } };
    const { inputs, id, outputs } = await scene.create("TeamRoster", roster);
    const next = async (now: object) => {
      await host.restart();
      const state = await host.read("Team", team.id, team.outputs, team.inputs);
      const seen = await host.read("TeamRoster", id, outputs, inputs);
      expect(seen.outputs).toMatchObject({ members: roster.members });
      const checked = await host.check("Team", { ...news, ...now }, team.inputs);
      await host.diff("Team", team.id, state.outputs, checked.inputs);
      return host.diff("TeamRoster", id, seen.outputs, (await host.check("TeamRoster", roster, inputs)).inputs);
    };
    expect(await next({})).toMatchObject({ changes: false });
    expect(await next({ adminID: undefined })).toMatchObject({ changes: true });
    await host.update("TeamRoster", id, outputs, inputs);
    expect(Object.keys(await live(scene, id))).toEqual([ada]);
  });

  test("TeamRoster: ignored members are no drift and are never removed", async () => {
    const { host, client } = scene;
    const teamID = await scene.team();
    await client.insertteammembers({ teamIDs: [teamID], emails: ["bot@machines.example"] });
    const made = await scene.create("TeamRoster", {
      teamID,
      members: { [ada]: "member" },
      ignore: ["*@machines.example"],
    });
    expect(await host.read("TeamRoster", teamID, made.outputs)).toMatchObject({
      outputs: { members: { [ada]: "member" } },
    });
    const none = { ...made.inputs, members: {} };
    const outputs = await host.update("TeamRoster", teamID, made.outputs, none);
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin", "bot@machines.example": "member" });
    await host.destroy("TeamRoster", teamID, outputs);
    expect(Object.keys(await live(scene, teamID))).toContain("bot@machines.example");
    const unset = { ...none, ignore: undefined };
    expect(await host.diff("TeamRoster", teamID, outputs, unset)).toMatchObject({ changes: true });
    await host.update("TeamRoster", teamID, outputs, unset);
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin" });
  });

  test("TeamRoster: a team with other members is not taken over as long as maxRemovals is not raised", async () => {
    const { client } = scene;
    const teamID = await scene.team();
    await client.insertteammembers({ teamIDs: [teamID], emails: [ada, grace] });
    await client.updateteammember({ teamID, userID: await idOf(scene, ada), role: "admin" });
    const news = { teamID, members: { [ada]: "member" } };
    const refused = scene.calls(() =>
      expect(scene.create("TeamRoster", news)).rejects.toThrow(
        /1 of 2 members would be removed, more than maxRemovals allows.*\nNot declared: grace@example\.com\./s,
      ),
    );
    expect(await refused).toEqual([]);
    await scene.create("TeamRoster", { ...news, maxRemovals: 0.5 });
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin", [ada]: "member" });
  });

  describe("guards", () => {
    test("TeamRoster: too many removals are refused at preview, and against what is there", async () => {
      const { host, client } = scene;
      const teamID = await scene.team();
      const made = await scene.create("TeamRoster", { teamID, members: people(12) });
      const few = { ...made.inputs, members: people(6) };
      const refusal =
        /6 of 12 members would be removed, more than maxRemovals allows \(25 %\).*set maxRemovals to 0\.5/;
      const sent = await scene.calls(() =>
        expect(host.diff("TeamRoster", teamID, made.outputs, few)).rejects.toThrow(refusal),
      );
      expect(sent).toEqual([]);
      await expect(host.update("TeamRoster", teamID, made.outputs, few)).rejects.toThrow(refusal);
      expect(Object.keys(await live(scene, teamID))).toHaveLength(13);
      // A list that somebody filled by hand is not emptied by the next run either.
      await client.insertteammembers({
        teamIDs: [teamID],
        emails: Array.from({ length: 9 }, (_, i) => `x${i}@example.com`),
      });
      await expect(host.update("TeamRoster", teamID, made.outputs, made.inputs)).rejects.toThrow("9 of 21 members");
      await host.update("TeamRoster", teamID, made.outputs, { ...few, maxRemovals: 1 });
      expect(Object.keys(await live(scene, teamID))).toHaveLength(7);
    });

    test("TeamRoster: administrators are left, as many as minAdmins says", async () => {
      const { host } = scene;
      const teamID = await scene.team();
      const members = { [ada]: "admin", [grace]: "admin" };
      const made = await scene.create("TeamRoster", { teamID, members, minAdmins: 2, keepSelf: false, maxRemovals: 1 });
      expect(await live(scene, teamID)).toEqual(members);
      const fewer = { ...made.inputs, members: { [ada]: "admin", [grace]: "member" } };
      await expect(host.diff("TeamRoster", teamID, made.outputs, fewer)).rejects.toThrow(
        "1 administrator would be left, fewer than minAdmins asks for (2)",
      );
      const { problems } = await host.check("TeamRoster", { ...fewer, minAdmins: 2 });
      expect(problems).toEqual([expect.stringContaining("minAdmins: asks for 2 administrators")]);
      // Unset, the last one stays; a team that has none may have none.
      const unset = { ...fewer, members: { [ada]: "member" }, minAdmins: undefined };
      await expect(host.update("TeamRoster", teamID, made.outputs, unset)).rejects.toThrow("fewer than minAdmins");
      const none = { ...unset, minAdmins: 0 };
      await host.update("TeamRoster", teamID, made.outputs, none);
      expect(await live(scene, teamID)).toEqual({ [ada]: "member" });
    });

    test("TeamRoster: the caller is neither dropped nor demoted", async () => {
      const { host } = scene;
      const teamID = await scene.team();
      const made = await scene.create("TeamRoster", { teamID, members: { [caller]: "admin", [ada]: "admin" } });
      for (const members of [{ [ada]: "admin" }, { [caller]: "member", [ada]: "admin" }]) {
        const without = { ...made.inputs, members };
        const refusal = /admin@example\.com, whose account makes these calls, would be/;
        await expect(host.diff("TeamRoster", teamID, made.outputs, without)).rejects.toThrow(refusal);
        await expect(host.update("TeamRoster", teamID, made.outputs, without)).rejects.toThrow(refusal);
      }
      const meant = { ...made.inputs, members: { [ada]: "admin" }, keepSelf: false };
      await host.update("TeamRoster", teamID, made.outputs, meant);
      expect(await live(scene, teamID)).toEqual({ [ada]: "admin" });
    });
  });

  test("TeamRoster: who is refused is named, the others go in, nobody is removed yet, and the next run sends the rest", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const first = await scene.create("TeamRoster", { teamID, members: { [alan]: "member" } });
    const members = { [ada]: "admin", nobody23: "member", [grace]: "member" };
    const wanted = { ...first.inputs, members };
    const failed = await scene.failure(host.update("TeamRoster", teamID, first.outputs, wanted));
    expect(failed.message).toMatch(
      /nobody23 was not added: insertteammembers: User not found.*Once that is done, 1 member will be removed/s,
    );
    expect(failed.id).toBe(teamID);
    expect(await live(scene, teamID)).toEqual({
      [caller]: "admin",
      [alan]: "member",
      [ada]: "admin",
      [grace]: "member",
    });
    expect(failed.state).toMatchObject({ members: { [ada]: "admin", [grace]: "member", [alan]: "member" } });
    const right = { ...wanted, members: { [ada]: "admin", [grace]: "member" } };
    const { inputs } = await host.check("TeamRoster", right, first.inputs);
    expect(await scene.calls(() => host.update("TeamRoster", teamID, failed.state, inputs))).toEqual([
      "deleteteammember",
    ]);
    expect(await live(scene, teamID)).toEqual({ [caller]: "admin", [ada]: "admin", [grace]: "member" });
  });

  test("TeamRoster: invitations lead where they are said to, and a change of that alone sends nothing", async () => {
    const teamID = await scene.team();
    const targets = { targetRoute: "app", targetInitialApp: "app1", targetInitialScreen: "screen1" };
    const made = await scene.create("TeamRoster", { teamID, members: { [ada]: "member" }, ...targets });
    const sent = scene.emulator.calls({ mutating: true }).at(-1);
    expect(sent).toMatchObject({ endpoint: "insertteammembers", request: { ...targets, emails: [ada] } });
    expect(
      await scene.host.diff("TeamRoster", teamID, made.outputs, { ...made.inputs, targetRoute: "go" }),
    ).toMatchObject({
      changes: false,
    });
  });

  test("TeamRoster: a name that is neither an address nor an ID is told so", async () => {
    const { problems } = await scene.host.check("TeamRoster", { teamID: "t", members: { "Ada Lovelace": "member" } });
    expect(problems).toEqual(["members.Ada Lovelace: must be an e-mail address or a user ID"]);
  });
});
