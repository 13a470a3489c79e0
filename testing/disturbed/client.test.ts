import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { inspect } from "node:util";
import { createEmulator, type Emulator, type OnDemandInstance } from "../../emulator/index.ts";
import type { Fault } from "../../emulator/platform/faults.ts";
import { createClient, type Client, type ClientOptions } from "../../platform/client/index.ts";
import { type Effect, endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { ApiError, type ErrorCode } from "../../platform/contract/wire.ts";
import { partOf } from "../harness/drawn.ts";
import { fileServer } from "../harness/fileServer.ts";
import { account, ask, furnish, seedFor } from "./requests.ts";

// Every endpoint with every fault: one call each, on a platform of its own that is put back in between.

const names = Object.keys(endpoints) as EndpointName[]; // keys of the contract's table
/** The emulator's tokens are 32 random bytes in base64url. */
const token = /(?<![\w-])[\w-]{43}(?![\w-])/;

const faults = {
  "429": { kind: "status", status: 429 },
  "500": { kind: "status", status: 500 },
  "500 after commit": { kind: "status", status: 500, commit: true },
  "503": { kind: "status", status: 503 },
  reset: { kind: "reset" },
  "reset after commit": { kind: "reset", commit: true },
  "time-out": { kind: "timeout" },
  "time-out after commit": { kind: "timeout", commit: true },
  "broken JSON": { kind: "brokenJSON" },
  "200 with an error in it": { kind: "errorInside" },
  "expired token": { kind: "expiredToken" },
  "503 with Retry-After": { kind: "status", status: 503, retryAfter: 1 },
} as const satisfies Record<string, Fault>;
type FaultName = keyof typeof faults;

/** How a call ends: as it does without a fault, after one more attempt, or with a code. */
type End = "again" | ErrorCode;
const [again, outcomeUnknown] = ["again", "outcomeUnknown"] as const;
const ends: Record<FaultName, Record<Effect, End>> = {
  "429": { read: again, idempotent: again, create: again },
  "503 with Retry-After": { read: again, idempotent: again, create: again },
  "expired token": { read: again, idempotent: again, create: again },
  "500": { read: again, idempotent: again, create: outcomeUnknown },
  "500 after commit": { read: again, idempotent: again, create: outcomeUnknown },
  "503": { read: again, idempotent: again, create: outcomeUnknown },
  reset: { read: again, idempotent: again, create: outcomeUnknown },
  "reset after commit": { read: again, idempotent: again, create: outcomeUnknown },
  "time-out": { read: again, idempotent: again, create: outcomeUnknown },
  "time-out after commit": { read: again, idempotent: again, create: outcomeUnknown },
  // The sender of the answer has judged the call, or is not the platform: repeating it would not help.
  "broken JSON": { read: "badAnswer", idempotent: "badAnswer", create: outcomeUnknown },
  "200 with an error in it": { read: "rejected", idempotent: "rejected", create: "rejected" },
};

/** The second attempt no longer finds the removed thing. */
const removes = (name: EndpointName): boolean => /^(delete|remove)|Delete$/.test(name);

/** The visible results of a call. */
interface Seen {
  end: "well" | ErrorCode;
  answer: unknown;
  /** Requests that the platform saw, and on how many of them the fault was played. */
  sent: number;
  hit: number;
  /** How many things of each kind were made, changed and removed. */
  done: Record<string, readonly [made: number, changed: number, removed: number]>;
  error: ApiError | undefined;
}

let files: Awaited<ReturnType<typeof fileServer>>;
let emulator: Emulator;
const platforms = new Map<EndpointName, OnDemandInstance>();
let usual: Map<EndpointName, Seen>;
const requests = new Map<EndpointName, Awaited<ReturnType<typeof furnish>>>();

/** The platform of an endpoint's calls. */
function platformOf(name: EndpointName): OnDemandInstance {
  const found = platforms.get(name);
  if (!found) throw new Error(`the platform of ${name} is not there`);
  return found;
}

const connect = (name: EndpointName, options: Partial<ClientOptions> = {}): Client =>
  createClient({ endpoint: platformOf(name).url, ...account, wait: () => Promise.resolve(), ...options });

/** Makes the endpoint's prepared call on its platform, while `plan` is played on the first attempt. */
async function call(name: EndpointName, fault?: Fault): Promise<Seen> {
  const platform = platformOf(name);
  const prepared = requests.get(name);
  if (!prepared) throw new Error(`the platform of ${name} is not prepared`);
  platform.loadSnapshot("start");
  // Only a call that gets no answer is to be given up, not one that a busy machine answers late.
  const client = connect(name, fault?.kind === "timeout" ? { timeouts: { headers: 2_000 } } : {});
  const since = platform.lastCall();
  platform.setFaults({ faults: fault ? [{ ...fault, endpoint: name, count: 1 }] : [] });
  const outcome = await ask(client, name, prepared).then(
    (answer: unknown) => ({ answer, error: undefined }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { answer: undefined, error };
    },
  );
  const calls = platform.calls({ since, endpoint: name });
  platform.setFaults();
  await client.close();
  const done = platform.differences("start").map(({ table, added, changed, removed }) => {
    return [table, [added.length, changed.length, removed.length]] as const;
  });
  return {
    ...outcome,
    end: outcome.error?.code ?? "well",
    sent: calls.length,
    hit: calls.filter(({ fault }) => fault !== null).length,
    done: Object.fromEntries(done),
  };
}

/** Makes the calls of all endpoints at the same time. */
const callAll = async (fault?: Fault): Promise<Map<EndpointName, Seen>> =>
  new Map(await Promise.all(names.map(async (name) => [name, await call(name, fault)] as const)));

beforeAll(async () => {
  files = await fileServer();
  const { host } = files;
  const seed = seedFor(host);
  emulator = await createEmulator({ seed });
  await Promise.all(
    names.map(async (name) => {
      platforms.set(name, await emulator.instance());
      const client = connect(name);
      requests.set(name, await furnish(client, host));
      await client.close();
      platformOf(name).saveSnapshot("start");
    }),
  );
  usual = await callAll();
});
afterAll(async () => {
  await emulator.close();
  files.close();
});

/** Answers of what creates, and of a login, are others each time. */
const comparable = (name: EndpointName, answer: unknown): unknown =>
  endpoints[name].effect === "read" ? answer : Object.keys(answer ?? {});

test("every call succeeds at once when nothing goes wrong, and all that are no reads leave something done", () => {
  const quiet = [...usual].filter(([, { done }]) => Object.keys(done).length === 0).map(([name]) => name);
  const reads = names.filter((name) => endpoints[name].effect === "read");
  expect(new Set(quiet)).toEqual(new Set([...reads, "login", "logout"]));
  for (const [name, seen] of usual) expect([name, seen]).toMatchObject([name, { end: "well", sent: 1, hit: 0 }]);
  expect(usual.get("login")?.answer).toMatchObject({ authToken: expect.stringMatching(token) as unknown });
});

describe.each(partOf(Object.keys(faults) as FaultName[], 0, 3))("%s", (kind) => {
  const fault: Fault = faults[kind];
  const carriedOut = fault.commit === true || fault.kind === "brokenJSON";

  test("is survived by every endpoint's call as its effect says, and nothing is done twice", async () => {
    const found = await callAll(fault);
    const told: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [name, { end, answer, sent, hit, done }] of found) {
      const without = usual.get(name);
      const due = ends[kind][endpoints[name].effect];
      // A login has no token that could be refused.
      const repeated = due === again && !(name === "login" && kind === "expired token");
      const missing = repeated && carriedOut && removes(name);
      const well = due === again && !missing;
      // The first attempt ended the session, so its token is refused: another session is begun and ended.
      const sends = name === "logout" && repeated && carriedOut ? 3 : repeated ? 2 : 1;
      told[name] = { end, sent, hit, done, ...(well ? { answer: comparable(name, answer) } : {}) };
      expected[name] = {
        ...{ end: missing ? "notFound" : well ? "well" : due, sent: sends, hit: 1 },
        done: carriedOut || well ? without?.done : {},
        ...(well ? { answer: comparable(name, without?.answer) } : {}),
      };
    }
    expect(told).toEqual(expected);
    for (const { error, end } of found.values()) {
      if (error === undefined) continue;
      if (end === outcomeUnknown) expect(error.message).toContain("Look on the platform whether it was done");
      const text = inspect(error, { depth: 9 });
      for (const secret of [account.password, account.apiKey, token]) expect(text).not.toMatch(secret);
    }
  });
});

test("where nobody listens no call is given up at once, whatever its effect, and none counts as unknown", async () => {
  const attempts = await Promise.all(
    names.map(async (name) => {
      let waits = 0;
      const client = connect(name, {
        ...{ endpoint: "http://127.0.0.1:1", token: "a-token-of-old", userId: "ada" },
        wait: () => {
          waits++;
          return Promise.resolve();
        },
      });
      const prepared = requests.get(name);
      const [outcome] = await Promise.allSettled([prepared && ask(client, name, prepared)]);
      await client.close();
      const error: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
      expect(inspect(error, { depth: 9 })).not.toMatch(/correct-horse|key-of-the-operator|a-token-of-old/);
      return [name, error instanceof ApiError && error.code, waits];
    }),
  );
  expect(attempts).toEqual(names.map((name) => [name, "unreachable", 3]));
});
