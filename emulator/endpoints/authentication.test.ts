import { describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { post, signIn, start } from "../testing/platform.ts";

describe("login", () => {
  test.each([
    ["wrong password", { email: "ada@example.com", password: "bob" }],
    ["unknown address", { email: "eve@example.com", password: "ada" }],
  ])("refuses a %s", async (_what, body) => {
    const { url } = await start();
    const reply = await post(`${url}/api/login`, JSON.stringify(body));
    expect(reply.status).toBe(401);
    expect(reply.at("status")).toBe("error");
  });

  test("refuses invited users, who have no password", async () => {
    const { url } = await start({ seed: { users: [{ email: "new@example.com" }] } });
    await expect(signIn(url, "new@example.com", "")).rejects.toThrow("can't sign in");
  });
});

describe("sessions", () => {
  test("are in the file: a restart keeps them", async () => {
    const data = `${temporaryFolder()}/platform.db`;
    const before = await start({ data });
    const { token, userID } = await signIn(before.url);
    await before.close();
    const { url } = await start({ data });
    const headers = { "x-auth-token": token, "x-user-id": userID };
    expect((await post(`${url}/api/userid`, `{"email": "ada@example.com"}`, headers)).status).toBe(200);
  });

  test("expire when the platform says so", async () => {
    let now = 1_700_000_000_000;
    const { url } = await start({ now: () => now, seed: { settings: { tokenSeconds: 60 } } });
    const admin = await signIn(url);
    now += 59_999;
    expect((await admin.call("userid", { email: "admin@example.com" })).status).toBe(200);
    now += 1;
    const reply = await admin.call("userid", { email: "admin@example.com" });
    expect([reply.status, reply.at("message")]).toEqual([401, "You must be logged in: the token has expired"]);
  });
});

describe("userid", () => {
  test("is refused where it is not enabled", async () => {
    const { url } = await start({ seed: { settings: { userLookup: false } } });
    expect((await (await signIn(url)).call("userid", { email: "admin@example.com" })).status).toBe(403);
  });
});
