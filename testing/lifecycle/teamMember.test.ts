import { describe, expect, test } from "@jest/globals";
import { throughBothDoors, unknown } from "../harness/bothDoors.ts";

describe.each(["objects", "ids"] as const)("TeamMember, with lists of %s,", (memberForm) => {
  throughBothDoors({ settings: { memberForm } }, (scene) => {
    test("is added, promoted, put back when removed by hand, and removed alone", async () => {
      const { host, client } = scene;
      const teamID = await scene.team(await scene.organization());
      const made = await scene.create("TeamMember", { teamID, email: "Ada@example.com", role: "admin" });
      const { userID } = await client.userid({ email: "ada@example.com" });
      expect(made.id).toBe(`${teamID}/${userID}`);
      expect(await host.diff("TeamMember", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });
      expect(await host.read("TeamMember", made.id, made.outputs)).toMatchObject({ outputs: { role: "admin" } });

      const demoted = { ...made.inputs, role: "member" };
      expect(await host.diff("TeamMember", made.id, made.outputs, demoted)).toMatchObject({
        changes: true,
        replaces: [],
      });
      const outputs = await host.update("TeamMember", made.id, made.outputs, demoted);
      await client.updateteammember({ teamID, userID, role: "admin" });
      await new Promise((resolve) => setTimeout(resolve, 0));
      // Our own update dropped the snapshot of the list, so the edit by hand is seen at once.
      expect(await host.read("TeamMember", made.id, outputs)).toMatchObject({ outputs: { role: "admin" } });

      await host.destroy("TeamMember", made.id, outputs);
      expect((await host.read("TeamMember", made.id, outputs)).id).toBe("");
      await host.destroy("TeamMember", made.id, outputs);
    });

    test("many at a time are one call for each team", async () => {
      const organizationID = await scene.organization();
      const teams = [await scene.team(organizationID, "A"), await scene.team(organizationID, "B")];
      const people = ["ada", "grace", "alan", "edsger"].map((name) => `${name}@example.com`);
      const calls = await scene.calls(() =>
        Promise.all(teams.flatMap((teamID) => people.map((email) => scene.create("TeamMember", { teamID, email })))),
      );
      expect(calls).toEqual(["insertteammembers", "insertteammembers"]);
    });
  });
});

throughBothDoors({}, (scene) => {
  test("TeamMember: an administrator is not made a plain member unless told to", async () => {
    const teamID = await scene.team(await scene.organization());
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    await scene.client.insertteammembers({ teamIDs: [teamID], userIDs: [userID] });
    await scene.client.updateteammember({ teamID, userID, role: "admin" });
    const news = { teamID, userID, role: "member" };
    await expect(scene.create("TeamMember", news)).rejects.toThrow("Set adopt: true");
    await scene.create("TeamMember", { ...news, adopt: true });
  });

  test("TeamMember: a team that is gone is told by its ID, and takes the member along", async () => {
    const teamID = await scene.team(await scene.organization());
    const made = await scene.create("TeamMember", { teamID, email: "ada@example.com" });
    await scene.client.deleteteammember({ teamID, userID: made.id.split("/")[1] ?? "" });
    await scene.client.deleteteam({ teamID });
    await scene.host.destroy("TeamMember", made.id, made.outputs);
    expect((await scene.host.read("TeamMember", made.id, made.outputs)).id).toBe("");
    await expect(scene.create("TeamMember", { teamID, email: "ada@example.com" })).rejects.toThrow(teamID);
  });

  test("TeamMember: another user or team is another membership, and an import reads who it is", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const made = await scene.create("TeamMember", { teamID, email: "ada@example.com", targetRoute: "go" });
    for (const other of [{ email: "grace@example.com" }, { teamID: unknown }]) {
      const { inputs } = await host.check("TeamMember", { ...made.inputs, ...other });
      expect(await host.diff("TeamMember", made.id, made.outputs, inputs)).toEqual({
        changes: true,
        replaces: Object.keys(other),
        deleteBeforeReplace: false,
      });
    }
    const later = await host.check("TeamMember", { ...made.inputs, role: unknown });
    expect(await host.diff("TeamMember", made.id, made.outputs, later.inputs)).toMatchObject({ replaces: [] });
    const silent = { ...made.inputs, targetRoute: undefined, targetInitialApp: "app1", targetInitialScreen: "screen1" };
    expect(await host.diff("TeamMember", made.id, made.outputs, silent)).toMatchObject({ changes: false });
    const seen = await host.import("TeamMember", made.id);
    expect(seen).toMatchObject({ id: made.id, inputs: { teamID, email: "ada@example.com", role: "member" } });
    expect((await host.check("TeamMember", { teamID })).problems).toEqual(["email: set email or userID"]);
  });

  test("TeamMember: who is refused is told, and the next run sends it again", async () => {
    const teamID = await scene.team();
    scene.emulator.setFaults({ faults: [{ endpoint: "insertteammembers", kind: "status", status: 403, count: 1 }] });
    const news = { teamID, email: "ada@example.com" };
    await expect(scene.create("TeamMember", news)).rejects.toThrow("insertteammembers");
    await scene.create("TeamMember", news);
  });
});
