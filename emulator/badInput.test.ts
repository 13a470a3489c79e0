import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { endpoints, type EndpointName } from "../provider/contract/endpoints.ts";
import { post, replyOf, seed, signIn, start } from "./testing/platform.ts";

const names = Object.keys(endpoints) as EndpointName[];

describe("whatever comes, the answer is JSON, a 4xx, and nothing changes", () => {
  const bodies: [string, string][] = [
    ["broken JSON", `{"microAppID": `],
    ["no object", `[1, 2]`],
    ["a text", `"microAppID"`],
    ["null", `null`],
    ["an empty object", `{}`],
    [
      "numbers for everything",
      `{"microAppID":1,"rowID":1,"teamID":1,"organizationID":1,"email":1,"appID":1,"childID":1}`,
    ],
    [
      "lists for everything",
      `{"microAppID":[],"rowID":[],"teamIDs":{},"organizationInfo":[],"teamInfo":[],"rowData":[]}`,
    ],
    ["deep JSON", `{"microAppID":${"[".repeat(5000)}${"]".repeat(5000)}}`],
    ["a prototype", `{"__proto__":{"microAppID":"countries"},"constructor":{"prototype":1}}`],
    ["invalid UTF-8", `{"microAppID":"\ud800"`],
  ];

  test.each(bodies)("%s", async (_what, body) => {
    const emulator = await start();
    const { token, userID } = await signIn(emulator.url);
    const headers = { "x-auth-token": token, "x-user-id": userID, "x-api-key": "dev-key" };
    for (const name of names.filter((name) => name !== "logout")) {
      const reply = await post(`${emulator.url}${endpoints[name].path}`, body, headers);
      expect([name, reply.status >= 400 && (reply.status < 500 || reply.status === 501)]).toEqual([name, true]);
    }
    expect(emulator.calls({ mutating: true }).filter(({ status }) => status === 200)).toEqual([]);
    await signIn(emulator.url);
  });

  test("unknown IDs", async () => {
    const { url } = await start();
    const admin = await signIn(url);
    const unknown: [EndpointName, object][] = [
      ["microappdata", { microAppID: "'; DROP TABLE rows; --" }],
      ["insertmicroapprow", { microAppID: "none", rowData: {} }],
      ["insertmicroapprows", { microAppID: "none", rows: [{}] }],
      ["updatemicroapprow", { rowID: "none", rowData: {} }],
      ["removemicroapprow", { rowID: "none" }],
      ["readorganization", { organizationID: "none" }],
      ["updateorganization", { organizationID: "none", organizationInfo: {} }],
      ["deleteorganization", { organizationID: "none" }],
      ["insertteam", { teamInfo: { organizationID: "none", name: "T" } }],
      ["readteam", { teamID: "none" }],
      ["updateteam", { teamID: "none", teamInfo: {} }],
      ["deleteteam", { teamID: "none" }],
      ["insertteammembers", { teamIDs: ["none"], emails: ["a@example.com"] }],
      ["teammembers", { teamIDs: ["none"] }],
      ["readteammember", { teamMemberID: "none" }],
      ["updateteammember", { teamMemberID: "none", role: "admin" }],
      ["deleteteammember", { teamID: "none", userID: "none" }],
      ["enforceteammembership", { teamIDs: ["none"], email: "a@example.com" }],
      ["createappwithpromptStatus", { appID: "none" }],
      ["userid", { email: "none@example.com" }],
    ];
    for (const [name, body] of unknown) {
      const reply = await admin.call(name, body);
      expect([name, reply.status]).toEqual([name, 404]);
    }
  });
});

test("what is no endpoint, method or content type of the platform is refused", async () => {
  const { url } = await start();
  expect((await post(`${url}/api/nothing`, "{}")).body).toEqual({
    status: "failure",
    message: "There is no endpoint /api/nothing",
  });
  const got = await replyOf(await fetch(`${url}/api/microappdata`));
  expect([got.status, got.headers.get("allow"), got.at("status")]).toEqual([405, "POST", "failure"]);
  const { token, userID } = await signIn(url);
  const headers = { "x-auth-token": token, "x-user-id": userID, "content-type": "text/plain" };
  const plain = await post(`${url}/api/readteam`, `{"teamID":"t"}`, headers);
  expect([plain.status, plain.at("message")]).toEqual([400, "Content-Type must be application/json"]);
});

test("a missing parameter is named", async () => {
  const { url } = await start();
  const admin = await signIn(url);
  const message = async (name: EndpointName, body: object) => (await admin.call(name, body)).at("message");
  expect(await message("microappdata", {})).toBe("microAppID is required");
  expect(await message("insertteam", { teamInfo: { name: "T" } })).toBe("teamInfo.organizationID is required");
  expect(await message("readteammember", { teamID: "t" })).toBe(
    "teamMemberID: teamMemberID, or teamID with userID, is required",
  );
});

test("a body that is too large is refused, and a large one taken", async () => {
  const { url } = await start();
  const admin = await signIn(url);
  const wide = Array.from({ length: 500 }, () => ({ Name: "x".repeat(40_000) }));
  expect(await admin.get("inserted", "insertmicroapprows", { microAppID: "countries", rows: wide })).toBe(500);
  const refused = await refusedSize(url);
  expect(refused).toMatch(/^HTTP\/1\.1 413 /);
  await signIn(url);
});

/** Announces more than the emulator takes, and gives what it says. */
function refusedSize(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write("POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n{");
    });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

test("a connection that speaks no HTTP disturbs nobody", async () => {
  const { url } = await start({ seed });
  const { hostname, port } = new URL(url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write("\u0000\u0001 not http\r\n\r\n"));
    socket.resume();
    socket.on("close", () => resolve());
    socket.on("error", () => undefined);
  });
  await signIn(url);
});
