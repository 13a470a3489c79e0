import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { here } from "../harness/inProcessPlugin.ts";
import { Stage } from "../harness/stage.ts";

// Imports that no life has; the table of lives imports each resource by its ID.

let stage: Stage;
let ids: { team: string; app: string };
beforeAll(async () => {
  stage = await Stage.set({ settings: { generationSeconds: 0 } }, {}, here);
  const { client } = stage;
  const { link } = await client.createappwithprompt({ userEmail: "ada@example.com", appPrompt: "An atlas." });
  ids = { team: await stage.team(), app: link.split("/").at(-1) ?? "" };
});
afterAll(() => stage.clear());

test("a notification needs no message until there is something to send", async () => {
  const { host } = stage;
  const found = await host.import("Notification", `${ids.app}/ada@example.com`);
  const { inputs, problems } = await host.check("Notification", found.inputs ?? {}, found.inputs);
  expect(problems).toEqual([]);
  expect(await host.diff("Notification", found.id, found.outputs, inputs)).toMatchObject({ changes: false });
  const declared = { appID: ids.app, email: "ada@example.com" };
  const triggered = await host.check("Notification", { ...declared, triggers: { version: 1 } }, declared);
  expect(triggered.problems).toEqual(["message: set message, badgeCount or both"]);
});

test.each([
  ["Organization", "none"],
  ["Team", "none"],
  ["AppReadiness", "none"],
  ["TeamMember", "<team>/none"],
  ["TeamMember", "<team>/nobody@example.com"],
])("of a %s that is not there (%s) nothing is found", async (type, id) => {
  expect((await stage.host.import(type, id.replace("<team>", ids.team))).id).toBe("");
});

test.each([
  [
    "GeneratedApp",
    "<app>",
    /can't be imported by its ID alone.*Import it from a file .* inputs \(userEmail, appPrompt\)/,
  ],
  ["SeedRows", "regions/Code", /can't be imported by an ID.*Declare the SeedRows.*"microapps dump"/],
  ["TeamMember", "<team>", /is not a membership's ID, which has the form <teamID>/],
])("a %s by an ID that does not say enough (%s) tells what to do", async (type, id, sentence) => {
  const own = id.replace("<team>", ids.team).replace("<app>", ids.app);
  await expect(stage.host.import(type, own)).rejects.toThrow(sentence);
});
