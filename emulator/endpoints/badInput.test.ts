import { describe, expect, test } from "@jest/globals";
import { connect } from "node:net";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { testInLong } from "../../testing/harness/drawn.ts";
import { post, replyOf, seed, signIn, start } from "../testing/platform.ts";

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
});

describe("each endpoint, in the midst of a platform with contents", () => {
  /** A platform, and what holds of it after each call. */
  async function platform() {
    const emulator = await start();
    const admin = await signIn(emulator.url);
    await admin.get("", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
    await admin.get("", "insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
    await admin.get("", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ", Population: 1 } });
    emulator.saveSnapshot("before");
    const headers = { "x-auth-token": admin.token, "x-user-id": admin.userID, "x-api-key": "dev-key" };
    const refused = async (name: EndpointName, body: string, more: Record<string, string> = {}, status = /^4|^501/) => {
      const reply = await post(`${emulator.url}${endpoints[name].path}`, body, { ...headers, ...more });
      expect([name, String(reply.status)]).toEqual([name, expect.stringMatching(status)]);
      expect([name, JSON.stringify(reply.body)]).toEqual([name, expect.stringMatching(/"(message|error|errors)":/)]);
    };
    const unchanged = async () => {
      expect(emulator.differences("before")).toEqual([]);
      await signIn(emulator.url);
    };
    return { emulator, admin, refused, unchanged };
  }
  const all = JSON.stringify({
    ...{ microAppID: "countries", rowID: "r", rowData: {}, rows: [{}], teamIDs: ["crew"], teamID: "crew" },
    ...{ organizationID: "acme", organizationInfo: { name: "N" }, teamInfo: { organizationID: "acme", name: "N" } },
    ...{ email: "ada@example.com", emails: ["ada@example.com"], userID: "u", appID: "a", role: "admin" },
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"])(
    "a body that calls itself %s",
    async (type) => {
      const { refused, unchanged } = await platform();
      for (const name of names) await refused(name, all, { "content-type": type }, /^4/);
      await unchanged();
    },
  );

  test("the token of another instance, or one that was made up", async () => {
    const { emulator, admin, refused, unchanged } = await platform();
    const foreign = await signIn((await emulator.instance()).url);
    const none = { "x-auth-token": "", "x-user-id": "", "x-api-key": "" };
    const others: Record<string, string>[] = [
      { "x-auth-token": foreign.token, "x-user-id": foreign.userID },
      { "x-auth-token": foreign.token },
      { "x-auth-token": "' OR 1=1 --", "x-user-id": admin.userID },
      none,
    ];
    for (const headers of others) {
      for (const name of names.filter((name) => name !== "login")) {
        await refused(name, all, { "x-api-key": "", ...headers }, /^40[013]/);
      }
    }
    await unchanged();
  });

  test("50 MB, which all endpoints have one reader for, and 1 MB for each", async () => {
    const { refused, unchanged } = await platform();
    const body = (size: number): string => `{"filling":"${"x".repeat(size)}"}`;
    await refused("insertmicroapprows", body(50_000_000));
    for (const name of names.filter((name) => name !== "logout")) await refused(name, body(1_000_000));
    await unchanged();
  });

  test("operators that run code, labels of prototypes, SQL, and rows without end or beginning", async () => {
    const { admin, refused, unchanged } = await platform();
    const read = (filter: string) => `{"microAppID":"countries","optViewFilters":[${filter}]}`;
    const filters = [
      '{"$where":"sleep(1)"}',
      '{"Code":{"$where":"1"}}',
      '{"Code":{"$function":{"body":"1"}}}',
      '{"$expr":{"$eq":[1,1]}}',
      '{"Code":{"$regex":"("}}',
      '{"$or":{"Code":1}}',
    ];
    for (const filter of filters) await refused("microappdata", read(filter), {}, /^400/);
    for (const query of ['"optViewFilters":{"Code":"CZ"}', '"searchFilter":[{"skip":"many"}]'])
      await refused("microappdata", `{"microAppID":"countries",${query}}`, {}, /^400/);
    const rows = (count: number) =>
      JSON.stringify({ microAppID: "countries", rows: Array.from({ length: count }, () => ({})) });
    await refused("insertmicroapprows", rows(0), {}, /^400/);
    await refused("insertmicroapprows", rows(10_001), {}, /^4(00|13)/);
    // These are conditions on fields that no row has: they find nothing, and do nothing.
    const harmless = [
      '{"__proto__":{"Code":"CZ"}}',
      '{"constructor":1}',
      `{"Code'; DROP TABLE rows; --":1}`,
      '{"Code\\"":1}',
    ];
    for (const filter of harmless) {
      const reply = await admin.call("microappdata", JSON.parse(read(filter)));
      expect([filter, reply.status === 400 || reply.at("body.microAppRows")]).toEqual([filter, expect.anything()]);
    }
    await unchanged();
    // A label that no table has is dropped, however it is called.
    const rowData = '{"Code":"SK","__proto__":{"isLocked":true},"constructor":1,"x\\") --":1}';
    const inserted = await admin.call("insertmicroapprow", {
      microAppID: "countries",
      rowData: JSON.parse(rowData) as unknown,
    });
    const found = await admin.get("body.microAppRows", "microappdata", {
      microAppID: "countries",
      optViewFilters: [{ _id: inserted.at("rowID") }],
    });
    expect(found).toMatchObject([{ Code: "SK", isLocked: false }]);
    expect(Object.keys((found as object[])[0] ?? {})).not.toContain("constructor");
    expect(({} as { isLocked?: unknown }).isLocked).toBeUndefined();
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

testInLong("a client that writes all of a body before it reads learns that it is too large", async () => {
  const { url } = await start();
  for (const length of [70_000_000, undefined]) expect(await writtenFirst(url, length)).toMatch(/^HTTP\/1\.1 413 /);
  await signIn(url);
});

/** Writes 70 MB, in chunks where no length is announced, and only then reads. */
function writtenFirst(url: string, length: number | undefined): Promise<string> {
  const { hostname, port } = new URL(url);
  const announced = length === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const million = "x".repeat(1_000_000);
  const part = length === undefined ? `f4240\r\n${million}\r\n` : million;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.pause();
      socket.write(`POST /api/login HTTP/1.1\r\nHost: localhost\r\n${announced}\r\n\r\n`);
      for (let count = 0; count < 70; count++) socket.write(part);
      socket.write(length === undefined ? "0\r\n\r\n" : "", () => socket.resume());
    });
    socket.on("data", (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("a target that is no path is refused", async () => {
  const { url } = await start();
  const { hostname, port } = new URL(url);
  const answered = (target: string) =>
    new Promise<string>((resolve, reject) => {
      let text = "";
      const socket = connect(Number(port), hostname, () =>
        socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
      );
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
  for (const target of ["*", "a", "http://[", "http://"]) {
    expect([target, await answered(target)]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 400 /)]);
  }
  for (const target of ["//evil.example/api/login", "/\\", "/%", "/instances/%/", "/files/%2e%2e/%", "/..//"]) {
    expect([target, await answered(target)]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 4/)]);
  }
});

test.each([
  [
    "bytes that are no UTF-8",
    Buffer.from('{"microAppID":"countries","rowData":{"Code":"\xff"}}', "latin1"),
    /not valid UTF-8/,
  ],
  ["one below all", '{"microAppID":"countries","rowData":{"Population":[-1e309]}}', /must be a number/],
])("%s would be kept as something else", async (_what, body, message) => {
  const { url } = await start();
  const admin = await signIn(url);
  const headers = { "content-type": "application/json", "x-auth-token": admin.token, "x-user-id": admin.userID };
  const reply = await replyOf(await fetch(`${url}/api/insertmicroapprow`, { method: "POST", headers, body }));
  expect([reply.status, reply.at("message")]).toEqual([400, expect.stringMatching(message)]);
});

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
