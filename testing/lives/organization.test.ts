import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

throughBothKinds({}, (scene) => {
  test("Organization: what is unset is left alone, and no drift", async () => {
    const made = await scene.create("Organization", { name: "Acme" });
    await scene.client.updateorganization({
      organizationID: made.id,
      organizationInfo: { description: "By hand" },
    });
    const seen = await scene.host.read("Organization", made.id, made.outputs);
    expect(seen.outputs).toEqual(made.outputs);
    expect(await scene.host.diff("Organization", made.id, seen.outputs, made.inputs)).toMatchObject({
      changes: false,
    });
  });

  test("Organization: is not deleted while it has teams, which are named; forceDestroy deletes them too", async () => {
    const made = await scene.create("Organization", { name: "Acme" });
    await scene.team(made.id, "Crew");
    await expect(scene.host.destroy("Organization", made.id, made.outputs)).rejects.toThrow(/still has teams: "Crew"/);
    await scene.host.destroy("Organization", made.id, { ...made.outputs, forceDestroy: true });
    expect((await scene.host.read("Organization", made.id, made.outputs)).id).toBe("");
  });

  test("Organization: its administrator can't be changed afterwards", async () => {
    const olds = { name: "Acme", adminID: "u1" };
    const { problems } = await scene.host.check("Organization", { name: "Acme", adminID: "u2" }, olds);
    expect(problems).toEqual([expect.stringContaining("adminID: the administrator of an existing organization")]);
  });
});
