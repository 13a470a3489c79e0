import { beforeEach, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { here } from "../harness/inProcessPlugin.ts";
import { Stage } from "../harness/stage.ts";

// The specification asks to check memberships and dependencies first, so a platform may simply delete what holds something.
// Nothing that no state names goes with a deletion, and nothing that a state names is left.

throughBothKinds({}, (scene) => {
  beforeEach(() => scene.emulator.behave({ cascade: "deletes" }));

  const byHand = ["bob@example.com", "eve@example.com", "kim@example.com"];
  const there = async (teamID: string) =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.flatMap(({ email }) => email ?? []);

  test("a team does not go with people whom somebody put into it, and names them", async () => {
    const made = await scene.create("Team", { organizationID: await scene.organization(), name: "Crew" });
    const ada = await scene.create("TeamMember", { teamID: made.id, email: "ada@example.com" });
    await scene.client.insertteammembers({ teamIDs: [made.id], emails: byHand });
    await scene.host.restart();
    await scene.host.destroy("TeamMember", ada.id, ada.outputs);
    const destroyed = scene.calls(() =>
      expect(scene.host.destroy("Team", made.id, made.outputs)).rejects.toThrow(
        `team "Crew" was not deleted because it still has members: ${byHand.join(", ")}. Remove them first`,
      ),
    );
    expect(await destroyed).toEqual([]);
    expect(await there(made.id)).toEqual(["admin@example.com", ...byHand]);
    await scene.host.destroy("Team", made.id, { ...made.outputs, forceDestroy: true });
    expect((await scene.host.read("Team", made.id, made.outputs)).id).toBe("");
  });

  test("the administrator whom a team names goes with it", async () => {
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew", adminID: userID });
    expect(await there(made.id)).toContain("ada@example.com");
    await scene.host.destroy("Team", made.id, made.outputs);
    expect((await scene.host.read("Team", made.id, made.outputs)).id).toBe("");
  });

  test("a team that was replaced says that its members follow only where all of them are declared", async () => {
    const organizationID = await scene.organization();
    const made = await scene.create("Team", { organizationID, name: "Crew" });
    await scene.client.insertteammembers({ teamIDs: [made.id], emails: ["bob@example.com"] });
    await scene.host.check("Team", made.inputs, made.inputs);
    await scene.host.check("Team", made.inputs); // the engine replaces it
    const refused = () => expect(scene.host.delete("Team", made.id, made.outputs)).rejects;
    await refused().toThrow("Remove them first, or set forceDestroy: true");
    await scene.host.check("TeamMember", { teamID: made.id, email: "bob@example.com" });
    await refused().toThrow("Run up again, without --target-replace: its members follow");
  });

  test("an organization that this stack made goes, and the run says what it can't see", async () => {
    const made = await scene.create("Organization", { name: "Acme" });
    await scene.host.restart();
    await scene.host.destroy("Organization", made.id, made.outputs);
    expect(scene.host.told.join()).toContain(
      'organization "Acme": the platform cannot list its teams; if it deletes them with the organization, those of others go too',
    );
    expect((await scene.host.read("Organization", made.id, made.outputs)).id).toBe("");
  });

  test("an organization that was there before goes with forceDestroy alone", async () => {
    const organizationID = await scene.organization();
    const teamID = await scene.team(organizationID, "Theirs");
    const imported = await scene.host.import("Organization", organizationID);
    const { name } = imported.outputs as { name: string };
    const changed = await scene.host.update("Organization", organizationID, imported.outputs, {
      ...(await scene.host.check("Organization", { name, description: "Ours" }, imported.inputs)).inputs,
    });
    const adopted = await scene.create("Organization", { name: "Taken" });
    await scene.client.updateorganization({ organizationID: adopted.id, organizationInfo: { name: "Another" } });
    const taken = await scene.create("Organization", { name: "Taken", adopt: true });
    for (const [id, state] of [
      [organizationID, imported.outputs],
      [organizationID, changed],
      [taken.id, taken.outputs],
    ] as const) {
      const destroyed = scene.calls(() =>
        expect(scene.host.destroy("Organization", id, state)).rejects.toThrow(
          "it was there before this stack, the platform lists no organization's teams",
        ),
      );
      expect(await destroyed).toEqual([]);
    }
    expect(await there(teamID)).toEqual(["admin@example.com"]);
    await scene.host.destroy("Organization", organizationID, { ...changed, forceDestroy: true });
    expect((await scene.host.read("Organization", organizationID, changed)).id).toBe("");
  });
});

test("where the profile says that teams go with their organization, forceDestroy counts", async () => {
  const stage = await Stage.set({}, { "microapps:profile": "profile.json" }, here);
  const { host } = stage;
  await writeFile(join(host.folder, "profile.json"), JSON.stringify({ version: 1, habits: { cascade: "deletes" } }));
  stage.emulator.behave({ cascade: "deletes" });
  const made = await stage.create("Organization", { name: "Acme" });
  await expect(host.destroy("Organization", made.id, made.outputs)).rejects.toThrow(
    /this platform deletes an organization with all of its teams \(cascade\).*set forceDestroy: true/,
  );
  await host.destroy("Organization", made.id, { ...made.outputs, forceDestroy: true });
  expect((await host.read("Organization", made.id, made.outputs)).id).toBe("");
  await stage.clear();
});
