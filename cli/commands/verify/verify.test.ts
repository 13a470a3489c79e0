import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parse } from "yaml";
import { seed, startSandbox, type ConformanceSandbox } from "../../../emulator/testing/sandbox.ts";
import type { Terminal } from "../../../engine/index.ts";
import { packageFolder } from "../../../machine/ownPackage.ts";
import { createClient } from "../../../platform/client/index.ts";
import { isObject, jsonIn } from "../../../platform/contract/wire.ts";
import { chosenID } from "../../../provider/pulumi/names.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { always, at, Front } from "../../../testing/harness/front.ts";
import { runVerify, type VerifyOptions, type VerifyOutcome } from "./verify.ts";

let stage: ConformanceSandbox;
let front: Front;
beforeAll(async () => {
  stage = await startSandbox();
  front = await Front.start(stage.emulator.url);
});
afterEach(() => {
  front.answer = () => false;
  stage.emulator.setFaults({ faults: [] });
  stage.reset();
});
afterAll(async () => {
  await front.close();
  await stage.close();
});

const password = "a-password";
const tables = ["countries=t-countries", "currencies=t-currencies", "cities=t-cities"];
const everything = [
  ...["organization=new", "person=person@example.com", "countries.Name=f-Name", "countries.Population=f-Population"],
  ...["countries.Flag=f-Flag", ...tables],
];

interface Ended {
  status: number;
  outcome: VerifyOutcome | undefined;
  text: string;
  errors: string;
}

/** Runs the command against the server before the emulator. Nothing that it prints has a secret. */
async function verify(options: Partial<VerifyOptions>, environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const account = {
    MICROAPPS_EMAIL: "caller@example.com",
    MICROAPPS_PASSWORD: password,
    MICROAPPS_API_KEY: "k-123456",
  };
  const variables = {
    MICROAPPS_ENDPOINT: front.url,
    ...account,
    MICROAPPS_PERSON_PASSWORD: password,
    MICROAPPS_CONSISTENCY_SECONDS: "0",
    ...environment,
  };
  const terminal = { input: new PassThrough(), output, errors, environment: variables } as unknown as Terminal; // as much as is used
  const status = await runVerify({ color: "never", sandbox: [], json: true, ...options }, terminal);
  const [text = "", all = ""] = [output, errors].map((stream) => String(stream.read() ?? ""));
  const said = all.replaceAll(/^\d+ of \d+ facts: .*\n/gm, ""); // progress, on a busy machine
  for (const secret of [password, "k-123456"]) expect(text + said).not.toContain(secret);
  return { status, outcome: jsonIn(text) as VerifyOutcome | undefined, text, errors: said };
}

/** What differs on the platform from the moment when the sandbox was ready, without people and calls. */
const changed = () =>
  stage.emulator
    .differences("bed")
    .filter(({ table }) => ["rows", "teams", "organizations", "children"].includes(table));

test("a platform as documented fits, and a run leaves nothing but what no call removes", async () => {
  const [app = "", file = ""] = ["app", "file"].map((name) => stage.sandbox.get(name));
  const more = [`app=${app}`, `file=${file}`, "invitee=invitee@example.com"];
  const { status, outcome, errors } = await verify({ sandbox: [...everything, ...more], generate: true, notify: true });
  expect(outcome).toMatchObject({ status: 0, misfits: [], notTried: [] });
  expect([status, errors, outcome?.left]).toEqual([0, "", [expect.objectContaining({ kind: "app" })]]);
  expect(changed()).toEqual([]);
});

test("what was not tried says what it needs, and nothing is generated or sent unasked", async () => {
  const since = stage.emulator.lastCall();
  const { status, outcome } = await verify({ sandbox: ["organization=new"] });
  expect([status, changed()]).toEqual([0, []]);
  expect(outcome?.notTried).toContainEqual({ fact: "createappwithprompt", why: "they need --generate" });
  expect(outcome?.notTried).toContainEqual({ fact: "sendnotification", why: "they need --notify, --sandbox app=…" });
  const called = stage.emulator.calls({ since }).map(({ endpoint }) => endpoint);
  expect(called.filter((name) => /createapp|sendnotification|row/.test(name))).toEqual([]);
});

test("what does not fit is named, with who needs it and what helps, and with that setting it fits", async () => {
  const other = await startSandbox({ profile: { version: 1, habits: { teamParameter: "teamID" } } });
  const folder = temporaryFolder();
  await writeFile(join(folder, "profile.yaml"), "version: 1\nhabits: { teamParameter: teamID }\n");
  const there = { MICROAPPS_ENDPOINT: other.emulator.url };
  const { status, outcome } = await verify({ sandbox: everything }, there);
  expect(status).toBe(3);
  const [first] = outcome?.misfits ?? [];
  expect(first).toMatchObject({ resources: ["TeamMember", "TeamRoster"], helps: "habits.teamParameter: teamID" });
  expect(first).toMatchObject({ fact: "insertteammembers", expected: '"an answer"' });
  expect(outcome?.notTried).toContainEqual({ fact: "deleteteammember", why: 'they presume "insertteammembers"' });
  const again = await verify({ sandbox: everything, cwd: folder }, { ...there, MICROAPPS_PROFILE: "profile.yaml" });
  expect([again.status, again.outcome?.misfits]).toEqual([0, []]);
  await other.close();
});

