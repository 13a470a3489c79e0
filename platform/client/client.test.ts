import { afterEach, describe, expect, test } from "@jest/globals";
import { endpoints, type EndpointName } from "../contract/endpoints.ts";
import { ApiError, isOutcomeUnknown } from "../contract/wire.ts";
import { createClient } from "./client.ts";
import { CallCounter } from "./http/call.ts";
import { Limiter } from "./http/limiter.ts";
import { Transport } from "./http/transport.ts";
import { batches } from "./lists.ts";
import type { Client } from "./options.ts";
import { say, serve, session, silence, type Server } from "./testing/server.ts";

let server: Server;
afterEach(() => server.close());

const ok = { status: "success", body: { _id: "t1", name: "Crew" } };
const names = Object.keys(endpoints) as EndpointName[]; // the keys of a const object

describe("what is refused before anything is sent", () => {
  const wrong: [string, (client: Client) => Promise<unknown>, string][] = [
    [
      "an unknown property",
      // @ts-expect-error: no such property
      (client) => client.readteam({ teamID: "t", team: 1 }),
      "team is not a property of the request",
    ],
    [
      "an unknown property inside",
      // @ts-expect-error: no such property
      (client) => client.updateteam({ teamID: "t", teamInfo: { nmae: "x" } }),
      "teamInfo.nmae is not a property of the request",
    ],
    [
      "an unknown property in a list",
      // @ts-expect-error: no such property
      (client) => client.microappdata({ microAppID: "m", searchFilter: [{ skip: 0 }, { skips: 1 }] }),
      "searchFilter.1.skips is not a property of the request",
    ],
    ["an empty ID", (client) => client.readteam({ teamID: "" }), "teamID: must not be empty"],
    ["no rows", (client) => client.insertmicroapprows({ microAppID: "m", rows: [] }), "rows: must not be empty"],
    ["nobody", (client) => client.insertteammembers({ teamIDs: ["t"] }), "emails: emails or userIDs must name someone"],
  ];
  test.each(wrong)("%s", async (_, call, message) => {
    server = await serve(() => ok);
    const ending = call(server.client());
    await expect(ending).rejects.toMatchObject({ code: "invalidRequest" });
    await expect(ending).rejects.toThrow(message);
    expect(server.seen).toEqual([]);
  });

  test.each([
    "",
    "platform.example",
    "ftp://platform.example",
    "https://ann:secret@platform.example",
    "https://x/?a=1",
  ])("an endpoint like %p", async (endpoint) => {
    server = await serve(() => ok);
    expect(() => createClient({ endpoint })).toThrow(/^endpoint must be/);
  });
});

test.each([
  ["apiKey", { apiKey: "secret-key\n" }],
  ["apiKey", { apiKey: "secret\u2013key" }],
  ["token", { token: "secret-key\r", userId: "u" }],
  ["userId", { token: "t", userId: "secret-key\u0000" }],
])("%s that no header can have is refused by its name alone", async (name, options) => {
  server = await serve(() => ok);
  const made = (): Client => createClient({ endpoint: server.url, ...options });
  expect(made).toThrow(new RegExp(`^${name} holds a line break or another character that no header can have`));
  expect(made).not.toThrow(/secret/);
});

test("an ID that comes as a number is none: beyond 2^53 its last digits are lost", async () => {
  server = await serve(({ endpoint }, response) => {
    if (endpoint === "insertteam") say(response, 200, '{"result": 12345678901234567890}');
  });
  const ending = server.client().insertteam({ teamInfo: { name: "A", organizationID: "o" } });
  await expect(ending).rejects.toMatchObject({ code: "badAnswer", outcome: "unknown" });
});

test.each(["login", "createappwithprompt"] as const)(
  "a creation may have been carried out unless %s fails before it",
  async (failing) => {
    server = await serve(({ endpoint }, response) => {
      if (endpoint === failing) say(response, 500, { status: "error", message: "broken" });
    });
    const client = server.client({ email: "ada@example.com", password: "-", apiKey: "k", retries: { attempts: 1 } });
    const ending = client.createappwithprompt({ userEmail: "ada@example.com", appPrompt: "A portal" });
    const error: unknown = await ending.catch((error: unknown) => error);
    expect(error).toMatchObject({ endpoint: failing, outcome: "unknown" });
    expect(isOutcomeUnknown(error)).toBe(failing !== "login");
  },
);

