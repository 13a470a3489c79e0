import { expect, test } from "@jest/globals";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";

throughBothKinds({}, (scene) => {
  /** Checks a resource that no state knows, and returns its problems. */
  async function problemsOf(resource: string, name: string, olds: Record<string, unknown> = {}): Promise<string> {
    scene.host.resource = resource;
    return (await scene.host.check("Organization", { name }, olds)).problems.join("\n");
  }
  async function made(resource: string, name: string) {
    scene.host.resource = resource;
    return scene.create("Organization", { name });
  }
  const records = (): Promise<string[]> => readdir(join(scene.host.folder, ".microapps/organizations"));

  test("a name that another resource of the stack made is refused before anything is sent, with what to do", async () => {
    const { id } = await made("acme", "Acme");
    await scene.host.restart(); // acme left the program
    const told = await problemsOf("apex", "Acme");
    const type = `${scene.providerKind.types}:Organization`;
    expect(told).toContain(`name: is that of organization "acme" (${id}), which this stack made`);
    expect(told).toContain(`give it the option aliases: ["urn:pulumi:dev::tests::${type}::acme"]`);
    const [file = ""] = await records();
    expect(told).toContain(`If that organization is gone from the platform, delete .microapps/organizations/${file}.`);
    expect(await problemsOf("apex", "Apex")).toBe("");
    expect(await problemsOf("acme", "Acme")).toBe(""); // what is interrupted goes on
    await rm(join(scene.host.folder, ".microapps/organizations", file));
    expect(await problemsOf("apex", "Acme")).toBe("");
  });

  test("the name is free once the organization is deleted or has another one, in this run or an earlier one", async () => {
    const acme = await made("acme", "Acme");
    const renamed = { ...acme.inputs, name: "Zenith" };
    expect(await problemsOf("acme", "Zenith", acme.inputs)).toBe("");
    expect(await problemsOf("apex", "Acme")).toBe("");
    scene.host.resource = "acme";
    const outputs = await scene.host.update("Organization", acme.id, acme.outputs, renamed);
    await scene.host.restart();
    expect(await problemsOf("apex", "Acme")).toBe("");
    expect(await problemsOf("apex", "Zenith")).toContain('organization "acme"');
    scene.host.resource = "acme";
    await scene.host.destroy("Organization", acme.id, outputs);
    expect(await problemsOf("apex", "Zenith")).toBe("");
    expect(await records()).toEqual([]);
  });

  test("two resources of one program that want one name are told so", async () => {
    await made("acme", "Acme");
    expect(await problemsOf("apex", "Acme")).toContain('name: is that of organization "acme"');
    expect(await problemsOf("apex", "Acme")).toContain("names are unique on the platform: choose another");
  });

  test("a resource that was renamed by an alias is known by its new name, also when its state has the old one", async () => {
    const acme = await made("acme", "Acme");
    await scene.host.restart();
    scene.host.resource = "apex";
    const { inputs } = await scene.host.check("Organization", { name: "Acme" }, acme.inputs);
    expect(await scene.host.diff("Organization", acme.id, acme.outputs, inputs)).toMatchObject({ changes: false });
    await scene.host.restart();
    scene.host.resource = scene.providerKind.modern ? "apex" : "acme"; // the name that a host of dynamic resources receives
    await scene.host.read("Organization", acme.id, acme.outputs);
    expect(await problemsOf("zenith", "Acme")).toContain('organization "apex"');
  });

  test("a name that was changed by hand is the organization's as soon as it is seen; one that is gone has none", async () => {
    const acme = await made("acme", "Acme");
    await scene.client.updateorganization({ organizationID: acme.id, organizationInfo: { name: "By hand" } });
    await scene.host.restart();
    const seen = await scene.host.read("Organization", acme.id, acme.outputs);
    expect(await problemsOf("apex", "Acme")).toBe("");
    expect(await problemsOf("apex", "By hand")).toContain('organization "acme"');
    await scene.client.deleteorganization({ organizationID: acme.id });
    scene.host.resource = "acme";
    await scene.host.read("Organization", acme.id, seen.outputs);
    expect(await problemsOf("apex", "By hand")).toBe("");
  });

  test("where nothing is remembered, the platform's refusal says the same", async () => {
    await made("acme", "Acme");
    await rm(join(scene.host.folder, ".microapps"), { recursive: true });
    await scene.host.restart();
    await expect(made("apex", "Acme")).rejects.toThrow(
      /organization "Acme" was not created because the platform says: .*\. If it is an organization of this stack that has another key now, say the former one: formerly/,
    );
  });
});
