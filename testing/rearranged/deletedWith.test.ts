import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { testInLong } from "../harness/drawn.ts";
import { Scene, type KindName } from "./scene.ts";

const organization = `const acme = new Organization("acme", { name: "Acme" });\n`;
const people = `
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com", role: "admin" }, { deletedWith: crew });
const yard = new Team("yard", { organizationID: acme.id, name: "Yard" });
new TeamRoster("roster", { teamID: yard.id, members: { "kay@example.com": "member" } }, { deletedWith: yard });
`;

// Programs of the package's own classes are refused.
describe.each(["plugin"] as const)(
  "members that are deleted with their team, with the %s provider:",
  (providerKind: KindName) => {
    let scene: Scene;
    beforeAll(async () => void (scene = await Scene.open(providerKind)));
    afterAll(async () => expect(await scene.close()).toEqual([]));

    test("go with it, as the preview says, and nothing is left of them", async () => {
      await scene.begin(organization + people);
      const ids = await Promise.all(["crew", "yard"].map(async (name) => (await scene.project.state()).get(name)?.id));
      await scene.write(organization);
      const planned = await scene.project.steps("preview");
      expect(planned.filter((step) => step.startsWith("delete "))).toHaveLength(4);
      await scene.project.succeed("up --yes --skip-preview");
      for (const teamID of ids) {
        await expect(scene.client.readteam({ teamID: teamID ?? "" })).rejects.toMatchObject({ code: "notFound" });
      }
      await scene.isSettled();
    });

    testInLong("of another provider go with it, too", async () => {
      const settings = { endpoint: scene.emulator.url, email: "admin@example.com", password: "correct-horse" };
      const two = `const two = provider("two", ${JSON.stringify(settings)});\n`;
      await scene.begin(two + organization + people.replaceAll("{ deletedWith:", "{ provider: two, deletedWith:"));
      const ids = await Promise.all(["crew", "yard"].map(async (name) => (await scene.project.state()).get(name)?.id));
      await scene.write(two + organization);
      await scene.project.succeed("up --yes --skip-preview");
      for (const teamID of ids) {
        await expect(scene.client.readteam({ teamID: teamID ?? "" })).rejects.toMatchObject({ code: "notFound" });
      }
      await scene.isSettled();
    });
  },
);