test("a path that a platform has under another name is told, with the setting that names it", async () => {
  server = await serve(({ endpoint }, response) => {
    if (endpoint === "microappchildStorecopy") say(response, 404, "<html>", { "content-type": "text/html" });
    if (endpoint === "microappchildUploadFileToStore") say(response, 404, { status: "error", message: "Not found" });
    if (endpoint === "readteam") say(response, 404, { status: "error", message: "Not found" });
  });
  const client = server.client();
  const copy = client.microappchildStorecopy({ sourceResourceID: "a", destinationResourceID: "b", fileKey: "c" });
  await expect(copy).rejects.toThrow(
    'Where this platform has another name for storecopy in the path, such as s3copy, set wireNames: {"storecopy": "<its name>"}.',
  );
  const upload = client.microappchildUploadFileToStore({ resourceID: "a", fieldID: "b", url: "https://x.example/a" });
  await expect(upload).rejects.toThrow(/Check the ID\. Where .* uploadFileToStore .* set wireNames/);
  await expect(client.readteam({ teamID: "t" })).rejects.not.toThrow("wireNames");
});

describe("read only", () => {
  test("only calls that read get past the transport, whatever is above it", async () => {
    server = await serve(() => ok);
    const timeouts = { connect: 1_000, headers: 1_000, body: 1_000 };
    const transport = new Transport(server.url, { timeouts, connections: 1, readOnly: true });
    const passed: EndpointName[] = [];
    for (const endpoint of names) {
      const { method, path } = endpoints[endpoint];
      const body = method === "POST" ? "{}" : undefined;
      await transport.send({ endpoint, method, path, headers: {}, body }, new AbortController().signal).then(
        () => passed.push(endpoint),
        (error: unknown) => expect(error).toMatchObject({ name: "ApiError", code: "readOnly", endpoint }),
      );
    }
    await transport.close();
    const reading = names.filter((name) => endpoints[name].effect === "read");
    expect(passed.sort()).toEqual(["login", "logout", ...reading].sort());
    expect(server.seen.map((seen) => seen.endpoint).sort()).toEqual(passed);
  });

  test("a refused call does not even log in", async () => {
    server = await serve(({ endpoint }) => (endpoint === "readteam" ? ok : undefined));
    const client = server.client({ readOnly: true });
    await expect(client.deleteteam({ teamID: "t1" })).rejects.toMatchObject({ code: "readOnly" });
    expect(server.seen).toEqual([]);
    await expect(client.readteam({ teamID: "t1" })).resolves.toBeDefined();
  });
});

describe("on the wire", () => {
  test("every endpoint is asked by its method and path, below the endpoint's own path", async () => {
    server = await serve(() => ok);
    const client = server.client({ endpoint: `${server.url}/platform/` });
    await client.login({ email: "ann@crew.example", password: "x" }).catch(() => undefined);
    expect(server.seen.map(({ path }) => path)).toEqual(["/platform/api/login"]);
    expect(names.filter((name) => typeof client[name] !== "function")).toEqual([]);
  });

  test("a GET has its parameters in the query", async () => {
    server = await serve(({ path }) => (path.startsWith("/api/userid") ? { body: { userID: "u1" } } : undefined));
    await expect(server.client().userid({ email: "ann+x@crew.example" })).resolves.toEqual({ userID: "u1" });
    expect(server.seen.at(-1)).toMatchObject({ path: "/api/userid?email=ann%2Bx%40crew.example", body: undefined });
  });

  test("a bare link is an answer, other text is not", async () => {
    server = await serve((seen, response) => {
      if (seen.endpoint === "createappwithprompt") say(response, 200, "https://apps.example/workspace/apps/a1\n");
      if (seen.endpoint === "updateteam") say(response, 200, "<html>Welcome</html>");
      if (seen.endpoint === "readteam") say(response, 200, "");
      if (seen.endpoint === "deleteteam") say(response, 200, "");
    });
    const client = server.client({ apiKey: "key-of-the-operator" });
    const { link } = await client.createappwithprompt({ userEmail: "ann@crew.example", appPrompt: "A list" });
    expect(link).toBe("https://apps.example/workspace/apps/a1");
    await expect(client.updateteam({ teamID: "t", teamInfo: {} })).rejects.toMatchObject({ code: "badAnswer" });
    await expect(client.readteam({ teamID: "t" })).rejects.toMatchObject({ code: "badAnswer" });
    await expect(client.deleteteam({ teamID: "t" })).resolves.toEqual({});
  });

  test("a stranger's answer does not read as something that is gone", async () => {
    const answers: unknown[] = [{}, { hello: "world" }, [], "text"];
    server = await serve((seen, _, count) => (seen.endpoint === "readteam" ? answers[count - 1] : undefined));
    const client = server.client();
    for (const answer of answers) {
      await expect(client.readteam({ teamID: "t" })).rejects.toMatchObject({ code: "badAnswer" });
      expect(answer).toBeDefined();
    }
  });

  test("a generation that failed is an answer, a refused call is not", async () => {
    const answers = [
      { body: { status: "failed", message: "no model" } },
      { status: "failure", message: "App not found" },
    ];
    server = await serve((seen, _, count) =>
      seen.endpoint === "createappwithpromptStatus" ? answers[count - 1] : undefined,
    );
    const client = server.client({ apiKey: "key-of-the-operator" });
    const request = { appID: "a1" };
    await expect(client.createappwithpromptStatus(request)).resolves.toEqual({ status: "failed", message: "no model" });
    await expect(client.createappwithpromptStatus(request)).rejects.toMatchObject({ code: "notFound" });
  });
});

