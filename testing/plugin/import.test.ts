import { afterEach, beforeEach, describe, expect } from "@jest/globals";
import { drawnFrom, sampleStories } from "../harness/drawn.ts";
import * as testedKinds from "../harness/kinds.ts";
import { Stage } from "../harness/stage.ts";

const tables = { regions: { name: "Regions", fields: { Code: "text" } } };

describe.each(drawnFrom(Object.values(testedKinds), "import"))("with the $name provider an import", (providerKind) => {
  const test = sampleStories();
  let stage: Stage;
  let ids: { organization: string; team: string; ada: string; app: string };

  beforeEach(async () => {
    const users = [{ email: "ada@example.com" }];
    stage = await Stage.set({ tables, users, settings: { generationSeconds: 0 } }, {}, providerKind);
    const { client } = stage;
    const organization = (await client.insertorganization({ organizationInfo: { name: "Acme" } })).organizationID;
    const team = (await client.insertteam({ teamInfo: { organizationID: organization, name: "Crew" } })).teamID;
    await client.insertteammembers({ teamIDs: [team], emails: ["ada@example.com"] });
    const ada = (await client.userid({ email: "ada@example.com" })).userID;
    const { link } = await client.createappwithprompt({ userEmail: "ada@example.com", appPrompt: "An atlas." });
    ids = { organization, team, ada, app: link.split("/").at(-1) ?? "" };
  });
  afterEach(() => stage.clear());

  /** Reads by the ID alone, and finds that declaring what was read changes nothing. */
  const imported = async (type: string, id: string): Promise<{ id: string; inputs: unknown }> => {
    const { host } = stage;
    const found = await host.import(type, id);
    const { inputs, problems } = await host.check(type, found.inputs ?? {}, found.inputs);
    expect(problems).toEqual([]);
    expect(await host.diff(type, found.id, found.outputs, inputs)).toMatchObject({ changes: false });
    return { id: found.id, inputs: found.inputs };
  };

  test("of a notification needs no message until there is something to send", async () => {
    await imported("Notification", `${ids.app}/ada@example.com`);
    const inputs = { appID: ids.app, email: "ada@example.com" };
    const triggered = await stage.host.check("Notification", { ...inputs, triggers: { version: 1 } }, inputs);
    expect(triggered.problems).toEqual(["message: set message, badgeCount or both"]);
  });

  test("of something that is not there finds nothing", async () => {
    for (const type of ["Organization", "Team", "AppReadiness"])
      expect((await stage.host.import(type, "none")).id).toBe("");
    for (const who of ["none", "nobody@example.com"]) {
      expect((await stage.host.import("TeamMember", `${ids.team}/${who}`)).id).toBe("");
    }
  });

  test.each([
    [
      "GeneratedApp",
      () => ids.app,
      /can't be imported by its ID alone.*Import it from a file .* inputs \(userEmail, appPrompt\)/,
    ],
    ["SeedRows", () => "regions/Code", /can't be imported by an ID.*Declare the SeedRows.*"microapps dump"/],
    [
      "TeamMember",
      () => ids.team,
      /is no membership: it has the form <teamID>\/<userID> or <teamID>\/<e-mail address>/,
    ],
  ])("of %s by an ID that does not say enough tells what to do", async (type, id, sentence) => {
    await expect(stage.host.import(type, id())).rejects.toThrow(sentence);
  });
});
