import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { switches, type SwitchName } from "../../emulator/data/deviations.ts";
import { messageOf } from "../../machine/failures.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { at } from "../../platform/contract/wire.ts";
import { habits, type HabitName } from "../../platform/profile/habits.ts";
import { sampleOf, partOf } from "../harness/drawn.ts";
import { allLives, LivingGround } from "./living.ts";

let ground: LivingGround;
beforeAll(async () => (ground = await LivingGround.open()));
afterAll(() => ground.close());

/** The lives that a habit concerns most, of which `make test` takes the first; with DEVIATIONS=all a deviation meets every one. */
const concerned: { [Name in SwitchName]: readonly string[] } = {
  writeEnvelope: ["Team", "SeedRows", "RowFile"],
  creationResult: ["Organization", "Team"],
  failureForm: ["Organization", "TeamMember", "SeedRows"],
  failureStatus: ["Organization", "TeamMember", "SeedRows"],
  loginEnvelope: ["Team"],
  logoutBy: ["Team"],
  userLookupBy: ["TeamRoster"],
  unknownTable: ["SeedRows of texts", "SeedRows"],
  unknownRow: ["SeedRows", "RowFile"],
  skip: ["SeedRows of texts", "SeedRows of rows"],
  skipForm: ["SeedRows of texts"],
  optLimit: ["SeedRows of texts"],
  rowOrder: ["SeedRows of texts"],
  viewSort: ["SeedRows of texts"],
  searchFilters: ["SeedRows of texts", "RowFile"],
  viewFilters: ["SeedRows of texts", "RowFile"],
  rangeFilters: ["SeedRows of texts", "RowFile"],
  parentShown: ["SeedRows of rows"],
  subRows: ["SeedRows of rows"],
  linkForm: ["SeedRows of links", "SeedRows without links"],
  unknownLabels: ["SeedRows of texts", "SeedRows of rows"],
  labelCase: ["SeedRows of texts"],
  wrongValues: ["SeedRows of numbers"],
  linkNull: ["SeedRows without links", "SeedRows of links"],
  emptyText: ["SeedRows of texts"],
  batchInserts: ["SeedRows of texts", "SeedRows of rows", "SeedRows"],
  insertedCount: ["SeedRows of texts"],
  partialBatches: ["SeedRows of texts"],
  ownParents: ["SeedRows of rows"],
  updateUnknownRow: ["SeedRows"],
  removeUnknownRow: ["SeedRows"],
  childRead: ["RowFile"],
  childListBy: ["RowFile"],
  chosenIDs: ["Organization", "Team"],
  organizationNames: ["Organization"],
  teamNames: ["Team"],
  nullDescription: ["Team", "Organization"],
  unknownDelete: ["Team", "Organization", "TeamMember", "TeamRoster"],
  unknownThing: ["Organization", "Team"],
  createdAt: ["Organization", "Team"],
  cascade: ["Organization", "Team"],
  allMembers: ["Organization", "TeamMember"],
  memberForm: ["TeamMember", "TeamRoster"],
  memberPlace: ["TeamMember", "TeamRoster"],
  memberAddress: ["TeamMember", "TeamRoster"],
  memberAgain: ["TeamRoster", "TeamMember"],
  creatorJoins: ["TeamRoster", "TeamMember"],
  memberID: ["TeamMember", "TeamRoster"],
  teamParameter: ["TeamMember", "TeamRoster"],
  invitations: ["TeamMember", "TeamRoster"],
  enforceBy: ["TeamMember"],
  roleChange: ["TeamMember", "TeamRoster"],
  defaultChannel: ["Notification"],
  appLink: ["GeneratedApp"],
  notificationValues: ["Notification"],
};

const othersOf = <Name extends SwitchName>(names: readonly Name[]) =>
  names.flatMap((name) => switches[name].values.slice(1).map((value) => [name, value] as const));

test("every life is lived on a platform as it is specified", async () => {
  for (const type of Object.keys(allLives)) await ground.lives(type, {});
});

const typesFor = (name: SwitchName): readonly string[] =>
  process.env["DEVIATIONS"] === "all" ? Object.keys(allLives) : sampleOf(concerned[name], 1);

/** Habits of which a profile tells that the platform can't be asked for something. */
const refusedByHabit: { [Name in HabitName]?: RegExp } = {
  cascade: /this platform deletes an organization with all of its teams \(cascade\)/,
};

