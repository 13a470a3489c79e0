import { describe, beforeEach, expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

const ada = "ada@example.com";

describe.each(["objects", "ids"] as const)("with lists of %s,", (memberForm) => {
  throughBothKinds({ settings: { memberForm } }, (scene) => {
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

    test("UserTeams: an import by ID looks at the teams that it names", async () => {
      const { host, client } = scene;
      await client.insertteammembers({ teamIDs: [red], emails: [ada] });
      const byID = await host.import("UserTeams", `${userID}/${red}`);
      expect(byID).toMatchObject({ id: userID, inputs: { userID, teamIDs: [red] }, outputs: { memberUserID: userID } });
      const bare = await host.import("UserTeams", userID);
      expect(bare).toMatchObject({ id: userID, inputs: { userID, teamIDs: [] } });
      expect(host.told.at(-1)).toContain("warning: the platform does not tell which teams");
    });

    test("UserTeams: is gone with all of its teams; an unknown user is invited", async () => {
      const made = await scene.create("UserTeams", { email: "grace@example.com", teamIDs: [red] });
      await scene.client.deleteteammember({ teamID: red, userID: made.id });
      await scene.client.deleteteam({ teamID: red });
      await scene.host.restart();
      expect((await scene.host.read("UserTeams", made.id, made.outputs)).id).toBe("");
    });

    test("UserTeams: a platform that leaves a team out is told, and the next run puts it right", async () => {
      const { host, emulator } = scene;
      const news = { userID, teamIDs: [red, green] };
      emulator.setFaults({ faults: [{ endpoint: "teammembers", kind: "status", status: 404, count: 6 }] });
      const failed = await scene.failure(scene.create("UserTeams", news));
      expect(failed).toMatchObject({ id: userID, state: { teamIDs: [], memberUserID: userID } });
      expect(failed.message).toContain("is not in the list of: ");
      const { inputs } = await host.check("UserTeams", news);
      expect(await host.update("UserTeams", userID, failed.state, inputs)).toMatchObject({ teamIDs: [red, green] });
      expect(await teams()).toEqual(["red", "green"]);
    });
  });
});

throughBothKinds({}, (scene) => {
  test("UserTeams: nobody is refused, a refusal is reported, and a lost answer repeated", async () => {
    expect((await scene.host.check("UserTeams", { teamIDs: [] })).problems).toEqual(["email: set email or userID"]);
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
