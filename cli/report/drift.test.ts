import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../emulator/index.ts";
import { faultKinds } from "../../emulator/platform/faults.ts";
import { createClient } from "../../platform/client/client.ts";
import type { Client } from "../../platform/client/options.ts";
import { MemberLists } from "../../provider/people/members.ts";
import { TableReads } from "../../provider/pulumi/platform.ts";
import type { Resource } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { createEmulator } from "../commands/emulator/createEmulator.ts";
import { lookingContext } from "../commands/platform.ts";
import type { Change } from "./changeSet.ts";
import { CountingReads, drift, hasDrift, type Look } from "./drift.ts";
import type { StateResource } from "./state.ts";

const account = { email: "admin@example.com", password: "change-me-first" };
const cities = Array.from({ length: 30 }, (_, at) => ({ Code: `c${at}`, Name: `City ${at}` }));

let emulator: Emulator;
let folder: string;
let client: Client;
const states: StateResource[] = [];
const called = (name: string): StateResource => {
  const found = states.find((each) => each.name === name);
  if (!found) throw new Error(name);
  return found;
};

beforeAll(async () => {
  folder = temporaryFolder();
  const users = ["ada", "bob", "eve"].map((name) => `  - email: ${name}@example.com\n`).join("");
  const seed = `administrator: { email: ${account.email}, password: ${account.password} }\nusers:\n${users}tables:\n  cities: { name: Cities, fields: { Code: text, Name: text } }\n`;
  writeFileSync(join(folder, "platform.yaml"), seed);
  emulator = await createEmulator({ data: ":memory:", seed: join(folder, "platform.yaml") });
  client = createClient({ endpoint: emulator.url, ...account });
  const context = lookingContext(
    { client, members: new MemberLists(client), tables: new TableReads(client) },
    { endpoint: emulator.url, ...account },
    folder,
    new AbortController().signal,
  );
  const make = async (kind: string, name: string, inputs: object): Promise<string> => {
    const resource = resourceNamed(kind) as Resource;
    const { id, outputs } = await resource.create(context, resource.inputs.parse(inputs));
    states.push({ kind, name, id, values: { ...inputs, ...outputs } });
    return id;
  };
  const organizationID = await make("Organization", "acme", { name: "Acme" });
  const crew = await make("Team", "acme/crew", { organizationID, name: "Crew" });
  const ops = await make("Team", "acme/ops", { organizationID, name: "Ops" });
  await make("TeamMember", "acme/crew/ada@example.com", { teamID: crew, email: "ada@example.com", role: "admin" });
  await make("TeamRoster", "acme/ops/roster", {
    teamID: ops,
    members: { "ada@example.com": "admin", "bob@example.com": "member" },
  });
  await make("SeedRows", "cities", {
    table: "cities",
    key: "Code",
    rows: cities.slice(0, -1),
    additions: cities.slice(-1),
    keys: cities.map(({ Code }) => Code),
    digest: "d",
  });
});
afterEach(() => emulator.setFaults({ faults: [] }));
afterAll(async () => {
  await client.close();
  await emulator.close();
});

/** A look with a client of its own, which can't change anything. */
async function look(password = account.password, resources = states): Promise<Look> {
  const reader = createClient({
    endpoint: emulator.url,
    email: account.email,
    password,
    readOnly: true,
    timeouts: { call: 1_500, headers: 400 },
    retries: { attempts: 2, connects: 2, base: 1, max: 1, maxRetryAfter: 1 },
  });
  const tables = new CountingReads(reader, { ttlMs: Number.MAX_SAFE_INTEGER });
  const members = new MemberLists(reader, { ttlMs: Number.MAX_SAFE_INTEGER });
  const settings = { endpoint: emulator.url, ...account };
  const context = {
    ...lookingContext({ client: reader, members, tables }, settings, folder, new AbortController().signal),
    tables,
  };
  try {
    return await drift(resources, context);
  } finally {
    await reader.close();
  }
}

const said = (changes: readonly Change[]): string[] => changes.map(({ op, name }) => `${op} ${name}`);

test("nothing was changed: nothing is found, what nobody declares is counted, and each list is read once", async () => {
  const before = emulator.calls().length;
  const found = await look();
  expect(found.unread).toEqual([]);
  expect(found.section).toEqual({ compared: true, things: [] });
  // The account that asks is in each team that it made.
  expect(found.notes).toEqual([]);
  const calls = emulator
    .calls()
    .slice(before)
    .map(({ endpoint }) => endpoint);
  expect(calls.filter((endpoint) => endpoint === "microappdata").length).toBeLessThanOrEqual(2); // a page, and the empty one behind it
  expect(calls.filter((endpoint) => endpoint === "teammembers")).toHaveLength(1);
  expect(
    emulator
      .calls()
      .slice(before)
      .filter(({ mutating }) => mutating),
  ).toEqual([]);
});

