import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
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

    test("stand in its way: the engine leaves them to it, and it names them until it may take them along", async () => {
      await scene.begin(organization + people);
      const ids = await Promise.all(["crew", "yard"].map(async (name) => (await scene.project.state()).get(name)?.id));
      await scene.write(organization);
      const planned = await scene.project.steps("preview");
      expect(planned.filter((step) => step.startsWith("delete "))).toHaveLength(4);
      const { status, output } = await scene.project.run("up --yes --skip-preview");
      expect(status).toBe(1);
      for (const who of ["ada@example.com", "kay@example.com"]) {
        expect(output).toContain(`still has members: ${who}. Remove them first, or set forceDestroy: true`);
      }
      const teams = people.split("\n").filter((line) => line.includes("new Team("));
      await scene.write(organization + teams.join("\n").replaceAll(" });", ", forceDestroy: true });"));
      await scene.project.succeed("up --yes --skip-preview");
      await scene.write(organization);
      await scene.project.succeed("up --yes --skip-preview");
      for (const teamID of ids) {
        await expect(scene.client.readteam({ teamID: teamID ?? "" })).rejects.toMatchObject({ code: "notFound" });
      }
      await scene.isSettled();
    });
  },
);
