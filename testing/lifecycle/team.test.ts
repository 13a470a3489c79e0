import { expect, test } from "@jest/globals";
import { throughBothDoors, unknown } from "../harness/bothDoors.ts";

throughBothDoors({}, (scene) => {
  test("is created, renamed in place, replaced when its organization changes, gone when somebody deletes it", async () => {
    const { host, client } = scene;
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    const renamed = { ...made.inputs, name: "The Crew" };
    expect(await host.diff("Team", made.id, made.outputs, renamed)).toMatchObject({ changes: true, replaces: [] });
    expect(await scene.calls(() => host.update("Team", made.id, made.outputs, renamed))).toEqual(["updateteam"]);
    expect(await scene.calls(() => host.update("Team", made.id, made.outputs, renamed))).toEqual([]);

    const moved = { ...renamed, organizationID: unknown };
    expect(await host.diff("Team", made.id, made.outputs, moved)).toEqual({
      changes: true,
      replaces: ["organizationID"],
      deleteBeforeReplace: false,
    });
    await client.deleteteam({ teamID: made.id });
    expect((await host.read("Team", made.id, made.outputs)).id).toBe("");
  });

  test("an import reads everything", async () => {
    const organizationID = await scene.organization();
    const teamID = await scene.team(organizationID);
    const seen = await scene.host.import("Team", teamID);
    expect(seen.inputs).toMatchObject({ organizationID, name: "Crew" });
  });

  test("is not deleted while it has members of others, who are named", async () => {
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    await scene.client.insertteammembers({ teamIDs: [made.id], emails: ["grace@example.com"] });
    await expect(scene.host.destroy("Team", made.id, made.outputs)).rejects.toThrow(/grace@example\.com/);
    await scene.host.destroy("Team", made.id, { ...made.outputs, forceDestroy: true });
    expect((await scene.host.read("Team", made.id, made.outputs)).id).toBe("");
  });

  test("a new administrator is added", async () => {
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    await scene.host.update("Team", made.id, made.outputs, { ...made.inputs, adminID: userID });
    const { teamMembers } = await scene.client.teammembers({ teamIDs: [made.id] });
    expect(teamMembers).toContainEqual(expect.objectContaining({ userID, role: "admin" }));
  });

  test("an edit by hand is seen and put right; a name that is not known yet is changed, not replaced", async () => {
    const { host, client } = scene;
    const made = await scene.create("Team", {
      organizationID: await scene.organization(),
      name: "Crew",
      description: "x",
    });
    expect(await host.diff("Team", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });
    await client.updateteam({ teamID: made.id, teamInfo: { name: "By hand", description: "y" } });
    const seen = await host.read("Team", made.id, made.outputs);
    expect(seen).toMatchObject({ outputs: { name: "By hand", description: "y" } });
    expect(await host.diff("Team", made.id, seen.outputs, made.inputs)).toMatchObject({ changes: true, replaces: [] });
    await host.update("Team", made.id, seen.outputs, { ...made.inputs, description: null });
    const { team } = await client.readteam({ teamID: made.id });
    expect(team).toMatchObject({ name: "Crew" });
    expect(team?.description ?? "").toBe("");
    const { inputs } = await host.check("Team", { ...made.inputs, name: unknown }, made.inputs);
    expect(await host.diff("Team", made.id, made.outputs, inputs)).toMatchObject({ changes: true, replaces: [] });
  });
});