test("no error text holds a secret, even when the platform repeats what it was sent", async () => {
  const secrets = ["correct horse", session.authToken, "key-of-the-operator"];
  server = await serve(({ endpoint, headers, body }, response) => {
    const echo = JSON.stringify({ headers, body });
    if (endpoint !== "login") say(response, 400, { error: `bad: ${echo} ${secrets.join(" ")}` });
  });
  const client = server.client({ apiKey: "key-of-the-operator" });
  const refused = await serve((seen, response) => say(response, 401, { error: JSON.stringify(seen) }));
  const errors: unknown[] = await Promise.all([
    client.createappwithprompt({ userEmail: "ann@crew.example", appPrompt: "A list" }).catch((error: unknown) => error),
    client.readteam({ teamID: "t" }).catch((error: unknown) => error),
    refused
      .client()
      .readteam({ teamID: "t" })
      .catch((error: unknown) => error),
  ]);
  await refused.close();
  for (const error of errors) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.platformMessage).toContain("[secret]");
    const all = `${error.message} ${error.stack ?? ""} ${JSON.stringify(error)} ${String(error.cause)}`;
    for (const secret of secrets) expect(all).not.toContain(secret);
  }
});

test("calls are told of and counted, repeated ones too", async () => {
  server = await serve((seen, response, count) => {
    if (seen.endpoint === "readteam" && count === 1) say(response, 500, {});
    return seen.endpoint === "readteam" ? ok : undefined;
  });
  const counter = new CallCounter();
  const client = server.client({ onCall: counter.onCall });
  expect(counter.describe()).toBe("no calls");
  await client.readteam({ teamID: "t" });
  expect(counter.describe()).toBe("3 calls: 2 readteam (1 repeated), 1 login");
  expect(counter.total("readteam")).toBe(2);
});

test("no more calls are under way than the limiter allows, and fewer when the platform is overloaded", async () => {
  let active = 0;
  let most = 0;
  server = await serve((seen, response, count) => {
    if (seen.endpoint !== "readteam") return undefined;
    most = Math.max(most, ++active);
    setImmediate(() => {
      active--;
      say(response, count <= 3 ? 429 : 200, ok);
    });
    return silence;
  });
  const limiter = new Limiter({ start: 3, max: 3 });
  const client = server.client({ limiter });
  await Promise.all(Array.from({ length: 50 }, () => client.readteam({ teamID: "t" })));
  expect(most).toBeLessThanOrEqual(3);
  expect(server.count("readteam")).toBe(53);
  expect(limiter.active).toBe(0);
});

describe("batches", () => {
  const sizes = async (rows: Iterable<unknown>, options: Parameters<typeof batches>[1]): Promise<number[]> => {
    const found: number[] = [];
    for await (const batch of batches([[...rows], []], options)) found.push(batch.length);
    return found;
  };

  test("keep to a number of rows", async () => {
    server = await serve(() => ok);
    expect(await sizes(Array(25).fill({}), { maxRows: 10 })).toEqual([10, 10, 5]);
    expect(await sizes(Array(20_001).fill(0), {})).toEqual([10_000, 10_000, 1]);
    expect(await sizes([], {})).toEqual([]);
  });

  test("keep to a number of bytes of what is sent, and a larger row goes alone", async () => {
    server = await serve(() => ok);
    const rows = ["aaaa", "ä", "b".repeat(40), "c"]; // 7, 5, 43 and 4 bytes with quotes and comma
    expect(await sizes(rows, { maxBytes: 12 })).toEqual([2, 1, 1]);
    expect(await sizes(rows, { maxBytes: 12, text: () => "1" })).toEqual([4]);
  });
});
