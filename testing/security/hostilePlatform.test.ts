import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { runVerify } from "../../cli/commands/verify/verify.ts";
import { ownMark, removeRows, type Call } from "../../emulator/conformance/run.ts";
import { startSandbox, type ConformanceSandbox } from "../../emulator/testing/sandbox.ts";
import type { Terminal } from "../../engine/index.ts";
import { Front } from "../harness/front.ts";
import { hostile, type Hostile } from "./hostile.ts";

// `verify` sends hundreds of calls to a platform that nobody knows yet: whatever comes back, it ends, with a sentence, and
// sends nothing to anybody else.

let stage: ConformanceSandbox;
let front: Front;
let elsewhere: Hostile;
let paths: string[] = [];
beforeAll(async () => {
  stage = await startSandbox();
  front = await Front.start(stage.emulator.url);
  elsewhere = await hostile();
});
afterEach(() => {
  paths = [];
  stage.reset();
});
afterAll(async () => {
  await elsewhere.close();
  await front.close();
  await stage.close();
});

type Answers = (endpoint: string, response: ServerResponse, count: number) => void;

const pathOf = ({ url = "" }: IncomingMessage): string => new URL(url, "http://platform").pathname;

/** Answers endpoints otherwise than the platform; those before `from` was called are passed on. */
function answerOtherwise(endpoints: (name: string) => boolean, answers: Answers, from?: string): void {
  let [isHostile, count] = [from === undefined, 0];
  front.answer = (request, response) => {
    const path = pathOf(request);
    const name = path.split("/").at(-1) ?? "";
    paths.push(path);
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

/** What the command prints, or the error that it ends with. */
async function verify(): Promise<string> {
  const output = new PassThrough();
  const account = { MICROAPPS_EMAIL: "caller@example.com", MICROAPPS_PASSWORD: "a-password" };
  const environment = { MICROAPPS_ENDPOINT: front.url, MICROAPPS_CONSISTENCY_SECONDS: "0", ...account };
  const terminal = { input: new PassThrough(), output, errors: new PassThrough(), environment } as unknown as Terminal;
  const sandbox = ["organization=new", "countries=t-countries", "person=person@example.com"];
  return runVerify({ color: "never", sandbox, json: true }, terminal).then(() => String(output.read()), String);
}

test.each([
  ["the login", "login", undefined],
  ["rows", "microappdata", undefined],
  ["rows, once some were written", "microappdata", "insertmicroapprow"],
  ["a creation", "insertorganization", undefined],
])("a redirection of %s is followed by nobody", async (_, endpoint, from) => {
  const location = `${elsewhere.url}/api/${endpoint}`;
  answerOtherwise(
    (name) => name === endpoint,
    (__, response) => void response.writeHead(307, { location }).end(),
    from,
  );
  expect(await verify()).toMatch(/307|"misfits"/);
  expect(elsewhere.log).toEqual([]);
});

test("answers of twenty thousand levels are none, and the run ends", async () => {
  const deep = `${'{"body":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  answerOtherwise(
    (name) => /team|member/.test(name),
    (_, response) => json(response, deep),
  );
  const output = await verify();
  expect(output).toContain('"fact": "insertteam"');
  expect(output).not.toContain("call stack");
});

test("rows without end are removed no longer than a run may have left some", async () => {
  let count = 0;
  const call: Call = (name) => {
    if (name === "removemicroapprow") return Promise.resolve({ answer: {} });
    const microAppRows = Array.from({ length: 500 }, () => ({ _id: `r${count++}`, Run: ownMark }));
    return Promise.resolve({ answer: { microAppRows } });
  };
  const left = await removeRows(call, "places");
  expect(left).toMatchObject([{ id: "in table places", why: "there is no end of them" }]);
  expect(count).toBeLessThan(5_000);
});
