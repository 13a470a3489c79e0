import { expect } from "@jest/globals";
import { appIDIn } from "../../provider/contract/apps.ts";
import type { RequestOf } from "../../provider/contract/endpoints.ts";
import { prove, type TestPlatform } from "../testing/proofs.ts";

type Request = Omit<RequestOf<"sendnotification">, "appID" | "email">;

const email = "bob@example.com";
const refused = { code: "invalidRequest" };

/** An app of Ada's. */
async function app({ ada }: TestPlatform): Promise<string> {
  const { link } = await ada.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "Count sheep" });
  return appIDIn(link) ?? "";
}

/** Sends to Bob; gives the answer, and what is in his inbox and on his devices. */
async function sent(stage: TestPlatform, request: Request) {
  const appID = await app(stage);
  const answer = await stage.ada.call("sendnotification", { appID, email, ...request });
  const { inbox, pushes } = stage.emulator.notifications(email);
  const texts = [inbox, pushes].map((list) => list.map(({ message }) => message));
  return { appID, answer, inbox, pushes, texts };
}

prove("notifications", {
  sendnotification: async (stage) => {
    const { appID, answer } = await sent(stage, { message: "Hi", badgeCount: 2 });
    expect(answer).toEqual({
      ok: true,
      appID,
      email,
      channel: "default",
      hasMessage: true,
      badgeCount: 2,
      notificationCount: 1,
      pushCount: 1,
    });
  },
  "sendnotification appID": async (stage) => {
    const { body = { error: "appID is required" } } = await stage.ada.refused("sendnotification", { email });
    expect(body).toEqual({ error: "appID is required" });
    await sent(stage, {});
  },
  "sendnotification email": async (stage) => {
    const appID = await app(stage);
    const { body = { error: "email is required" } } = await stage.ada.refused("sendnotification", { appID });
    expect(body).toEqual({ error: "email is required" });
    await sent(stage, {});
  },
  "sendnotification message": async (stage) => {
    expect((await sent(stage, { message: "Hi" })).answer.hasMessage).toBe(true);
    expect((await sent(stage, {})).answer.hasMessage).toBe(false);
  },
  "sendnotification badgeCount": async (stage) => {
    const { answer, pushes } = await sent(stage, { badgeCount: 0 });
    expect([answer.badgeCount, pushes[0]?.badgeCount]).toEqual([0, 0]);
    expect((await sent(stage, {})).answer.badgeCount).toBeNull();
  },
  "sendnotification channel": async (stage) => {
    const { appID, answer } = await sent(stage, { channel: "push" });
    expect(answer.channel).toBe("push");
    const wrong = { appID, email, channel: "pigeon" };
    expect(await stage.ada.refused("sendnotification", wrong)).toMatchObject(refused);
  },
  "sendnotification: default": async (stage) => {
    for (const channel of [undefined, "default"] as const) {
      const { answer } = await sent(stage, { message: "Hi", ...(channel ? { channel } : {}) });
      expect([answer.channel, answer.notificationCount, answer.pushCount]).toEqual(["default", 1, 1]);
    }
    const { inbox, pushes } = stage.emulator.notifications(email);
    expect([inbox.length, pushes.length]).toEqual([2, 2]);
  },
  "sendnotification: push": async (stage) => {
    const { answer, texts } = await sent(stage, { message: "Hi", channel: "push" });
    expect(texts).toEqual([[], ["Hi"]]);
    expect([answer.notificationCount, answer.pushCount]).toEqual([0, 1]);
  },
  "sendnotification: inApp": async (stage) => {
    const { answer, texts } = await sent(stage, { message: "Hi", channel: "inApp" });
    expect(texts).toEqual([["Hi"], []]);
    expect([answer.notificationCount, answer.pushCount]).toEqual([1, 0]);
  },
  "sendnotification: badge": async (stage) => {
    const { answer, texts, pushes } = await sent(stage, { channel: "push", badgeCount: 4 });
    expect(texts).toEqual([[], [null]]);
    expect([answer.hasMessage, pushes[0]?.badgeCount]).toEqual([false, 4]);
  },
  "sendnotification: forbidden": async (stage) => {
    const appID = await app(stage);
    const expected = {
      error: "Forbidden",
      message: "Only app admins or authors can send notifications for this app",
    };
    const { code, body = expected } = await stage.bob.refused("sendnotification", { appID, email });
    expect([code, body]).toEqual(["forbidden", expected]);
    expect(stage.emulator.notifications()).toEqual({ inbox: [], pushes: [] });
  },
  "sendnotification: unknown user": async (stage) => {
    const request = { appID: await app(stage), email: "eve@example.com" };
    const error = "User not found for eve@example.com";
    const { said, body = { error } } = await stage.ada.refused("sendnotification", request);
    expect([said, body]).toEqual([error, { error }]);
  },
  "sendnotification: session": async (stage) => {
    await sent(stage, {});
    const response = await fetch(`${stage.emulator.url}/api/sendnotification`, {
      method: "POST",
      headers: { "x-api-key": "dev-key", "content-type": "application/json" },
      body: JSON.stringify({ appID: await app(stage), email }),
    });
    expect(response.status).toBe(401);
  },
});
