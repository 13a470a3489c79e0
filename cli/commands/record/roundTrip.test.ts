import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { createEmulator, type Emulator } from "../../../emulator/emulator.ts";
import { parseSeed } from "../../../emulator/seed/file.ts";
import type { SeedInput } from "../../../emulator/seed/schema.ts";
import { signIn, type Caller } from "../../../emulator/testing/platform.ts";
import type { EndpointName } from "../../../provider/contract/endpoints.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import type { KnownStep } from "../../recording/factShapes.ts";
import { Recording, type RecordingFiles } from "../../recording/recording.ts";
import { passing } from "../../recording/testing/passing.ts";
import { opened, recordedOf, seed } from "./testing/recorded.ts";

type Read = readonly [EndpointName, Record<string, unknown>];
const sorted = (microAppID: string, field: string, order: number, more = {}): Read => [
  "microappdata",
  { microAppID, searchFilter: [{ resourceID: microAppID, field, order, skip: 0, limit: 100 }], ...more },
];
/** Reads that mean the same whatever the values of rows are called. */
const orders: Read[] = [
  ["microappdata", { microAppID: "currencies" }],
  sorted("currencies", "1", 1),
  sorted("countries", "1", 1),
  sorted("countries", "1", -1),
  sorted("countries", "2", 1),
  sorted("countries", "3", -1),
  ["microappdata", { microAppID: "countries", optViewSort: { sortVal2: -1 } }],
  ["microappdata", { microAppID: "cities", optViewFilters: [{ embeddingRowID: "country-1" }] }],
  sorted("cities", "1", -1),
  ["microappdataRow", { rowID: "country-2" }],
  ["microappdataRow", { rowID: "nothing" }],
  ["readorganization", { organizationID: "acme" }],
  ["readteam", { teamID: "crew" }],
  ["teammembers", { teamIDs: ["crew"] }],
  ["readteam", { teamID: "nothing" }],
];
/** Those that name values. */
const filters: Read[] = [
  ["microappdata", { microAppID: "countries", optViewFilters: [{ sortVal2: { $gte: 2 } }] }],
  [
    "microappdata",
    { microAppID: "countries", optViewFilters: [{ sortVal: { $lt: "DE" } }], optViewSort: { sortVal: 1 } },
  ],
  ["microappdata", { microAppID: "countries", optSearchFilters: [{ fieldID: "country-name", value: "Land 3" }] }],
  ["microappdata", { microAppID: "countries", optViewFilters: [{ Name: { $regex: "^Land [12]$" } }] }],
];

/** Answers without what differs from one platform to the next: people, times, and in shape the values of rows. */
function comparable(value: unknown, inShape: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, inShape));
  if (!isObject(value)) return value;
  const left = Object.entries(value).filter(
    ([key]) => !/^(userID|email|createdAt|updatedAt|viewers|(client)?[sS]ubmitted|additionalValues)$/.test(key),
  );
  return Object.fromEntries(
    left.map(([key, inner]) => {
      const isValue = inShape && ["string", "number"].includes(typeof inner) && /^[A-Z]|^value$/.test(key);
      return [key, isValue || (inShape && key === "Capital") ? typeof inner : comparable(inner, inShape)];
    }),
  );
}

async function answers(caller: Caller, reads: readonly Read[], inShape: boolean): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const [name, request] of reads) {
    const { status, body } = await caller.call(name, request);
    all.push([name, request, status, comparable(body, inShape)]);
  }
  return all;
}

