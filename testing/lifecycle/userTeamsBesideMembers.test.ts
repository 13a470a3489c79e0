import { expect, test } from "@jest/globals";
import { testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";
import { eventually } from "../harness/processes.ts";

const ada = "ada@example.com";

throughBothKinds({}, (scene) => {
  const names = async (teamID: string): Promise<(string | undefined)[]> =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.map(({ email }) => email);

  /** Ada in two teams by UserTeams, and in the second one by a TeamMember as well. */
  const both = async (scoped: boolean) => {
    const { host } = scene;
    const organizationID = await scene.organization();
    const [red, green] = [await scene.team(organizationID, "Red"), await scene.team(organizationID, "Green")];
    host.resource = "ada";
    const member = await scene.create("TeamMember", { teamID: green, email: ada });
    host.resource = "teams";
    const scope = scoped ? { organizationID } : {};
    const teams = await scene.create("UserTeams", { email: ada, teamIDs: [red, green], ...scope });
    await host.restart();
    return { red, green, member, teams, fewer: { email: ada, teamIDs: [red], ...scope } };
  };

  test.each([false, true])(
    "UserTeams that drop a team leave the user in it where a TeamMember declares that (in one organization: %s)",
    async (scoped) => {
      const { host } = scene;
      const { green, member, teams, fewer } = await both(scoped);
      host.resource = "ada";
      const { inputs: same } = await host.check("TeamMember", member.inputs, member.inputs);
      expect(await host.diff("TeamMember", member.id, member.outputs, same)).toMatchObject({ changes: false });
      host.resource = "teams";
      const { inputs } = await host.check("UserTeams", fewer, teams.inputs);
      expect(await scene.calls(() => host.update("UserTeams", teams.id, teams.outputs, inputs))).toEqual([
        "enforceteammembership",
      ]);
      expect(host.told.at(-1)).toBe(`info: ${ada} stays a member of team ${green}: TeamMember "ada" declares that`);
      expect(await names(green)).toContain(ada);
    },
  );

  test("a TeamMember that is checked after the update puts the user back, and its preview says so", async () => {
    const { host } = scene;
    const { green, member, teams, fewer } = await both(false);
    host.resource = "teams";
    const { inputs } = await host.check("UserTeams", fewer, teams.inputs);
    await host.update("UserTeams", teams.id, teams.outputs, inputs);
    host.resource = "ada";
    const { inputs: same } = await host.check("TeamMember", member.inputs, member.inputs);
    expect(await host.diff("TeamMember", member.id, member.outputs, same)).toMatchObject({
      changes: true,
      replaces: [],
    });
    expect(host.told.at(-1)).toContain('UserTeams "teams" takes');
    await host.update("TeamMember", member.id, member.outputs, same);
    expect(await names(green)).toContain(ada);
  });

  testInOwnProcess.each(["of the same provider", "of another provider"])(
    "a TeamMember %s that is made while UserTeams take the user out of the team is there afterwards",
    async (whose) => {
      const { host, emulator } = scene;
      const { green, teams, fewer } = await both(false);
      const maker = whose === "of another provider" ? await host.beside() : host;
      emulator.setFaults({
        faults: [{ kind: "slow", endpoint: "enforceteammembership", milliseconds: 1_000, count: 1 }],
      });
      host.resource = "teams";
      const { inputs } = await host.check("UserTeams", fewer, teams.inputs);
      const taking = host.update("UserTeams", teams.id, teams.outputs, inputs);
      await eventually("a call", () => emulator.faults().some(({ hit }) => hit > 0));
      maker.resource = "ada-again";
      const member = await maker.check("TeamMember", { teamID: green, email: ada });
      await maker.create("TeamMember", member.inputs);
      await taking;
      expect(await names(green)).toContain(ada);
    },
  );

  testInOwnProcess(
    "UserTeams that take a user out of a team into which another provider is putting them leave them there",
    async () => {
      const { host, emulator } = scene;
      const organizationID = await scene.organization();
      const [red, green] = [await scene.team(organizationID, "Red"), await scene.team(organizationID, "Green")];
      const maker = await host.beside();
      const slow = { kind: "slow", count: 1 } as const;
      emulator.setFaults({
        faults: [
          { ...slow, endpoint: "insertteammembers", milliseconds: 500 },
          { ...slow, endpoint: "enforceteammembership", milliseconds: 1_000 },
        ],
      });
      maker.resource = "ada";
      const member = await maker.check("TeamMember", { teamID: green, email: ada });
      const joining = maker.create("TeamMember", member.inputs);
      await eventually("a call", () => emulator.faults().some(({ hit }) => hit > 0));
      host.resource = "teams";
      await scene.create("UserTeams", { email: ada, teamIDs: [red] });
      await joining;
      expect(await names(green)).toContain(ada);
      expect(await names(red)).toContain(ada);
    },
  );

  test("UserTeams whose platform does not keep to an organization name the teams elsewhere that the user lost", async () => {
    const { host, emulator } = scene;
    const organizationID = await scene.organization();
    const red = await scene.team(organizationID, "Red");
    const elsewhere = await scene.team(await scene.organization("Elsewhere"), "Green");
    host.resource = "ada";
    await scene.create("TeamMember", { teamID: elsewhere, email: ada });
    host.resource = "teams";
    const create = () => scene.create("UserTeams", { email: ada, teamIDs: [red], organizationID });
    const names = { organizationID: "orgID" };
    emulator.setFaults({ faults: [{ kind: "otherRequests", endpoint: "enforceteammembership", names }] });
    await expect(create()).rejects.toThrow(
      `taken out of teams of other organizations as well: ${elsewhere}. This platform`,
    );
    emulator.setFaults();
    await scene.client.insertteammembers({ teamIDs: [elsewhere], emails: [ada] });
    await create();
  });

  test("an authoritative roster leaves whom UserTeams of the run put into the team", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    host.resource = "teams";
    await scene.create("UserTeams", { email: ada, teamIDs: [teamID] });
    host.resource = "roster";
    await scene.create("TeamRoster", { teamID, members: { "grace@example.com": "member" }, adopt: true });
    expect(await names(teamID)).toEqual(["admin@example.com", ada, "grace@example.com"]);
  });
});
