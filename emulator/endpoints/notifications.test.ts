import { expect, test } from "@jest/globals";
import { administrate, signIn, start } from "../testing/platform.ts";

interface Answer {
  channel: string;
  hasMessage: boolean;
  badgeCount: number | null;
  notificationCount: number;
  pushCount: number;
}

async function platform() {
  const emulator = await start();
  const admin = await signIn(emulator.url);
  const ada = await signIn(emulator.url, "ada@example.com", "ada");
  const link = await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "Count sheep" });
  return { emulator, admin, ada, appID: String(link.body).split("/").at(-1) ?? "" };
}

test.each<[{ message?: string; channel?: string; badgeCount?: number }, Answer]>([
  [{ message: "Hi" }, { channel: "default", hasMessage: true, badgeCount: null, notificationCount: 1, pushCount: 1 }],
  [
    { message: "Hi", channel: "default", badgeCount: 3 },
    { channel: "default", hasMessage: true, badgeCount: 3, notificationCount: 1, pushCount: 1 },
  ],
  [
    { message: "Hi", channel: "push" },
    { channel: "push", hasMessage: true, badgeCount: null, notificationCount: 0, pushCount: 1 },
  ],
  [
    { message: "Hi", channel: "inApp" },
    { channel: "inApp", hasMessage: true, badgeCount: null, notificationCount: 1, pushCount: 0 },
  ],
  [
    { channel: "push", badgeCount: 0 },
    { channel: "push", hasMessage: false, badgeCount: 0, notificationCount: 0, pushCount: 1 },
  ],
])("%j is delivered", async (request, answer) => {
  const { emulator, ada, appID } = await platform();
  const email = "bob@example.com";
  const reply = await ada.call("sendnotification", { appID, email, ...request });
  expect(reply.body).toEqual({ ok: true, appID, email, ...answer });
  const { inbox, pushes } = emulator.notifications(email);
  expect([inbox.length, pushes.length]).toEqual([answer.notificationCount, answer.pushCount]);
  for (const { message, badgeCount, senderID } of [...inbox, ...pushes]) {
    expect([message, badgeCount, senderID]).toEqual([request.message ?? null, answer.badgeCount, ada.userID]);
  }
  expect(emulator.notifications("ada@example.com")).toEqual({ inbox: [], pushes: [] });
  const served = await (await administrate(emulator, `notifications?email=${email}`)).json();
  expect(served).toEqual(emulator.notifications());
});

test("the four documented errors, to the letter", async () => {
  const { emulator, admin, appID } = await platform();
  const bob = await signIn(emulator.url, "bob@example.com", "bob");
  const email = "ada@example.com";
  expect((await admin.call("sendnotification", { email })).body).toEqual({ error: "appID is required" });
  expect((await admin.call("sendnotification", { appID })).body).toEqual({ error: "email is required" });
  expect((await bob.call("sendnotification", { appID, email })).body).toEqual({
    error: "Forbidden",
    message: "Only app admins or authors can send notifications for this app",
  });
  expect((await admin.call("sendnotification", { appID, email: "eve@example.com" })).body).toEqual({
    error: "User not found for eve@example.com",
  });
  // An empty value counts as missing, and a text that is not an address belongs to nobody.
  const error = async (request: object) => (await admin.call("sendnotification", request)).body;
  expect(await error({ appID: "", email })).toEqual({ error: "appID is required" });
  expect(await error({ appID, email: "" })).toEqual({ error: "email is required" });
  expect(await error({ appID, email: "eve" })).toEqual({ error: "User not found for eve" });
  expect((await admin.call("sendnotification", { appID: "none", email })).status).toBe(403);
  const keyAlone = await admin.call("sendnotification", { appID, email }, { "x-auth-token": "" });
  expect(keyAlone.status).toBe(401);
  expect(emulator.notifications()).toEqual({ inbox: [], pushes: [] });
});