/** A recording of requests to a platform: from the typed client, and raw ones. */
const recorded = (platform: Emulator, rows: "shape" | "values"): Promise<RecordingFiles> =>
  recordedOf(platform, rows, async (client, caller) => {
    const rowData = { Code: "XX", Population: 9 };
    const { rowID } = await client.insertmicroapprow({ microAppID: "countries", rowData });
    await client.updatemicroapprow({ rowID, rowData: { Name: "Nowhere" } });
    await client.removemicroapprow({ rowID });
    await client.insertmicroapprows({ microAppID: "currencies", rows: [{ Code: "ABC", Digits: 7 }, { Code: "ABD" }] });
    await client.insertteam({ teamInfo: { _id: "night", organizationID: "acme", name: "Night" } });
    await client.insertteammembers({ teamIDs: ["night"], emails: ["eve@company.org"] });
    await answers(caller, [...orders, ...filters, ["teammembers", { teamIDs: ["night"] }]], false);
  });

describe.each(["values", "shape"] as const)("rows as %s", (rows) => {
  test("an emulator of the seed answers what was read alike", async () => {
    const platform = await opened(createEmulator({ seed }));
    const made = await recorded(platform, rows);
    expect(made.seed + made.facts).not.toMatch(/company\.org|id-of-ada|admin-password|the-api-key/);
    expect(made.finder.kindIn([parse(made.seed), parse(made.facts)])).toBeUndefined();
    parseSeed(made.seed, "platform.yaml");
    const copy = await opened(createEmulator({ seed: parse(made.seed) as SeedInput }));
    const [one, other] = [
      await signIn(platform.url, "root@company.org", "admin-password"),
      await signIn(copy.url, "person-1@example.com", "recorded"),
    ];
    const reads: Read[] = [...orders, ...(rows === "values" ? filters : []), ["teammembers", { teamIDs: ["night"] }]];
    expect(await answers(other, reads, rows === "shape")).toEqual(await answers(one, reads, rows === "shape"));
    expect(made.counts).toMatchObject({ tables: 3, rows: 14, organizations: 1, people: 4 });
  });
});

test("facts name what they made, and leave alone what was there", async () => {
  const platform = await opened(createEmulator({ seed }));
  const { facts } = parse((await recorded(platform, "values")).facts) as {
    facts: Record<string, { steps: { call: string }[] }>;
  };
  const stepsOf = (id: string) => facts[id]?.steps;
  expect(stepsOf("updatemicroapprow: rowID, rowData")).toEqual([
    {
      call: "insertmicroapprow",
      with: { microAppID: "countries", rowData: { Code: "XX", Population: 9 } },
      keep: { row1: "rowID" },
    },
    { call: "updatemicroapprow", with: { rowID: "$row1", rowData: { Name: "Nowhere" } } },
  ]);
  expect(stepsOf("login: email, password")).toEqual([
    expect.objectContaining({ with: { email: "$admin.email", password: "$admin.password" }, volatile: ["authToken"] }),
  ]);
  expect(stepsOf("readteam: teamID (2)")).toEqual([
    { call: "readteam", with: { teamID: "$unknown" }, refused: { status: 404, message: "$text" } },
  ]);
  const calls = Object.values(facts).map(({ steps }) => steps.at(-1)?.call);
  expect(calls.filter((call) => call === "microappdata").length).toBeLessThan(orders.length + filters.length);
});

test("what a known fact asks is not written again", () => {
  const asked = (known: KnownStep[]): string[] => {
    const recording = new Recording({ base: "", labels: [], rows: "values", knownSteps: known });
    recording.take(passing("readteam", { teamID: "crew" }, { status: "failure", message: "No" }, { status: 404 }));
    recording.take(passing("readorganization", { organizationID: "acme" }, { body: { _id: "acme", name: "Acme" } }));
    return Object.keys((parse(recording.made("2026-01-02").facts) as { facts: object }).facts);
  };
  expect(asked([])).toEqual(["readteam: teamID", "readorganization: organizationID"]);
  expect(asked([{ call: "readteam", with: { teamID: "$team" } }])).toHaveLength(2);
  expect(asked([{ call: "readteam", with: {}, each: [{ teamID: "$unknown" }], refused: { status: 404 } }])).toEqual([
    "readorganization: organizationID",
  ]);
});
