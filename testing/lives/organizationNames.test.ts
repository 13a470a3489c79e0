import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

throughBothKinds({}, (scene) => {
  /** Checks a resource that no state knows, and returns its problems. */
  const problemsOf = async (resource: string, name: string, olds: Record<string, unknown> = {}): Promise<string> =>
    (await scene.host.as(resource).check("Organization", { name }, olds)).problems.join("\n");
  const made = (resource: string, name: string) => scene.create("Organization", { name }, resource);

  test("two resources of one program that want one name are told so", async () => {
    await made("acme", "Acme");
    expect(await problemsOf("apex", "Acme")).toContain('name: is that of Organization "acme"');
    expect(await problemsOf("apex", "Acme")).toContain("names are unique on the platform: choose another");
  });

  test("one that another run made is refused by the platform, with what to do", async () => {
    await made("acme", "Acme");
    await scene.host.restart();
    await expect(made("apex", "Acme")).rejects.toThrow(
      /organization "Acme" was not created because the platform says: .*\. If it is an organization of this stack that has another key now, say the former one: formerly/,
    );
  });

  test("one that another organization of the run gives up is waited for", async () => {
    const [acme, apex] = [await made("acme", "Acme"), await made("apex", "Apex")];
    await scene.host.restart();
    const renamed = async (resource: string, { id, outputs, inputs }: typeof acme, name: string) => {
      const checked = await scene.host.as(resource).check("Organization", { name }, inputs);
      expect(checked.problems).toEqual([]);
      return () => scene.host.as(resource).update("Organization", id, outputs, checked.inputs);
    };
    const [first, second] = [await renamed("acme", acme, "Apex"), await renamed("apex", apex, "Apex One")];
    const third = await scene.host.as("abel").check("Organization", { name: "Acme" });
    const taken = scene.host.create("Organization", third.inputs);
    const waiting = first();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await second();
    await waiting;
    const { id } = await taken;
    const names = [acme.id, apex.id, id].map(
      async (organizationID) => (await scene.client.readorganization({ organizationID })).organization?.name,
    );
    expect(await Promise.all(names)).toEqual(["Apex", "Apex One", "Acme"]);
  });

  test("names that go round in a circle are refused before anything is sent", async () => {
    await problemsOf("acme", "Apex", { name: "Acme" });
    expect(await problemsOf("apex", "Acme", { name: "Apex" })).toContain(
      'name: goes round in a circle (Organization "acme", Organization "apex"), and names are unique on the platform: give one',
    );
  });

  test("adopt of one that was made by hand says that it was made new", async () => {
    const organizationID = await scene.organization();
    await scene.team(organizationID, "Crew");
    await scene.create("Team", { organizationID, name: "Crew", adopt: true }, "it");
    expect(scene.host.told.join()).toContain("made new: no team with the ID of this key was there to adopt");
  });
});
