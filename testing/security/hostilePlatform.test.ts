import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { readdirSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { Front } from "../../cli/commands/doctor/testing/front.ts";
import { removeLeftovers } from "../../cli/commands/verify/sandbox/cleaning.ts";
import type { Journal } from "../../cli/commands/verify/sandbox/journal.ts";
import { Sender } from "../../cli/commands/verify/sandbox/sending.ts";
import { Stand } from "../../cli/commands/verify/testing/stand.ts";
import { createClient } from "../../provider/client/index.ts";
import { loadFacts } from "../../provider/conformance/load.ts";
import { maxRowsLeft, remove } from "../../provider/conformance/made.ts";
import type { PlatformClient, CallResult } from "../../provider/conformance/platformClient.ts";
import { hostile, type Hostile } from "./hostile.ts";

// `verify` sends hundreds of calls to a platform that nobody knows yet: whatever comes back, it ends, with a sentence, and
// sends nothing to anybody else.

let stand: Stand;
let front: Front;
let elsewhere: Hostile;
let paths: string[] = [];
beforeAll(async () => {
  stand = await Stand.open();
  front = await Front.start(stand.emulator.url);
  elsewhere = await hostile();
});
afterEach(() => {
  paths = [];
  elsewhere.answer = undefined;
  stand.emulator.loadSnapshot("before");
});
afterAll(async () => {
  await elsewhere.close();
  await front.close();
  await stand.close();
});

type Answers = (endpoint: string, response: ServerResponse, count: number) => void;

const endpointIn = ({ url = "" }: IncomingMessage): string =>
  new URL(url, "http://platform").pathname.split("/").at(-1) ?? "";

/** Answers endpoints otherwise than the platform; those before `from` was called are passed on. */
function answerOtherwise(endpoints: (name: string) => boolean, answers: Answers, from?: string): void {
  let [isHostile, count] = [from === undefined, 0];
  front.answer = (request, response) => {
    paths.push(new URL(request.url ?? "", "http://platform").pathname);
    const name = endpointIn(request);
    isHostile ||= name === from;
    if (!isHostile || !endpoints(name)) return false;
    request.resume();
    answers(name, response, count++);
    return true;
  };
}

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};
const withTeams = loadFacts()
  .filter(({ steps }) => steps.some(({ call }) => call === "insertteam"))
  .slice(0, 10);
const verify = (facts: typeof withTeams = []) => stand.verify({}, { facts }, { MICROAPPS_ENDPOINT: front.url });

test.each([
  ["the login", "login", undefined],
  ["rows", "microappdata", undefined],
  ["rows, once some were written", "microappdata", "insertmicroapprows"],
  ["a creation", "insertorganization", undefined],
])("a redirection of %s is followed by nobody", async (_, endpoint, from) => {
  const location = `${elsewhere.url}/api/${endpoint}`;
  const redirected: Answers = (__, response) => void response.writeHead(307, { location }).end();
  answerOtherwise((name) => name === endpoint, redirected, from);
  const text = await verify().then(({ output }) => output, String);
  expect(text).toMatch(from === undefined ? /HTTP 307|The answer is not as documented/ : /"left"/);
  expect(elsewhere.log).toEqual([]);
});

