import { afterEach, describe, expect, test } from "@jest/globals";
import { endpoints, type Effect } from "../../contract/endpoints.ts";
import type { ErrorCode } from "../../contract/wire.ts";
import type { Client } from "../options.ts";
import { say, serve, silence, type Answers, type Server } from "../testing/server.ts";
import type { CallRecord } from "./call.ts";

let server: Server | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const calls = {
  read: { endpoint: "readteam", call: (client: Client) => client.readteam({ teamID: "t1" }) },
  idempotent: { endpoint: "updateteam", call: (client: Client) => client.updateteam({ teamID: "t1", teamInfo: {} }) },
  create: {
    endpoint: "insertteam",
    call: (client: Client) => client.insertteam({ teamInfo: { organizationID: "o1", name: "Crew" } }),
  },
} as const;

const good = { status: "success", result: { _id: "t1" }, body: { _id: "t1", name: "Crew" } };

/** Ways in which one request fails; the next one succeeds. */
const faults: Record<string, Answers> = {
  "429": (_, response) => say(response, 429, { status: "error", message: "Slow down" }),
  "429 with Retry-After": (_, response) => say(response, 429, {}, { "retry-after": "1" }),
  "503 with Retry-After": (_, response) => say(response, 503, "", { "retry-after": "1" }),
  "503": (_, response) => say(response, 503, "<html>busy</html>"),
  "500": (_, response) => say(response, 500, { status: "error", message: "Oops" }),
  "502": (_, response) => say(response, 502, "<html>bad gateway</html>"),
  reset: (_, response) => {
    response.destroy();
    return silence;
  },
  "half an answer": (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{");
    setImmediate(() => response.destroy());
    return silence;
  },
  "broken JSON": (_, response) => say(response, 200, '{"status":"succ'),
  "another answer": (_, response) => say(response, 200, { status: "success", body: [1], result: [7] }),
  redirect: (_, response) => say(response, 302, "", { location: "https://login.example/?next=secret" }),
  "200 with an error in it": (_, response) => say(response, 200, { status: "failure", message: "Team does not exist" }),
  "400": (_, response) => say(response, 400, { error: "name is required" }),
  "403": (_, response) => say(response, 403, { error: "Forbidden" }),
  "404 of another server": (_, response) => say(response, 404, "<html>not here</html>"),
  "501": (_, response) => say(response, 501, { status: "error", message: "not implemented" }),
};

const again = "again";
type End = ErrorCode | typeof again;
const expected: Record<string, Record<Effect, End>> = {
  "429": { read: again, idempotent: again, create: again },
  "429 with Retry-After": { read: again, idempotent: again, create: again },
  "503 with Retry-After": { read: again, idempotent: again, create: again },
  "503": { read: again, idempotent: again, create: "outcomeUnknown" },
  "500": { read: again, idempotent: again, create: "outcomeUnknown" },
  "502": { read: again, idempotent: again, create: "outcomeUnknown" },
  reset: { read: again, idempotent: again, create: "outcomeUnknown" },
  "half an answer": { read: again, idempotent: again, create: "outcomeUnknown" },
  "broken JSON": { read: "badAnswer", idempotent: "badAnswer", create: "outcomeUnknown" },
  "another answer": { read: "badAnswer", idempotent: again, create: "badAnswer" },
  redirect: { read: "badAnswer", idempotent: "badAnswer", create: "badAnswer" },
  "200 with an error in it": { read: "notFound", idempotent: "notFound", create: "notFound" },
  "400": { read: "invalidRequest", idempotent: "invalidRequest", create: "invalidRequest" },
  "403": { read: "forbidden", idempotent: "forbidden", create: "forbidden" },
  "404 of another server": { read: "badAnswer", idempotent: "badAnswer", create: "badAnswer" },
  "501": { read: "notImplemented", idempotent: "notImplemented", create: "notImplemented" },
};

describe.each(Object.keys(faults))("%s", (fault) => {
  test.each(["read", "idempotent", "create"] as const)("on a call whose effect is %s", async (effect) => {
    const { endpoint, call } = calls[effect];
    server = await serve((seen, response, count) => {
      if (seen.endpoint !== endpoint) return undefined;
      if (count > 1) return good;
      return faults[fault]?.(seen, response, count);
    });
    const end = expected[fault]?.[effect];
    const ending = call(server.client());
    if (end === again) {
      await expect(ending).resolves.toBeDefined();
      const repeated = fault === "another answer" ? 1 : 2; // an update's answer has no content to check
      expect(server.count(endpoint)).toBe(repeated);
    } else {
      const isOpen = fault === "broken JSON" || fault === "another answer";
      const mayBeDone = end === "outcomeUnknown" || (effect !== "read" && isOpen);
      const outcome = mayBeDone ? "unknown" : "none";
      await expect(ending).rejects.toMatchObject({ name: "ApiError", code: end, outcome, endpoint });
      expect(server.count(endpoint)).toBe(1);
    }
  });
});

test("what makes another thing each time, or says it again, is a creation, and every other change may be repeated", () => {
  const creations = Object.entries(endpoints).filter(([, { effect }]) => effect === "create");
  expect(creations.map(([name]) => name)).toEqual([
    ...["insertmicroapprow", "insertmicroapprows", "microappchildCreate"],
    ...["microappchildStorecopy", "microappchildUploadFileToStore"],
    ...["sendnotification", "createappwithprompt", "insertorganization", "insertteam"],
  ]);
});

test.each(["read", "idempotent", "create"] as const)(
  "where nobody listens a call whose effect is %s is tried again, and none counts as unknown",
  async (effect) => {
    server = await serve(() => good);
    const waits: number[] = [];
    const wait = (milliseconds: number): Promise<void> => Promise.resolve(void waits.push(milliseconds));
    const client = server.client({ endpoint: "http://127.0.0.1:1", token: "given-token", userId: "u1", wait });
    await expect(calls[effect].call(client)).rejects.toMatchObject({ code: "unreachable", outcome: "none" });
    expect(waits).toHaveLength(3);
  },
);

describe("repetitions", () => {
  const failing: Answers = (seen, response) => {
    if (seen.endpoint === "readteam") say(response, 503, { status: "error", message: "Busy" });
  };

  test("are bounded in number, and wait longer each time with full jitter", async () => {
    server = await serve(failing);
    const waits: number[] = [];
    const client = server.client({ wait: (wait) => Promise.resolve(void waits.push(wait)), random: () => 1 });
    await expect(client.readteam({ teamID: "t1" })).rejects.toMatchObject({
      code: "unavailable",
      status: 503,
      platformMessage: "Busy",
    });
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(server.count("readteam")).toBe(8);
  });

  test("end when the next wait would pass the call's time", async () => {
    server = await serve(failing);
    let now = 0;
    const client = server.client({
      now: () => now,
      wait: (wait) => {
        now += wait;
        return Promise.resolve();
      },
      random: () => 1,
    });
    await expect(client.readteam({ teamID: "t1" }, { timeout: 2_000 })).rejects.toMatchObject({ code: "unavailable" });
    expect(server.count("readteam")).toBe(4); // at 0, 250, 750 and 1,750
  });

  test("wait as long as the platform asks, in seconds or until a date, within bounds", async () => {
    const asked = ["7", new Date(9_000).toUTCString(), "60", "soon"];
    server = await serve((seen, response, count) => {
      const header = asked[count - 1];
      if (seen.endpoint !== "readteam") return undefined;
      if (header !== undefined) say(response, 429, {}, { "retry-after": header });
      return good;
    });
    const waits: number[] = [];
    const client = server.client({
      now: () => 1_000,
      wait: (wait) => Promise.resolve(void waits.push(wait)),
      random: () => 0,
    });
    const told: string[] = [];
    const onWait = (wait: number, reason: string): void => void told.push(`${wait} ms: ${reason}`);
    await client.readteam({ teamID: "t1" }, { onWait });
    expect(waits).toEqual([7_000, 8_000, 60_000, 0]);
    expect(told).toEqual(["60000 ms: HTTP 429"]); // long ones alone
  });

  test("end at once, with the time, where the platform asks for more than a minute", async () => {
    server = await serve((seen, response) =>
      seen.endpoint === "readteam" ? say(response, 429, {}, { "retry-after": "3600" }) : undefined,
    );
    const asked = server.client({ now: () => 1_000 }).readteam({ teamID: "t1" });
    const hint = "The platform asks to wait 60 minutes: try again at 1970-01-01T01:00:01.000Z.";
    await expect(asked).rejects.toMatchObject({ code: "rateLimited", hint });
    expect(server.count("readteam")).toBe(1);
  });

  test("make calls wait that have not begun, after one that was too many", async () => {
    server = await serve((seen, response, count) => {
      if (seen.endpoint !== "readteam") return undefined;
      if (count === 1) say(response, 429, {}, { "retry-after": "7" });
      return good;
    });
    let now = 1_000;
    const waits: number[] = [];
    const client = server.client({
      now: () => now,
      random: () => 0,
      wait: async (wait) => {
        if (waits.push(wait) === 1) await client.readteam({ teamID: "t2" });
        now += wait;
      },
    });
    await client.readteam({ teamID: "t1" });
    expect(waits).toEqual([7_000, 7_000]);
  });

  test("end when the caller leaves while waiting", async () => {
    server = await serve(failing);
    const leaving = new AbortController();
    const client = server.client({
      wait: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
          leaving.abort();
        }),
    });
    await expect(client.readteam({ teamID: "t1" }, { signal: leaving.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    expect(server.count("readteam")).toBe(1);
  });
});

describe("no answer", () => {
  test.each([
    ["read", "timeout"],
    ["idempotent", "timeout"],
    ["create", "outcomeUnknown"],
  ] as const)("ends a call whose effect is %s as %s when its time is up", async (effect, code) => {
    const { endpoint, call } = calls[effect];
    server = await serve(() => undefined);
    const attempts: number[] = [];
    const onCall = ({ attempt }: CallRecord): void => void attempts.push(attempt);
    const client = server.client({ token: "given-token", userId: "u1", timeouts: { call: 200 }, onCall });
    await expect(call(client)).rejects.toMatchObject({ code, endpoint, platformMessage: "No answer within 200 ms" });
    expect(attempts).toEqual([1]);
    expect(server.count(endpoint)).toBeLessThanOrEqual(1); // a busy machine may hear of it when the time is up
  });

  test.each([
    ["read", "cancelled"],
    ["create", "outcomeUnknown"],
  ] as const)("a caller who leaves a call whose effect is %s meanwhile gets %s", async (effect, code) => {
    const leaving = new AbortController();
    server = await serve(() => {
      leaving.abort();
    });
    const client = server.client({ token: "given-token", userId: "u1" });
    const ending =
      effect === "read"
        ? client.readteam({ teamID: "t1" }, { signal: leaving.signal })
        : client.insertteam({ teamInfo: { organizationID: "o1", name: "Crew" } }, { signal: leaving.signal });
    await expect(ending).rejects.toMatchObject({ code });
  });

  test("a caller who has left before is not sent for", async () => {
    server = await serve(() => good);
    const client = server.client({ token: "given-token", userId: "u1" });
    const ending = client.insertteam(
      { teamInfo: { organizationID: "o1", name: "Crew" } },
      { signal: AbortSignal.abort() },
    );
    await expect(ending).rejects.toMatchObject({ code: "cancelled" });
    expect(server.seen).toEqual([]);
  });
});