test("what a killed run has left is found by its ID and its mark, named and removed, and the next run works", async () => {
  const { outcome: first } = await verify({ sandbox: ["organization=new"] });
  const mark = first?.mark ?? "";
  const client = createClient({ endpoint: stage.emulator.url, email: "caller@example.com", password });
  const [own = "", crew = ""] = ["own", "id.crew"].map((name) => chosenID(mark, name));
  await client.insertorganization({ organizationInfo: { _id: own, name: `${mark} organization` } });
  await client.insertteam({ teamInfo: { _id: crew, organizationID: own, name: `${mark} crew` } });
  await client.insertmicroapprow({ microAppID: "t-countries", rowData: { Code: "CZ", Run: mark } });
  await client.close();
  const { status, errors } = await verify({ sandbox: everything });
  expect(status).toBe(0);
  for (const what of [`team ${crew}`, `organization ${own}`, "of table t-countries"]) expect(errors).toContain(what);
  expect(changed()).toEqual([]);
});

test.each(["SIGINT", "SIGTERM"] as const)("after %s what was made is removed, and the status is 1", async (signal) => {
  let count = 0;
  front.answer = at("/insertmicroapprow", () => {
    if (++count === 5) process.emit(signal);
    return false;
  });
  const { status, outcome, errors } = await verify({ sandbox: everything });
  expect(status).toBe(1);
  expect(errors).toContain("Removing what was made.");
  expect(outcome?.notTried).toContainEqual({ fact: "removemicroapprow", why: "the run was stopped" });
  expect(changed()).toEqual([]);
});

test("what can't be removed is named by its ID, and the status says so", async () => {
  stage.emulator.setFaults({ faults: [{ kind: "status", status: 403, endpoint: "removemicroapprow" }] });
  const { status, outcome } = await verify({ sandbox: everything });
  expect(status).toBe(1);
  const rows = changed().find(({ table }) => table === "rows")?.added ?? [];
  expect(rows.length).toBeGreaterThan(0);
  expect(outcome?.left.map(({ kind, id }) => [kind, id])).toEqual(rows.map((id) => ["row", id]));
  expect(outcome?.notTried).toContainEqual({
    fact: "insertmicroapprow userID",
    why: "rows of an earlier fact could not be removed",
  });
});

test("a call without an answer makes no fact untrue: the others are not tried", async () => {
  // Of what creates, a client sends nothing again.
  stage.emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "insertteam" }] });
  const { status, outcome } = await verify({ sandbox: ["organization=new"] });
  expect(status).toBe(1);
  expect(outcome?.misfits).toEqual([]);
  expect(outcome?.notTried.find(({ fact }) => fact === "insertteam")?.why).toContain("insertteam:");
  expect(changed()).toEqual([]);
});

test.each<[string, Partial<VerifyOptions>, NodeJS.ProcessEnv, string]>([
  ["no sandbox", {}, {}, "works only in an organization and in tables that are named for it"],
  ["a name that is none", { sandbox: ["organisation=x"] }, {}, "did you mean organization=…?"],
  ["a name without a value", { sandbox: ["app="] }, {}, "--sandbox app lacks its value: ID of an app"],
  ["a name twice", { sandbox: ["app=1", "app=2"] }, {}, "--sandbox app is there twice"],
  [
    "a configuration that only reads",
    { sandbox: tables },
    { MICROAPPS_READ_ONLY: "true" },
    "microapps:readOnly refuses",
  ],
  ["a wrong password", { sandbox: tables }, { MICROAPPS_PASSWORD: "another" }, "login: "],
  ["a table with rows", { sandbox: tables }, {}, "table t-currencies has 1 row that verify did not make"],
])("with %s nothing is changed", async (_, options, environment, says) => {
  const client = createClient({ endpoint: stage.emulator.url, email: "caller@example.com", password });
  await client.insertmicroapprow({ microAppID: "t-currencies", rowData: { Code: "EUR" } });
  await client.close();
  const since = stage.emulator.lastCall();
  await expect(verify(options, environment)).rejects.toMatchObject({
    status: 2,
    message: expect.stringContaining(says) as unknown,
  });
  expect(stage.emulator.calls({ since, mutating: true }).filter(({ endpoint }) => !/^log/.test(endpoint))).toEqual([]);
});

test("people see who needs what, in their columns", async () => {
  front.answer = at("/updateteam", always(200, { status: "success" }));
  const { status, text } = await verify({ sandbox: ["organization=new"], json: false });
  expect(status).toBe(3);
  expect(text).toContain("DOES NOT FIT updateteam changes what is named, and nothing else (Organizations, teams and");
  expect(text).toMatch(/\n {2}needed by: Team\n {2}expected: ".*new crew"\n {2}seen: team\.name: ".* crew"\n/);
  expect(text).toMatch(/Not tried without --sandbox app=…: \d facts?/);
  expect(text).toContain(`1 fact of the interface does not fit ${front.url} (run microapps-verify-`);
});

test("the tables of the docs are those of the facts", () => {
  const page = readFileSync(join(packageFolder, "docs/verify.md"), "utf8");
  const { tables: documented } = parse(/```yaml\n(administrator:[^`]+)```/.exec(page)?.[1] ?? "") as Pick<
    typeof seed,
    "tables"
  >;
  const typesOf = ({ fields }: { fields: object }): object =>
    Object.fromEntries(
      Object.entries(fields).map(([label, field]: [string, unknown]) => [
        label,
        isObject(field) ? { ...field, id: undefined } : { type: field },
      ]),
    );
  for (const [name, table] of Object.entries(seed.tables)) {
    expect(typesOf(documented[name as keyof typeof seed.tables])).toEqual(typesOf(table));
  }
});