test("answers of twenty thousand levels are none, and the run ends", async () => {
  const deep = `${'{"body":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  answerOtherwise(
    (name) => /team|member/.test(name),
    (_, response) => json(response, deep),
  );
  const { outcome, output } = await verify(withTeams);
  expect(outcome?.differences).toHaveLength(withTeams.length);
  expect(output).not.toContain("call stack");
});

test("rows without end are no table that a run counts", async () => {
  const rows: Answers = (_, response, count) => {
    const page = Array.from({ length: 1_000 }, (__, index) => ({
      _id: `r${count}-${index}`,
      Code: `C${count}-${index}`,
    }));
    json(response, { status: "success", microAppRows: page });
  };
  answerOtherwise((name) => name === "microappdata", rows, "insertmicroapprows");
  await expect(verify()).rejects.toThrow("gives more rows than it was sent: a sandbox is nobody else's");
});

test("rows that come back under other IDs are removed no longer than a run may have left some", async () => {
  let removed = 0;
  const answer = (given: unknown): Promise<CallResult> =>
    Promise.resolve({ kind: "answer", status: 200, body: given, answer: given });
  const rawClient: PlatformClient = {
    call: ({ name }) => {
      if (name === "removemicroapprow") {
        removed++;
        return answer({});
      }
      return answer({ microAppRows: Array.from({ length: 5_000 }, (_, index) => ({ _id: `r${removed}-${index}` })) });
    },
    fetch: () => Promise.reject(new Error("nothing is fetched")),
    leave: () => Promise.resolve(),
  };
  expect(await remove(rawClient, { kind: "rows", id: "places" })).toBe(false);
  expect(removed).toBe(maxRowsLeft);
});

test("pages without end are no table that leftovers are looked for in for ever", async () => {
  let count = 0;
  elsewhere.answer = (_, response) => {
    const { optLimit = 1_000 } = JSON.parse(elsewhere.log.at(-1)?.split("\n").at(-1) ?? "{}") as { optLimit?: number };
    const rows = Array.from({ length: optLimit }, () => ({ _id: `r${String(count++).padStart(9, "0")}`, Code: "C" }));
    json(response, { status: "success", microAppRows: rows });
  };
  const left = [{ thing: { kind: "row", table: "places" }, ids: [], isMade: false, number: 0 }];
  const run = { mark: "mv0", tables: {} };
  const journal = { run, left: () => left, removed: () => undefined } as unknown as Journal;
  const client = createClient({ endpoint: elsewhere.url, token: "t", userId: "u" });
  const [remainder] = await removeLeftovers(client, journal);
  await client.close();
  expect(remainder?.why).toContain("table places gives more rows than a run writes");
  expect(count).toBeLessThanOrEqual(2 * maxRowsLeft);
});

test("an ID with parts of a path leads no call elsewhere", async () => {
  const id = "../../admin/delete?x=1#y/../%2e%2e";
  answerOtherwise(
    (name) => /^insert(team|organization)$/.test(name),
    (_, response) => json(response, { status: "success", teamID: id, organizationID: id }),
    "insertmicroapprows",
  );
  await verify(withTeams);
  expect(paths).toContain("/api/deleteteam");
  expect(paths.filter((path) => !/^\/api\/\w+$/.test(path))).toEqual([]);
});

test("a platform that answers in drops ends a run when its time is over, and what is left stays written down", async () => {
  const all = (name: string): boolean => !["login", "insertorganization"].includes(name);
  answerOtherwise(all, (_, response) => void drip(response));
  const work = { facts: withTeams, parts: [], times: { limitMs: 2_000, cleaningMs: 500 } };
  const ended = await stand.verify({}, work, { MICROAPPS_ENDPOINT: front.url }).then(String, String);
  front.answer = () => false;
  expect(ended).toMatch(/it took longer than --timeout allows/);
  // By that, --clean removes it, in a process of its own.
  const names = readdirSync(join(stand.folder, "cache/pulumi-microapps/verify"));
  const isLeft = [stand.differences(), names].map((each) => each.length > 0);
  expect(isLeft).toEqual([ended.includes("which 'verify --clean' removes"), ended.includes("which 'verify --clean'")]);
  for (const name of names) rmSync(join(stand.folder, "cache/pulumi-microapps/verify", name));
});

test.each(["0s", "3d", "25h", "soon", "1e9h"])("--timeout %s is refused before anything is sent", async (timeout) => {
  await expect(stand.verify({ timeout })).rejects.toThrow(`--timeout ${timeout} is no time such as 90s, 30m or 2h`);
});

test.each([
  ["of no end", (response: ServerResponse) => void pour(response), "more than 2 MB", { maxMegabytes: 2 }],
  ["that comes in drops", (response: ServerResponse) => void drip(response), "no answer in time", { timeoutMs: 200 }],
])("an answer %s is given up", async (_, answer, reason, limits) => {
  elsewhere.answer = (__, response) => answer(response);
  const sender = new Sender({ url: elsewhere.url, ...limits });
  const sent = sender.send({ method: "POST", url: "/api/microappdata", headers: {}, body: "{}" });
  await expect(sent).rejects.toThrow(reason);
  sender.close();
});

async function pour(response: ServerResponse): Promise<void> {
  const part = Buffer.alloc(1 << 20, " ");
  while (!response.destroyed) {
    if (!response.write(part)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
  }
}

async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(" ");
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
}
