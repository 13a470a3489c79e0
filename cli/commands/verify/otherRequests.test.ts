import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { FaultPlan } from "../../../emulator/platform/faults.ts";
import { endpoints, type EndpointName } from "../../../provider/contract/endpoints.ts";
import { isLong, partOf, sampleOf } from "../../../testing/harness/drawn.ts";
import { Stand, type Ended } from "./testing/stand.ts";

// Platforms that take requests in none of the documented forms: verify ends with 3 and names what can't work, or with 0
// where the product does without.

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());
afterEach(async () => {
  stand.emulator.setFaults();
  stand.emulator.setProfile();
  await stand.emulator.restoreSnapshot("before");
});

const all = (Object.keys(endpoints) as EndpointName[]).filter((name) => name !== "login");
type Other = NonNullable<FaultPlan["faults"]>[number];

/** Runs verify where requests are taken otherwise; an error of the run has its status and message. */
async function tried(other: Partial<Other>): Promise<Pick<Ended, "status" | "outcome" | "errors"> & { why?: string }> {
  stand.emulator.setFaults({ faults: [{ endpoint: all, ...other, kind: "otherRequests" }] });
  return stand.verify().catch((error: unknown) => {
    const { status, message, errors } = error as { status: number; message: string; errors: string }; // an EngineError
    return { status, outcome: undefined, errors, why: message };
  });
}

const adapted = ["rows", "searchFilter", "limit", "skip", "order", "optLimit", "optViewSort", "optViewFilters"];
const works = isLong ? [...adapted, "optSearchFilters", "teamMemberID"] : adapted.slice(0, 1);

test.each(works)("without %s it works", async (name) => {
  const { outcome } = await tried({ names: { [name]: "another" } });
  expect([outcome?.answer.missing, outcome?.left]).toEqual([[], []]);
});

const lacking: [name: string, ...resources: string[]][] = [
  ["message", "Notification"],
  ["channel", "Notification"],
  ["badgeCount", "Notification"],
  ["appID", "RowFile", "AppReadiness and getAppStatus", "Notification"],
  ["content", "RowFile"],
  ["size", "RowFile"],
  ["url", "RowFile that stores its file"],
  ["userIDs", "TeamMember"],
  ["emails", "TeamRoster", "TeamMember"],
  ["teamInfo", "Team", "Team with adminID"],
  ["description", "Organization", "Team"],
  ["adminID", "Organization with adminID", "Team with adminID"],
  ["userEmail", "GeneratedApp"],
  ["appPrompt", "GeneratedApp"],
];

test.each(sampleOf(lacking, 1))("without %s it names %s", async (name, ...resources) => {
  const { status, outcome } = await tried({ names: { [name]: "another" } });
  expect(status).toBe(3);
  expect(new Set(outcome?.answer.missing.map(({ resource }) => resource))).toEqual(new Set(resources));
  expect(outcome?.left).toEqual([]);
});

const removals: [name: string, kind: string, resource: string][] = [
  ["childID", "child", "RowFile"],
  ["rowID", "row", "SeedRows"],
  ["teamID", "team", "Team"],
];

test.each(sampleOf(removals, 1))("without %s it names what it leaves: %s, and %s", async (name, kind, resource) => {
  const { status, outcome } = await tried({ names: { [name]: "another" } });
  const { left = [], answer } = outcome ?? {};
  expect([status, left.some((each) => each.kind === kind)]).toEqual([3, true]);
  expect(answer?.missing.map((each) => each.resource)).toContain(resource);
});

test("a call that does not keep to an organization is UserTeams' lack", async () => {
  const { status, outcome } = await tried({ names: { organizationID: "x" }, endpoint: "enforceteammembership" });
  expect([status, outcome?.answer.missing.map(({ resource }) => resource)]).toEqual([
    3,
    ["UserTeams with organizationID"],
  ]);
});

const unfit: [name: string, theirs: string, why: RegExp][] = [
  ["organizationInfo", "organization", /Organization and Team can't work .*organization is required/],
  [
    "microAppID",
    "tableID",
    /^nothing else was tried: SeedRows, RowFile and getRows can't work .*tableID is required\. If/,
  ],
  [
    "rowData",
    "data",
    /SeedRows, RowFile and getRows can't work .*data is required\. If this platform takes parameters by/,
  ],
  ["embeddingRowID", "parentRowID", /SeedRows of a sub-table can't work .*parentRowID is required/],
  ["organizationID", "orgID", /Organization and Team can't work .*orgID is required/],
];

test.each(partOf(unfit, 0))(
  "with %s as %s nothing else is tried, and it names what can't work",
  async (name, theirs, why) => {
    const { status, why: seen, errors } = await tried({ names: { [name]: theirs } });
    expect([status, seen]).toEqual([3, expect.stringMatching(why)]);
    expect(errors.includes("Left on the platform: ")).toBe(stand.differences().length > 0);
  },
);

test("numbers as IDs and no texts: rows of a sub-table can't work, and what can't be removed is named", async () => {
  stand.emulator.setProfile({ version: 1, habits: { idForm: "number" } });
  const { status, why, errors } = await tried({});
  expect([status, why]).toEqual([3, expect.stringMatching(/SeedRows of a sub-table can't work .*numbers as IDs/)]);
  expect(errors).toContain("Left on the platform: row");
});
