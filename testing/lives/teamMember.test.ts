import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

throughBothKinds({}, (scene) => {
  test("TeamMember: who was a member already gets the declared role, which is said, and leaves with the declaration", async () => {
    const teamID = await scene.team(await scene.organization());
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    await scene.client.insertteammembers({ teamIDs: [teamID], userIDs: [userID] });
    await scene.client.updateteammember({ teamID, userID, role: "admin" });
    const made = await scene.create("TeamMember", { teamID, userID, role: "member" });
    expect(scene.host.told).toContain(`info: ${userID} was a member of the team already and is managed from now on`);
    expect((await scene.client.readteammember({ teamID, userID })).teamMember?.role).toBe("member");
    await scene.host.destroy("TeamMember", made.id, made.outputs);
    expect((await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers).toHaveLength(1);
    const { problems } = await scene.host.check("TeamMember", { teamID, userID, adopt: true });
    expect(problems).toEqual([expect.stringContaining("adopt: is gone: whoever is declared is owned")]);
  });

  test("TeamMember: of two who are added at once each gets the invitation that is declared for them", async () => {
    const { host, emulator } = scene;
    const teamID = await scene.team();
    const declared = { ada: "go", grace: undefined };
    const invited = Object.entries(declared).map(async ([name, targetRoute]) => {
      const { inputs } = await host.as(name).check("TeamMember", { teamID, email: `${name}@example.com`, targetRoute });
      return { name, inputs };
    });
    const added = [];
    for (const { name, inputs } of await Promise.all(invited)) added.push(host.as(name).create("TeamMember", inputs));
    await Promise.all(added);
    const sent = emulator.calls({ endpoint: "insertteammembers" }).map(({ request }) => request);
    expect(sent.map(({ emails, targetRoute }) => [emails, targetRoute]).toSorted()).toEqual([
      [["ada@example.com"], "go"],
      [["grace@example.com"], undefined],
    ]);
  });

  test("TeamMember: a team that is gone is told by its ID, and takes the member along", async () => {
    const teamID = await scene.team(await scene.organization());
    const made = await scene.create("TeamMember", { teamID, email: "ada@example.com" });
    await scene.client.deleteteammember({ teamID, userID: made.id.split("/")[1] ?? "" });
    await scene.client.deleteteam({ teamID });
    await scene.host.destroy("TeamMember", made.id, made.outputs);
    expect((await scene.host.read("TeamMember", made.id, made.outputs)).id).toBe("");
    await expect(scene.create("TeamMember", { teamID, email: "ada@example.com" })).rejects.toThrow(teamID);
  });

  test("TeamMember: who is gone already is asked to leave by no call, and nobody is where the list can't be read", async () => {
    const { client, emulator, host } = scene;
    const teamID = await scene.team(await scene.organization());
    const made = await scene.create("TeamMember", { teamID, email: "ada@example.com" });
    const userID = made.id.split("/")[1] ?? "";
    await client.deleteteammember({ teamID, userID });
    const leave = () => scene.calls(() => host.destroy("TeamMember", made.id, made.outputs));
    await host.restart(); // a run reads a list once
    expect(await leave()).toEqual([]);
    await host.restart();
    emulator.setFaults({ faults: [{ endpoint: "teammembers", kind: "status", status: 403, count: 1 }] });
    expect(await scene.calls(() => expect(leave()).rejects.toThrow("teammembers"))).toEqual([]);
  });

  test("TeamMember: nobody is refused; who is refused by the platform is reported, and sent again by the next run", async () => {
    const teamID = await scene.team();
    expect((await scene.host.check("TeamMember", { teamID })).problems).toEqual(["email: set email or userID"]);
    scene.emulator.setFaults({ faults: [{ endpoint: "insertteammembers", kind: "status", status: 403, count: 1 }] });
    const news = { teamID, email: "ada@example.com" };
    await expect(scene.create("TeamMember", news)).rejects.toThrow("insertteammembers");
    await scene.create("TeamMember", news);
  });
});
