import { expect } from "@jest/globals";
import { request } from "node:http";
import { prove, rowsOf, type TestPlatform } from "../testing/proofs.ts";

const email = "ada@example.com";
const ada = { email, password: "ada" };
const json = { "content-type": "application/json" };

const login = ({ admin }: TestPlatform) => admin.call("login", ada);

/** Reads a team that is not there with the given headers; 404 tells that they were taken. */
async function statusWith({ emulator }: TestPlatform, headers: Record<string, string>): Promise<number> {
  const body = JSON.stringify({ teamID: "none" });
  return (await fetch(`${emulator.url}/api/readteam`, { method: "POST", body, headers: { ...json, ...headers } }))
    .status;
}

/** GET with a body, which `fetch` does not send. */
function got(url: string, headers: Record<string, string>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "GET", headers: { ...headers, "content-length": body.length } }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

prove("sessions", {
  login: async (stage) => {
    expect(await login(stage)).toEqual({ authToken: expect.any(String), userId: "ada" });
    expect((await login(stage)).authToken).not.toBe((await login(stage)).authToken);
  },
  "login email": async (stage) => {
    await login(stage);
    expect(await stage.admin.refused("login", { password: "ada" })).toMatchObject({ code: "invalidRequest" });
    const unknown = { email: "eve@example.com", password: "ada" };
    expect(await stage.admin.refused("login", unknown)).toMatchObject({ code: "unauthorized" });
  },
  "login password": async (stage) => {
    await login(stage);
    expect(await stage.admin.refused("login", { email })).toMatchObject({ code: "invalidRequest" });
    expect(await stage.admin.refused("login", { email, password: "bob" })).toMatchObject({ code: "unauthorized" });
  },
  "login: headers": async (stage) => {
    const { authToken, userId } = await login(stage);
    const [token, user] = [{ "X-Auth-Token": authToken }, { "X-User-Id": userId }];
    expect(await statusWith(stage, { ...token, ...user })).toBe(404);
    expect([await statusWith(stage, token), await statusWith(stage, user)]).toEqual([401, 401]);
  },
  logout: async (stage) => {
    const { authToken, userId } = await login(stage);
    const guest = stage.enter(ada);
    await guest.call("userid", { email });
    await guest.call("logout", {});
    expect(await statusWith(stage, { "x-auth-token": authToken, "x-user-id": userId })).toBe(404);
    const after = await fetch(`${stage.emulator.url}/api/logout`, {
      method: "POST",
      headers: { "x-auth-token": authToken, "x-user-id": userId },
    });
    expect(after.status).toBe(200);
    expect(await statusWith(stage, { "x-auth-token": authToken, "x-user-id": userId })).toBe(401);
  },
  "logout authToken": async (stage) => {
    const session = await login(stage);
    const end = async (body: object) =>
      (await fetch(`${stage.emulator.url}/api/logout`, { method: "POST", headers: json, body: JSON.stringify(body) }))
        .status;
    expect(await end({ userId: session.userId })).toBe(401);
    expect(await end(session)).toBe(200);
    expect(await end(session)).toBe(401);
  },
  "logout userId": async (stage) => {
    const { authToken, userId } = await login(stage);
    const end = async (userId?: string) => {
      const body = JSON.stringify({ authToken, userId });
      return (await fetch(`${stage.emulator.url}/api/logout`, { method: "POST", headers: json, body })).status;
    };
    expect([await end(), await end("bob"), await end(userId)]).toEqual([401, 401, 200]);
  },
  userid: async ({ admin }) => {
    expect(await admin.call("userid", { email })).toEqual({ userID: "ada" });
    expect(await admin.refused("userid", { email: "eve@example.com" })).toMatchObject({
      code: "notFound",
      said: "User not found for eve@example.com",
    });
  },
  "userid email": async (stage) => {
    const { admin, emulator } = stage;
    await admin.call("userid", { email });
    expect(await admin.refused("userid", {})).toMatchObject({ code: "invalidRequest" });
    const { authToken, userId } = await login(stage);
    const headers = { "x-auth-token": authToken, "x-user-id": userId, ...json };
    const found = await got(`${emulator.url}/api/userid`, headers, JSON.stringify({ email }));
    expect(JSON.parse(found)).toMatchObject({ body: { status: "success", userID: "ada" } });
  },
  "userid: enabled": async ({ admin, settings }) => {
    settings.userLookup = false;
    expect(await admin.refused("userid", { email })).toMatchObject({ code: "forbidden" });
  },
  "userid: authorized": async (stage) => {
    const { admin, emulator } = stage;
    await admin.call("userid", { email });
    expect((await fetch(`${emulator.url}/api/userid?email=${email}`)).status).toBe(401);
    expect(await rowsOf(stage)).toEqual([]); // the refusal is not the session's
  },
});
