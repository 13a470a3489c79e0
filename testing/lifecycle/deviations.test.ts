import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { messageOf } from "../../machine/failures.ts";
import { habits, type HabitName } from "../../provider/habits/habits.ts";
import { sampleOf, partOf } from "../harness/drawn.ts";
import { allLives, LivingGround } from "./living.ts";

let ground: LivingGround;
beforeAll(async () => (ground = await LivingGround.open()));
afterAll(() => ground.close());

/** The lives that a habit concerns most, of which `make test` takes the first; with DEVIATIONS=all a deviation meets every one. */
const concerned: { [Name in HabitName]: readonly string[] } = {
  writeEnvelope: ["Team", "SeedRows", "RowFile"],
  readEnvelope: ["Team", "TeamMember", "SeedRows of links", "RowFile"],
  creationResult: ["Organization", "Team"],
  failureForm: ["Organization", "TeamMember", "SeedRows"],
  failureStatus: ["Organization", "TeamMember", "SeedRows"],
  idForm: ["SeedRows of links", "SeedRows of rows", "Team", "TeamRoster", "RowFile"],
  newIDName: ["SeedRows of texts", "RowFile"],
  successWord: ["Organization", "SeedRows"],
  loginEnvelope: ["Team"],
  logoutBy: ["Team"],
  userLookupBy: ["TeamRoster"],
  userLookupEnvelope: ["TeamRoster"],
  keyAlone: ["GeneratedApp"],
  keyNeeded: ["GeneratedApp"],
  rowsName: ["SeedRows of texts"],
  unknownTable: ["SeedRows of texts", "SeedRows"],
  noMatch: ["SeedRows", "SeedRows of texts"],
  unknownRow: ["SeedRows", "RowFile"],
  skip: ["SeedRows of texts", "SeedRows of rows"],
  skipForm: ["SeedRows of texts"],
  optLimit: ["SeedRows of texts"],
  order: ["SeedRows of texts"],
  rowOrder: ["SeedRows of texts"],
  viewSort: ["SeedRows of texts"],
  searchFilters: ["SeedRows of texts", "RowFile"],
  viewFilters: ["SeedRows of texts", "RowFile"],
  rangeFilters: ["SeedRows of texts", "RowFile"],
  parentFilter: ["SeedRows of rows"],
  parentShown: ["SeedRows of rows"],
  subRows: ["SeedRows of rows"],
  rawRows: ["SeedRows of texts"],
  linkForm: ["SeedRows of links", "SeedRows without links"],
  numberForm: ["SeedRows of numbers", "SeedRows of texts"],
  dateForm: ["SeedRows of dates", "SeedRows of texts"],
  emptyViewers: ["SeedRows of texts", "SeedRows"],
  submittedForm: ["SeedRows of texts"],
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
  storecopyPath: ["RowFile"],
  uploadPath: ["RowFile"],
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
  enforceBy: [],
  roleChange: ["TeamMember", "TeamRoster"],
  defaultChannel: ["Notification"],
  appLink: ["GeneratedApp"],
  appStatus: ["GeneratedApp"],
  attachments: ["GeneratedApp"],
};

/** Habits without a remedy: the lives that are refused, by name. All others go on as on any platform. */
const refuses: { [Name in HabitName]?: Record<string, RegExp> } = {
  numberForm: { "SeedRows of numbers": /Count is a number, which this platform reads back as text \(numberForm\)/ },
  dateForm: { "SeedRows of dates": /Since is a date, which this platform reads back as a number of milliseconds/ },
  linkNull: { "SeedRows without links": /this platform keeps a link that is set to nothing \(linkNull\): Of/ },
  cascade: { Organization: /this platform deletes an organization with all of its teams \(cascade\)/ },
  roleChange: {
    TeamMember: /this platform does not change roles \(roleChange\)/,
    TeamRoster: /this platform does not change roles \(roleChange\)/,
  },
  defaultChannel: { Notification: /this platform sends no push message .* \(defaultChannel\)/ },
};

const deviations = (Object.keys(habits) as HabitName[]).flatMap((name) =>
  habits[name].values.slice(1).map((value) => [name, value] as const),
);

test("every life is lived without a deviation", async () => {
  for (const type of Object.keys(allLives)) await ground.lives(type, {});
});

test.each(partOf(deviations, 0))("lives with %s: %s", async (name, value) => {
  const own = [...sampleOf(concerned[name], 1), ...Object.keys(refuses[name] ?? {})];
  const types = process.env["DEVIATIONS"] === "all" ? Object.keys(allLives) : new Set(own);
  for (const type of types) {
    const living = ground.lives(type, { habits: { [name]: value } });
    const refusal = refuses[name]?.[type];
    if (refusal) await expect(living).rejects.toThrow(refusal);
    else await living;
  }
});

/** Refusals of lives on platforms that nobody has run verify on, each with what to set. No other life is refused. */
const named = (habit: HabitName): RegExp => new RegExp(`microapps verify.* microapps:profile .*habits\\.${habit}\\)`);
const unknowns: { [Name in HabitName]?: RegExp } = {
  userLookupBy: named("userLookupBy"),
  viewFilters: named("viewFilters"),
  numberForm: /declare types: \{Count: number\}/,
  dateForm: /declare types: \{Since: date\}/,
  linkNull: /kept a value under "Of", which was set to nothing: clear it by hand/,
  childListBy: named("childListBy"),
  uploadPath: /set wireNames: \{"uploadFileToStore": "<its name>"\}/,
  chosenIDs: named("chosenIDs"),
  nullDescription: /description is "[^"]+", not empty\. Declare what the platform keeps/,
  memberID: named("memberID"),
  teamParameter: named("teamParameter"),
  enforceBy: named("enforceBy"),
  roleChange: /Declare the role that the platform keeps|habits\.roleChange\)/,
  attachments: named("attachments"),
};

/** Without a profile the first notification is sent before anybody knows: a warning names the channel to declare. */
const unforeseen = deviations.filter(([name]) => name !== "defaultChannel");

test.each(partOf(unforeseen, 0, 9))("lives with %s: %s without a profile", async (name, value) => {
  for (const type of sampleOf(concerned[name], 1)) {
    const refusal = unknowns[name];
    const living = ground.lives(type, { habits: { [name]: value }, isUnknown: true });
    const ended = await living.then(
      () => "works",
      (error: unknown) => messageOf(error),
    );
    if (ended !== "works") expect([type, ended]).toEqual([type, expect.stringMatching(refusal ?? /^works$/)]);
  }
});
