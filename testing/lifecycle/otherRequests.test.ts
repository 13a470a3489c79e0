import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { messageOf } from "../../machine/failures.ts";
import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import { isLong } from "../harness/drawn.ts";
import { allLives, LivingGround, type Variant } from "./living.ts";

// Platforms that take parameters by other names than the documented ones, or numeric IDs as numbers alone. A life works
// there without them, or is refused with a sentence that names what can't be sent. `make test` lives every eighth.

let ground: LivingGround;
beforeAll(async () => (ground = await LivingGround.open()));
afterAll(() => ground.close());

const form =
  /parameters by other names or in other places than the documented ones: no setting of this package sends that/;
const numbers = /numbers as IDs and no texts: no setting of this package sends that/;
const texts = "SeedRows of texts";

/** Parameters that come by another name: the lives that meet that, with their refusal or that they work. */
const named: Readonly<Record<string, Record<string, RegExp | "works">>> = {
  microAppID: { [texts]: form },
  rowID: { [texts]: form, "SeedRows of rows": form },
  rowData: { [texts]: /otherrowData is required/ },
  rows: { [texts]: "works", "SeedRows of links": "works" },
  embeddingRowID: { "SeedRows of rows": form },
  searchFilter: { [texts]: "works" },
  limit: { [texts]: "works" },
  skip: { [texts]: "works" },
  order: { [texts]: "works" },
  optLimit: { [texts]: "works" },
  optViewSort: { [texts]: "works" },
  optViewFilters: { [texts]: "works", "SeedRows of rows": "works", RowFile: "works" },
  optSearchFilters: { [texts]: "works", RowFile: "works" },
  organizationInfo: { Organization: form },
  teamInfo: { Team: form },
  organizationID: { Organization: form, Team: form },
  teamID: { Team: form, TeamMember: /habits\.memberID/ },
  teamIDs: { TeamMember: form, TeamRoster: form },
  emails: { TeamMember: /must name someone/, TeamRoster: /must name someone/ },
  userIDs: { TeamMember: "works", TeamRoster: "works" },
  userID: { TeamMember: /habits\.memberID/, TeamRoster: "works" },
  teamMemberID: { TeamMember: "works", TeamRoster: "works" },
  role: { TeamMember: form, TeamRoster: form },
  name: { Organization: form, Team: form },
  description: { Organization: /something else: description is empty/, Team: /something else: description is empty/ },
  _id: { Organization: "works", Team: "works" },
  appID: { RowFile: form, Notification: form, GeneratedApp: form },
  fieldID: { RowFile: form },
  content: { RowFile: form },
  childID: { RowFile: form },
  microAppResourceID: { RowFile: form },
  filename: { RowFile: /kept another record than it was sent: filename/ },
  size: { RowFile: /kept another record than it was sent: size/ },
  url: { RowFile: form },
  resourceID: { RowFile: form, [texts]: "works" },
  email: { Notification: form },
  message: { Notification: /sent the notification .* otherwise than it is declared: without its message/ },
  channel: { Notification: /otherwise than it is declared: channel is "default", not push/ },
  badgeCount: { Notification: /otherwise than it is declared: badgeCount is null, not 3/ },
  userEmail: { GeneratedApp: form },
  appPrompt: { GeneratedApp: form },
};

async function endOf(type: string, variant: Variant): Promise<string> {
  return ground.lives(type, { ...variant, isUnknown: true }).then(
    () => "works",
    (error: unknown) => messageOf(error),
  );
}

const afterLogin = (Object.keys(endpoints) as EndpointName[]).filter((name) => name !== "login");

test.each(Object.entries(named).filter((_, index) => isLong || index % 8 === 0))(
  "%s comes by another name",
  async (name, lives) => {
    const names = { [name]: `other${name}` };
    for (const [type, expected] of Object.entries(lives)) {
      const ended = await endOf(type, { faults: [{ kind: "otherRequests", names, endpoint: afterLogin }] });
      expect([type, ended]).toEqual([type, expected === "works" ? "works" : expect.stringMatching(expected)]);
    }
  },
);

/** Lives in which the platform is sent no ID that it gave: those of names that are chosen. */
const withoutIDs = ["Organization", "Team", "Notification"];
const withIDs = Object.keys(allLives).filter((type) => !withoutIDs.includes(type));

test.each(isLong ? withIDs : withIDs.slice(0, 1))("numeric IDs are taken as numbers alone: %s", async (type) => {
  const habits = { idForm: "number" } as const;
  expect(await endOf(type, { habits, faults: [{ kind: "otherRequests" }] })).toMatch(numbers);
});

const unfound = /not found|was written as|does not find|there is no|no record|toMatchObject/i;
test.each(isLong ? withIDs : withIDs.slice(0, 1))("numeric IDs that come as texts find nothing: %s", async (type) => {
  const habits = { idForm: "number" } as const;
  expect(await endOf(type, { habits, faults: [{ kind: "otherRequests", textIDs: "unknown" }] })).toMatch(unfound);
});

test.each(["Organization", "Team"])("a new numeric ID that finds nothing as text: %s", async (type) => {
  const habits = { idForm: "number", chosenIDs: "ignored" } as const;
  const ended = await endOf(type, { habits, faults: [{ kind: "otherRequests", textIDs: "unknown" }] });
  expect(ended).toMatch(/was written as \w+, and the platform does not find it there/);
});
