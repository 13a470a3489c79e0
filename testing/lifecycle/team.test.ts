import { expect, test } from "@jest/globals";
import { throughBothDoors } from "../harness/bothDoors.ts";

throughBothDoors({}, (scene) => {
  test("Team: is not deleted while it has members of others, who are named", async () => {
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    await scene.client.insertteammembers({ teamIDs: [made.id], emails: ["grace@example.com"] });
    await expect(scene.host.destroy("Team", made.id, made.outputs)).rejects.toThrow(/grace@example\.com/);
    await scene.host.destroy("Team", made.id, { ...made.outputs, forceDestroy: true });
    expect((await scene.host.read("Team", made.id, made.outputs)).id).toBe("");
  });

  test("Team: a new administrator is added", async () => {
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    await scene.host.update("Team", made.id, made.outputs, { ...made.inputs, adminID: userID });
    const { teamMembers } = await scene.client.teammembers({ teamIDs: [made.id] });
    expect(teamMembers).toContainEqual(expect.objectContaining({ userID, role: "admin" }));
  });
});
