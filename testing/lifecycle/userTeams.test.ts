import { describe, beforeEach, expect, test } from "@jest/globals";
import { throughBothDoors, unknown } from "../harness/bothDoors.ts";

const ada = "ada@example.com";

describe.each(["objects", "ids"] as const)("with lists of %s,", (memberForm) => {
  throughBothDoors({ settings: { memberForm } }, (scene) => {
    let [red, green, blue] = ["", "", ""];
    let organizationID = "";
    let userID = "";
    beforeEach(async () => {
      organizationID = await scene.organization();
      red = await scene.team(organizationID, "Red");
      green = await scene.team(organizationID, "Green");
      blue = await scene.team(await scene.organization("Elsewhere"), "Blue");
      userID = (await scene.client.userid({ email: ada })).userID;
    });

    const teams = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const [name, teamID] of Object.entries({ red, green, blue })) {
        if (await scene.client.readteammember({ teamID, userID }).catch(() => undefined)) found.push(name);
      }
      return found;
    };

    test("is created, left alone, changed, seen to drift, put right and deleted", async () => {
      const { host, client } = scene;
      await client.insertteammembers({ teamIDs: [blue], emails: [ada] });
      const news = { email: "Ada@example.com", teamIDs: [red, green] };
      let made = { id: "", inputs: {}, outputs: {} as Record<string, unknown> };
      const calls = await scene.calls(async () => (made = await scene.create("UserTeams", news)));
      expect(calls).toEqual(["enforceteammembership"]);
      expect(host.told).toContain("info: takes the user out of all teams that are not declared");
      expect(made).toMatchObject({ id: userID, outputs: { ...news, memberUserID: userID } });
      expect(await teams()).toEqual(["red", "green"]);
      expect(await host.diff("UserTeams", userID, made.outputs, made.inputs)).toMatchObject({ changes: false });
      const reordered = { ...made.inputs, teamIDs: [green, red, red], email: ada };
      expect(await host.diff("UserTeams", userID, made.outputs, reordered)).toMatchObject({ changes: false });
      expect(await host.read("UserTeams", userID, made.outputs)).toMatchObject({ outputs: made.outputs });

      // Of one organization alone: what is elsewhere stays.
      await client.insertteammembers({ teamIDs: [blue], emails: [ada] });
      const fewer = { ...made.inputs, teamIDs: [green], organizationID };
      expect(await host.diff("UserTeams", userID, made.outputs, fewer)).toMatchObject({ changes: true, replaces: [] });
      const outputs = await host.update("UserTeams", userID, made.outputs, fewer);
      expect(outputs).toMatchObject({ teamIDs: [green], organizationID });
      expect(await teams()).toEqual(["green", "blue"]);
      const everywhere = await host.update("UserTeams", userID, outputs, { ...fewer, organizationID: undefined });
      expect(everywhere).not.toHaveProperty("organizationID");
      expect(await teams()).toEqual(["green"]);

      await client.deleteteammember({ teamID: green, userID });
      await host.restart();
      const seen = await host.read("UserTeams", userID, outputs);
      expect(seen).toMatchObject({ id: userID, outputs: { teamIDs: [] }, inputs: { teamIDs: [], organizationID } });
      expect(await host.diff("UserTeams", userID, seen.outputs, fewer)).toMatchObject({ changes: true });
      await host.update("UserTeams", userID, seen.outputs, fewer);
      expect(await teams()).toEqual(["green"]);

      await client.insertteammembers({ teamIDs: [blue], emails: [ada] });
      await host.destroy("UserTeams", userID, outputs);
      expect(await teams()).toEqual(["blue"]);
      await host.destroy("UserTeams", userID, outputs);
    });

    test("an import looks at the teams that it names", async () => {
      const { host, client } = scene;
      await client.insertteammembers({ teamIDs: [red], emails: [ada] });
      const byAddress = await host.import("UserTeams", `${ada}/${red},${green}`);
      expect(byAddress).toMatchObject({ id: userID, inputs: { email: ada, teamIDs: [red] } });
      const byID = await host.import("UserTeams", `${userID}/${red}`);
      expect(byID).toMatchObject({ id: userID, inputs: { userID, teamIDs: [red] }, outputs: { memberUserID: userID } });
      const bare = await host.import("UserTeams", userID);
      expect(bare).toMatchObject({ id: userID, inputs: { userID, teamIDs: [] } });
      expect(host.told.at(-1)).toContain("warning: the platform does not tell which teams");
    });

    test("is gone with all of its teams; an unknown user is invited", async () => {
      const made = await scene.create("UserTeams", { email: "grace@example.com", teamIDs: [red] });
      await scene.client.deleteteammember({ teamID: red, userID: made.id });
      await scene.client.deleteteam({ teamID: red });
      await scene.host.restart();
      expect((await scene.host.read("UserTeams", made.id, made.outputs)).id).toBe("");
    });

    test("a platform that leaves a team out is told, and the next run puts it right", async () => {
      const { host, emulator } = scene;
      const news = { userID, teamIDs: [red, green] };
      emulator.setFaults({ faults: [{ endpoint: "teammembers", kind: "status", status: 404, count: 3 }] });
      const failed = await scene.failure(scene.create("UserTeams", news));
      expect(failed).toMatchObject({ id: userID, state: { teamIDs: [], memberUserID: userID } });
      expect(failed.message).toContain("is not in the list of: ");
      const { inputs } = await host.check("UserTeams", news);
      expect(await host.update("UserTeams", userID, failed.state, inputs)).toMatchObject({ teamIDs: [red, green] });
      expect(await teams()).toEqual(["red", "green"]);
    });
  });
});

throughBothDoors({}, (scene) => {
  test("another user is another resource; what is not known yet is unknown", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const made = await scene.create("UserTeams", { email: ada, teamIDs: [teamID] });
    const other = { ...made.inputs, email: "grace@example.com" };
    expect(await host.diff("UserTeams", made.id, made.outputs, other)).toMatchObject({ replaces: ["email"] });
    const later = await host.check("UserTeams", { email: ada, teamIDs: [teamID, unknown] });
    expect(later).toMatchObject({ problems: [], inputs: { teamIDs: [teamID, unknown] } });
    expect(await host.diff("UserTeams", made.id, made.outputs, later.inputs)).toMatchObject({
      changes: true,
      replaces: [],
    });
    expect((await host.check("UserTeams", { teamIDs: [] })).problems).toEqual(["email: set email or userID"]);
  });

  test("a refusal is told, and a lost answer repeated", async () => {
    const teamID = await scene.team();
    await expect(scene.create("UserTeams", { email: ada, teamIDs: ["nowhere"] })).rejects.toThrow(
      "enforceteammembership",
    );
    scene.emulator.setFaults({
      faults: [{ endpoint: "enforceteammembership", kind: "reset", commit: true, count: 1 }],
    });
    expect((await scene.create("UserTeams", { email: ada, teamIDs: [teamID] })).outputs).toMatchObject({
      teamIDs: [teamID],
    });
  });
});
