import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { Stage } from "../harness/stage.ts";

throughBothKinds({}, (scene) => {
  test("Team: a change of one that is gone says how it is made again", async () => {
    const made = await scene.create("Team", { organizationID: await scene.organization(), name: "Crew" });
    await scene.client.deleteteam({ teamID: made.id });
    const renamed = scene.host.update("Team", made.id, made.outputs, { ...made.inputs, name: "The crew" });
    await expect(renamed).rejects.toThrow(
      "is gone from the platform: run the same command with --refresh, which creates it again",
    );
  });
});

// The number of tries of a deletion depends on time, so its trace is not compared between kinds of provider.
test("a team and an organization go with what they hold, where an engine does not know of that", async () => {
  const stage = await Stage.set();
  const { emulator, host } = stage;
  const acme = await stage.create("Organization", { name: "Acme" });
  const crew = await stage.create("Team", { organizationID: acme.id, name: "Crew" });
  const ada = await stage.create("TeamMember", { teamID: crew.id, email: "ada@example.com" });
  emulator.setFaults({ faults: [{ endpoint: "deleteteammember", kind: "slow", milliseconds: 300 }] });
  const all = { Organization: acme, Team: crew, TeamMember: ada };
  await host.restart(); // nothing of a later run's program was checked
  await Promise.all(Object.entries(all).map(([type, { id, outputs }]) => host.delete(type, id, outputs)));
  expect((await host.read("Organization", acme.id, acme.outputs)).id).toBe("");
  await stage.clear();
});