test("rows, roles, people and names that were changed by hand are named; foreign rows are counted", async () => {
  const { id: crew } = called("acme/crew");
  const { id: ops } = called("acme/ops");
  const rows = (await client.microappdata({ microAppID: "cities", searchFilter: [{ skip: 0, limit: 100 }] }))
    .microAppRows;
  const idOf = (code: string): string => rows.find((row) => row["Code"] === code)?._id ?? "";
  await client.updateteam({ teamID: crew, teamInfo: { name: "Crew by hand" } });
  await client.updatemicroapprow({ rowID: idOf("c3"), microAppID: "cities", rowData: { Name: "Edited" } });
  await client.removemicroapprow({ rowID: idOf("c4") });
  await client.insertmicroapprow({ microAppID: "cities", rowData: { Code: "theirs" } });
  await client.insertteammembers({ teamIDs: [ops], emails: ["eve@example.com"] });
  const { section, notes, unread } = await look();
  expect(unread).toEqual([]);
  expect(section.things.map(({ kind, name, op }) => `${op} ${kind} ${name}`).sort()).toEqual([
    "change seed cities",
    "change team acme/crew",
    "change team acme/ops",
  ]);
  const seed = section.things.find(({ kind }) => kind === "seed");
  expect(seed?.rows).toEqual({ add: 0, change: 1, remove: 1, same: 28 });
  expect(said(seed?.changes ?? [])).toEqual(["remove c4", "change c3"]);
  expect(seed?.changes[1]?.fields).toEqual([{ name: "Name", before: "City 3", after: "Edited" }]);
  expect(said(section.things.find(({ name }) => name === "acme/ops")?.changes ?? [])).toEqual(["add eve@example.com"]);
  // From what was applied to what is there.
  const crewNow = section.things.find(({ name }) => name === "acme/crew");
  expect(crewNow?.changes[0]?.fields).toEqual([{ name: "name", before: "Crew", after: "Crew by hand" }]);
  expect(notes).toContain("table cities: 1 row beside those of this stack");
});

test("people of a program are in the team that it names, and one who is gone is named once", async () => {
  const { id: teamID } = called("acme/ops");
  const member = (name: string, email: string, values: object = {}): StateResource => ({
    ...{ kind: "TeamMember", name, id: `${teamID}/${email}` },
    values: { teamID, email, role: "admin", ...values },
  });
  const people = [member("bob", "bob@example.com"), member("gone", "gone@example.com")];
  const named = (await look(undefined, people)).section.things;
  expect(named.map(({ name, people, changes }) => [name, people, said(changes)])).toEqual([
    [
      `team ${teamID}`,
      { add: 0, change: 1, remove: 1, same: 0 },
      ["remove gone@example.com", "change bob@example.com"],
    ],
  ]);
  expect(named[0]?.changes[1]?.fields).toEqual([{ name: "role", before: "admin", after: "member" }]);
  const [team] = (await look(undefined, [...people, called("acme/ops")])).section.things;
  expect(team).toMatchObject({ name: "acme/ops", people: { change: 1, remove: 1 } });
  // Letter case means nothing, and a default that a state lacks was changed by nobody.
  expect((await look(undefined, [member("bob", "BOB@example.com", { role: undefined })])).section.things).toEqual([]);
});

test("an expectation that rows of others break is drift that names them", async () => {
  const seed = called("cities");
  const expecting = { ...seed, values: { ...seed.values, expect: { rowCount: { max: 3 }, notNull: ["Name"] } } };
  const found = (await look(undefined, [expecting])).section;
  const changes = found.things[0]?.changes.filter(({ kind }) => kind === "setting") ?? [];
  expect(changes.map(({ fields }) => fields)).toEqual([
    [
      {
        ...{ name: "expect.notNull", before: "holds" },
        after: '1 row has no value under "Name": "theirs"',
      },
    ],
    [{ name: "expect.rowCount", before: "holds", after: "30 rows, more than 3" }],
  ]);
  expect(hasDrift(found)).toBe(true);
});

describe("a platform that answers wrongly is never without drift", () => {
  /** Kinds that a client may get over, or that harm no read: writes alone, the same values in another form, or no name that is another. A kind that is new is none of them. */
  const survived: readonly string[] = [
    "expiredToken",
    "slow",
    "defaultLimit",
    "keepsPart",
    "otherForms",
    "late",
    "dropsViewers",
    "changedTexts",
    "partialBatch",
    "twice",
    "repeatedItems",
    "otherIDs",
  ];
  const kinds = [
    ...faultKinds.map((kind) => ({ kind, milliseconds: 50 })),
    { kind: "status" as const, status: 503 },
    { kind: "status" as const, status: 429, retryAfter: 60 },
  ];
  let whole: Look["section"];
  beforeAll(async () => {
    await client.updateteam({ teamID: called("acme/crew").id, teamInfo: { name: "Crew by hand" } });
    ({ section: whole } = await look());
    expect(whole.things).not.toEqual([]);
  });
  const endpoints = ["readorganization", "readteam", "teammembers", "microappdata", "login"] as const;
  test.each(kinds.flatMap((fault) => endpoints.map((endpoint) => ({ ...fault, endpoint }))))(
    "$kind at $endpoint ($status)",
    async (fault) => {
      const before = emulator.calls().length;
      emulator.setFaults({ faults: [fault] });
      const { unread, section } = await look();
      emulator.setFaults({ faults: [] });
      // All of what drifted, or that nobody can tell.
      if (unread.length === 0) expect([survived.includes(fault.kind), section]).toEqual([true, whole]);
      expect(section.things.filter(({ op }) => op === "remove")).toEqual([]); // what can't be read is not gone
      expect(
        emulator
          .calls()
          .slice(before)
          .filter(({ mutating }) => mutating),
      ).toEqual([]);
    },
  );

  test("a refused login is told apart", async () => {
    const found = await look("not the password");
    expect(found.isRefused).toBe(true);
    expect(found.unread.length).toBeGreaterThan(0);
    expect(JSON.stringify(found)).not.toContain("not the password");
  });
});
