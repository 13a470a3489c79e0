import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EndpointName } from "../../platform/contract/endpoints.ts";
import { casesIn } from "../../testing/harness/cases.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { readCalls } from "../index.ts";
import { administrate, post, replyOf, seed, signIn, start } from "../testing/platform.ts";
import { answerText } from "./callLog.ts";

test("every call is logged with who, what and how it ended", async () => {
  const data = join(temporaryFolder(), "platform.db");
  const emulator = await start({ data, now: () => 1_700_000_000_000 });
  const admin = await signIn(emulator.url);
  const since = emulator.lastCall();
  await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  await admin.call("microappdata", { microAppID: "none" });
  await post(`${emulator.url}/api/readteam`, `{"teamID": "t"}`);
  await admin.call("insertmicroapprows", {
    microAppID: "countries",
    rows: Array.from({ length: 500 }, () => ({ Code: "X" })),
  });
  const duration: unknown = expect.any(Number);
  const session: unknown = expect.stringMatching(/^[\w-]{12}$/);
  const common = {
    time: 1_700_000_000_000,
    fault: null,
    failure: null,
    userID: admin.userID,
    session,
    duration,
    remark: null,
    headers: expect.objectContaining({ "x-auth-token": "***", "user-agent": "node" }) as unknown,
    answer: expect.objectContaining({ status: "success" }) as unknown,
  };
  const refused = expect.objectContaining({ status: "error" }) as unknown;
  const [inserted, read] = [
    { effect: "create", mutating: true, status: 200 },
    { effect: "read", mutating: false },
  ];
  const none = { status: "failure", message: "Data table not found: none" };
  const unknown = {
    userID: null,
    session: null,
    headers: expect.not.objectContaining({ "x-auth-token": "***" }) as unknown,
  };
  const many = { rows: "(500 items)", bytes: expect.any(Number) as unknown, sha256: expect.any(String) as unknown };
  const table = { microAppID: "countries" };
  const calls = [
    { ...inserted, endpoint: "insertmicroapprow", request: { ...table, rowData: { Code: "CZ" } } },
    {
      ...read,
      endpoint: "microappdata",
      status: 404,
      failure: none.message,
      answer: none,
      request: { microAppID: "none" },
    },
    {
      ...{ ...read, ...unknown, endpoint: "readteam", status: 401, answer: refused, request: { teamID: "t" } },
      failure: "You must be logged in: X-Auth-Token and X-User-Id are required",
    },
    { ...inserted, endpoint: "insertmicroapprows", request: { ...table, ...many } },
  ].map((call, at) => ({ ...common, sequence: since + 1 + at, ...call }));
  expect(emulator.calls({ since })).toEqual(calls);
  expect(emulator.calls({ mutating: true })).toEqual([calls[0], calls[3]]);
  expect(readCalls(data, { since, mutating: false })).toEqual([calls[1], calls[2]]);
  const asked = await administrate(emulator, `calls?since=${since}&mutating=true&endpoint=insertmicroapprow`);
  expect((await replyOf(asked)).body).toEqual({
    calls: [{ ...calls[0], email: "admin@example.com" }],
    last: since + 4,
  });
  await emulator.close();
  expect(readCalls(data, { since })).toEqual(calls);
});

test("what a platform ignores is remarked in the log, with the word that was meant", async () => {
  const emulator = await start();
  const admin = await signIn(emulator.url);
  await admin.get("status", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  await admin.get("status", "insertteam", { teamInfo: { organizationID: "acme", _id: "crew", name: "Crew" } });
  const { cases } = casesIn("emulator/data/testdata/remarks.yaml") as {
    cases: [EndpointName, object, string | null][];
  };
  const since = emulator.lastCall();
  for (const [name, body] of cases) expect([body, (await admin.call(name, body)).status]).toEqual([body, 200]);
  expect(emulator.calls({ since }).map((call) => call.remark)).toEqual(cases.map(([, , remark]) => remark));
});

test("no password, token or key is in the data file", async () => {
  const data = join(temporaryFolder(), "platform.db");
  const secrets = { password: "correct-horse-battery", apiKey: "staple-key-0123456789" };
  const emulator = await start({ data, seed: { ...seed, administrator: { email: "root@example.com", ...secrets } } });
  const root = await signIn(emulator.url, "root@example.com", secrets.password);
  await root.call("logout", { authToken: root.token, userId: root.userID });
  await post(
    `${emulator.url}/api/login`,
    JSON.stringify({ email: "root@example.com", password: `${secrets.password}!` }),
  );
  await emulator.close();
  const bytes = readFileSync(data, "latin1");
  for (const secret of [...Object.values(secrets), root.token]) expect(bytes).not.toContain(secret);
});

test("another user of the machine, who has no token, is told where it is and gets nothing", async () => {
  const emulator = await start();
  const instance = await emulator.instance();
  const other = await start();
  expect(other.token).not.toBe(emulator.token);
  for (const authorization of ["", "Bearer ", "Bearer undefined", `Bearer ${other.token}`, emulator.token]) {
    for (const [path, method] of [
      ["_emulator/users", "GET"],
      ["_emulator/reset", "POST"],
      ["_emulator/none", "GET"],
      [`instances/${instance.name}/_emulator/rows?table=countries`, "GET"],
    ]) {
      const reply = await replyOf(
        await fetch(`${emulator.url}/${path}`, { method: method ?? "", headers: { authorization } }),
      );
      expect([path, reply.status]).toEqual([path, 403]);
      expect(reply.at("message")).toMatch(/its token: it stands in the console's address, which the emulator printed/);
    }
  }
  expect(emulator.console).toBe(`${emulator.url}/#token=${emulator.token}`);
  expect((await administrate({ url: instance.url, token: emulator.token }, "users")).status).toBe(200);
});

test("an answer is logged without secrets, with lengths of long lists and the beginning of long texts", () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ n }));
  const answer = {
    authToken: "secret-1",
    data: { authToken: "secret-2" },
    body: { rows, few: [1], text: "x".repeat(999) },
  };
  expect(JSON.parse(answerText(answer))).toEqual({
    authToken: "***",
    data: { authToken: "***" },
    body: { rows: "(10000 items)", few: [1], text: `${"x".repeat(200)}…` },
  });
  const wide = Object.fromEntries(rows.slice(0, 900).map(({ n }) => [`label ${n}`, "value"]));
  expect(JSON.parse(answerText(wide))).toEqual({ bytes: expect.any(Number) as unknown });
});
