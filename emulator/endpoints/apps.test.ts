import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { administrate, seed, signIn, start } from "../testing/platform.ts";

const request = { userEmail: "ada@example.com", appPrompt: "Count sheep", attachments: [] };

test("a generation answers a link and goes on with time, also over a restart", async () => {
  let now = 1_700_000_000_000;
  const options = {
    data: `${temporaryFolder()}/platform.db`,
    now: () => now,
    seed: { ...seed, settings: { generationSeconds: 8, appServer: "https://apps.test/" } },
  };
  const first = await start(options);
  const made = await (await signIn(first.url)).call("createappwithprompt", request);
  const appID = /^https:\/\/apps\.test\/workspace\/apps\/(\w+)$/.exec(String(made.body))?.[1] ?? "";
  await first.close();
  const admin = await signIn((await start(options)).url);
  const seen: unknown[] = [];
  for (let seconds = 0; seconds <= 8; seconds += 2) {
    now = 1_700_000_000_000 + seconds * 1000;
    seen.push(await admin.get("body.status", "createappwithpromptStatus", { appID }));
  }
  expect(seen).toEqual(["queued", "generating", "generating", "generating", "completed"]);
});

test("a generation fails where its prompt says so", async () => {
  const { url } = await start({ seed: { settings: { generationSeconds: 0, failingPrompts: "sheep" } } });
  const admin = await signIn(url);
  const appID = String((await admin.call("createappwithprompt", request)).body)
    .split("/")
    .at(-1);
  expect(await admin.get("body.status", "createappwithpromptStatus", { appID })).toBe("failed");
});

test("a generation takes the key alone where the platform is set so", async () => {
  const { url } = await start({ settings: { keyAlone: true } });
  const admin = await signIn(url);
  const without = { "x-auth-token": "", "x-user-id": "" };
  const made = await admin.call("createappwithprompt", request, without);
  expect(made.status).toBe(200);
  const appID = String(made.body).split("/").at(-1);
  expect((await admin.call("createappwithpromptStatus", { appID }, without)).status).toBe(200);
  const refused: Record<string, string>[] = [
    { ...without, "x-api-key": "" },
    { ...without, "x-api-key": "other" },
    { "x-auth-token": "other" },
    { "x-api-key": "" },
  ];
  for (const headers of refused) {
    expect((await admin.call("createappwithprompt", request, headers)).status).toBe(401);
  }
  expect((await admin.call("readteam", { teamID: "t" }, without)).status).toBe(401);
});

test("the clock is put forward over the admin interface", async () => {
  const emulator = await start({ now: () => 1_700_000_000_000 });
  const admin = await signIn(emulator.url);
  const appID = String((await admin.call("createappwithprompt", request)).body)
    .split("/")
    .at(-1);
  expect(await admin.get("body.status", "createappwithpromptStatus", { appID })).toBe("queued");
  expect((await administrate(emulator, "clock?advance=1500", { method: "POST" })).status).toBe(200);
  expect(await admin.get("body.status", "createappwithpromptStatus", { appID })).toBe("completed");
  expect((await administrate(emulator, "clock?advance=-1", { method: "POST" })).status).toBe(400);
});