test.each(partOf(othersOf(Object.keys(habits) as HabitName[]), 0))("with a profile of %s: %s", async (name, value) => {
  for (const type of new Set([...typesFor(name), ...(refusedByHabit[name] ? ["Organization"] : [])])) {
    const living = ground.lives(type, { habits: { [name]: value } });
    const refusal = type === "Organization" ? refusedByHabit[name] : undefined;
    if (refusal) await expect(living).rejects.toThrow(refusal);
    else await living;
  }
});

/** What a life says that is refused on a platform that differs, where no profile tells so. Every other one is lived. */
const refusedUnknown: { [Name in SwitchName]?: RegExp } = {
  userLookupBy: /declare userID in its place|userid: email is required/,
  memberID: /teamMemberID, or teamID with userID, is required/,
  teamParameter: /teamIDs is required/,
  viewFilters: /optViewFilters: this platform takes none/,
  linkNull: /kept a value under "Of", which was set to nothing: clear it by hand/,
  parentShown: /does not show below which row .*it was taken away again/s,
  subRows: /does not show below which row .*it was taken away again/s,
  ownParents: /embeddingRowID is required, because spots is a sub-table/,
  batchInserts: /Rows are inserted one by one here/,
  chosenIDs: /Info\._id: IDs can't be chosen here/,
  nullDescription: /description is "[^"]+", not empty\. Declare what the platform keeps/,
  roleChange: /Declare the role that the platform keeps|roles can't be changed/,
  notificationValues: /otherwise than it is declared: without its message/,
};

/** The first notification goes out before anybody can know: `notification.test.ts` has its warning. */
const unforeseen = othersOf((Object.keys(switches) as SwitchName[]).filter((name) => name !== "defaultChannel"));

test.each(partOf(unforeseen, 0, 9))("without a profile, %s: %s", async (name, value) => {
  for (const type of typesFor(name)) {
    const ended = await ground.lives(type, { habits: { [name]: value }, isUnknown: true }).then(
      () => "works",
      (error: unknown) => messageOf(error),
    );
    const refusal = refusedUnknown[name];
    if (ended !== "works") expect([type, ended]).toEqual([type, expect.stringMatching(refusal ?? /^works$/)]);
  }
});

const ok = { status: "ok" };
const inResult = (answer: unknown): unknown => ({ result: at(answer, "body") });

/** Answers in forms that nothing names: the lives that meet them. */
const unknownAnswers: readonly [EndpointName, type: string, (answer: unknown) => unknown][] = [
  ["login", "Team", (answer) => ({ token: at(answer, "authToken") })],
  ["insertorganization", "Organization", (answer) => ({ status: "success", organization: at(answer, "body") })],
  ["updateorganization", "Organization", () => ({ error: 403, reason: "no" })],
  ["deleteorganization", "Organization", () => ({ success: false })],
  ["readorganization", "Organization", inResult],
  ["insertteam", "Team", () => ({ status: "success", result: 7 })],
  ["readteam", "Team", (answer) => ({ body: { team: at(answer, "body") } })],
  ["insertteammembers", "TeamMember", () => ok],
  ["insertteammembers", "TeamRoster", () => ok],
  ["teammembers", "TeamRoster", (answer) => ({ body: { userIDs: at(answer, "body.teamMembers") } })],
  ["updateteammember", "TeamMember", () => ok],
  ["deleteteammember", "TeamRoster", () => ok],
  ["microappdata", "SeedRows of texts", (answer) => ({ body: { rows: at(answer, "body.microAppRows") } })],
  ["microappdata", "SeedRows of rows", inResult],
  ["insertmicroapprow", "SeedRows of texts", (answer) => ({ status: "success", _id: at(answer, "rowID") })],
  ["insertmicroapprows", "SeedRows of texts", () => ok],
  ["updatemicroapprow", "SeedRows of texts", () => ok],
  ["removemicroapprow", "SeedRows of texts", () => "gone"],
  ["microappchildCreate", "RowFile", (answer) => ({ status: "success", id: at(answer, "childID") })],
  ["microappchildList", "RowFile", (answer) => at(answer, "body.childItems")],
  ["createappwithprompt", "GeneratedApp", () => ({ appID: "a1" })],
  ["createappwithpromptStatus", "GeneratedApp", inResult],
];

test.each(partOf(unknownAnswers, 0, 4))("an answer of %s in no known form stops a %s", async (name, type, answer) => {
  const living = ground.lives(type, { answers: { [name]: answer } });
  await expect(living).rejects.toThrow(/The answer is not as documented: it has .*, and .* was expected/);
  const [first, ...more] = ground.since;
  const isWrite = (each: EndpointName): boolean => endpoints[each].effect !== "read" && each !== "logout";
  expect([first, more.filter(isWrite)]).toEqual([name, []]);
});
