import { expect } from "@jest/globals";
import { appIDIn, finishedAppLink } from "../../provider/contract/apps.ts";
import { prove, type TestPlatform } from "../testing/proofs.ts";

const userEmail = "ada@example.com";
const request = { userEmail, appPrompt: "Count sheep" };
const refused = { code: "invalidRequest" };

const create = async ({ admin }: TestPlatform, more: object = {}) =>
  (await admin.call("createappwithprompt", { ...request, ...more })).link;
const status = async ({ admin }: TestPlatform, appID: string) =>
  (await admin.call("createappwithpromptStatus", { appID })).status;

prove("apps", {
  createappwithprompt: async (stage) => {
    stage.settings.appServer = "https://apps.test";
    expect(await create(stage)).toMatch(/^https:\/\/apps\.test\/workspace\/apps\/\w+$/);
    expect(await create(stage)).not.toBe(await create(stage));
  },
  "createappwithprompt userEmail": async (stage) => {
    const appID = appIDIn(await create(stage)) ?? "";
    await stage.ada.call("createappwithpromptStatus", { appID });
    expect(await stage.bob.refused("createappwithpromptStatus", { appID })).toMatchObject({ code: "forbidden" });
    for (const wrong of [undefined, "nobody"]) {
      const without = { ...request, userEmail: wrong };
      expect(await stage.admin.refused("createappwithprompt", without)).toMatchObject(refused);
    }
  },
  "createappwithprompt appPrompt": async (stage) => {
    await create(stage);
    for (const appPrompt of [undefined, "", 5]) {
      const without = { userEmail, appPrompt };
      expect(await stage.admin.refused("createappwithprompt", without)).toMatchObject(refused);
    }
  },
  "createappwithprompt attachments": async (stage) => {
    for (const attachments of [[], [{ url: "https://files.test/plan.pdf" }]]) await create(stage, { attachments });
    const wrong = { ...request, attachments: "plan.pdf" };
    expect(await stage.admin.refused("createappwithprompt", wrong)).toMatchObject(refused);
  },
  "createappwithprompt: headers": async (stage) => {
    const { authToken, userId } = await stage.admin.call("login", { email: "ada@example.com", password: "ada" });
    const headers = { "x-auth-token": authToken, "x-user-id": userId, "x-api-key": "dev-key" };
    const answered = async (without?: string) => {
      const rest = Object.entries(headers).filter(([name]) => name !== without);
      const url = `${stage.emulator.url}/api/createappwithprompt`;
      const sent = {
        method: "POST",
        headers: { "content-type": "application/json", ...Object.fromEntries(rest) },
        body: JSON.stringify(request),
      };
      return (await fetch(url, sent)).status;
    };
    expect(await answered()).toBe(200);
    for (const name of Object.keys(headers)) expect([name, await answered(name)]).toEqual([name, 401]);
  },
  "createappwithprompt: license": async (stage) => {
    stage.settings.license = false;
    expect(await stage.admin.refused("createappwithprompt", request)).toMatchObject({ code: "forbidden" });
  },
  "createappwithprompt: final link": async (stage) => {
    stage.settings.appServer = "https://apps.test";
    const link = await create(stage);
    expect(finishedAppLink(link)).toBe(`https://apps.test/app/${appIDIn(link) ?? ""}`);
  },
  createappwithpromptStatus: async (stage) => {
    const appID = appIDIn(await create(stage)) ?? "";
    const seen = [await status(stage, appID)];
    for (const milliseconds of [4000, 5000]) {
      stage.emulator.advance(milliseconds);
      seen.push(await status(stage, appID));
    }
    expect(seen).toEqual(["queued", "generating", "completed"]);
  },
  "createappwithpromptStatus appID": async (stage) => {
    await status(stage, appIDIn(await create(stage)) ?? "");
    expect(await stage.admin.refused("createappwithpromptStatus", {})).toMatchObject(refused);
    const unknown = { appID: "none" };
    expect(await stage.admin.refused("createappwithpromptStatus", unknown)).toMatchObject({ code: "notFound" });
  },
});
