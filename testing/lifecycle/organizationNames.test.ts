import { expect, test } from "@jest/globals";
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
});
