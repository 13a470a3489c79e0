import { expect, test } from "@jest/globals";
import { throughBothDoors, unknown } from "../harness/bothDoors.ts";

throughBothDoors({}, (scene) => {
  test("is created, left alone, renamed in place, seen to drift and deleted", async () => {
    const { host, client } = scene;
    const made = await scene.create("Organization", { name: "Acme", description: "Makes everything." });
    expect(await client.readorganization({ organizationID: made.id })).toMatchObject({
      organization: { _id: made.id, name: "Acme", description: "Makes everything." },
    });
    expect(await host.diff("Organization", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });

    const renamed = { ...made.inputs, name: "Acme & Co", description: null };
    expect(await host.diff("Organization", made.id, made.outputs, renamed)).toMatchObject({
      changes: true,
      replaces: [],
    });
    const outputs = await host.update("Organization", made.id, made.outputs, renamed);
    expect(outputs).toMatchObject({ name: "Acme & Co", description: null });
    const { organization } = await client.readorganization({ organizationID: made.id });
    expect(organization?.name).toBe("Acme & Co");
    expect(organization?.description ?? "").toBe("");

    await client.updateorganization({ organizationID: made.id, organizationInfo: { name: "By hand" } });
    const seen = await host.read("Organization", made.id, outputs);
    expect(seen).toMatchObject({
      id: made.id,
      outputs: { name: "By hand", description: null },
      inputs: { name: "By hand" },
    });
    expect(await host.diff("Organization", made.id, seen.outputs, renamed)).toMatchObject({ changes: true });

    await host.destroy("Organization", made.id, outputs);
    await host.destroy("Organization", made.id, outputs); // what is missing is deleted
    expect((await host.read("Organization", made.id, outputs)).id).toBe("");
  });

  test("what is unset is left alone, and no drift", async () => {
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

  test("is found again by a run that remembers nothing, and not doubled", async () => {
    const first = await scene.create("Organization", { name: "Acme" });
    let second: { id: string } | undefined;
    expect(await scene.calls(async () => (second = await scene.create("Organization", { name: "Acme" })))).toEqual([]);
    expect(second?.id).toBe(first.id);
    expect(scene.host.told.join()).toContain("was already there");
  });

  test("what is there with other content is not taken unless it is told to", async () => {
    const { id } = await scene.create("Organization", { name: "Acme" });
    await scene.client.updateorganization({ organizationID: id, organizationInfo: { name: "Theirs" } });
    await expect(scene.create("Organization", { name: "Acme" })).rejects.toThrow("set adopt: true to take it over");
    await scene.create("Organization", { name: "Acme", adopt: true });
    expect((await scene.client.readorganization({ organizationID: id })).organization?.name).toBe("Acme");
  });

  test("is not deleted while it has teams, which are named; forceDestroy deletes them too", async () => {
    const made = await scene.create("Organization", { name: "Acme" });
    await scene.team(made.id, "Crew");
    await expect(scene.host.destroy("Organization", made.id, made.outputs)).rejects.toThrow(/still has teams: "Crew"/);
    await scene.host.destroy("Organization", made.id, { ...made.outputs, forceDestroy: true });
    expect((await scene.host.read("Organization", made.id, made.outputs)).id).toBe("");
  });

  test("its administrator can't be changed afterwards", async () => {
    const olds = { name: "Acme", adminID: "u1" };
    const { problems } = await scene.host.check("Organization", { name: "Acme", adminID: "u2" }, olds);
    expect(problems).toEqual([expect.stringContaining("adminID: the administrator of an existing organization")]);
  });

  test("an import reads everything; a name that is not known yet is changed, not replaced", async () => {
    const organizationID = await scene.organization();
    const seen = await scene.host.import("Organization", organizationID);
    expect(seen).toMatchObject({ id: organizationID, inputs: { name: "Acme" } });
    const { inputs } = await scene.host.check("Organization", { name: unknown });
    expect(await scene.host.diff("Organization", organizationID, seen.outputs, inputs)).toMatchObject({
      changes: true,
      replaces: [],
    });
  });
});
