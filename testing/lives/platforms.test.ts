import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { switches, type SwitchName } from "../../emulator/data/deviations.ts";
import { messageOf } from "../../machine/failures.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { at } from "../../platform/contract/wire.ts";
import { habits, type HabitName } from "../../platform/profile/profile.ts";
import { isLong, partOf } from "../harness/drawn.ts";
import { allLives, LivingGround, type Variant } from "./ground.ts";

// Platforms that differ: by habits, in answers, and in ways that no habit names. A life on each works as on any other, or is refused with a sentence
// about what to do. What is silently wrong fails a life, which reads the platform itself.

type Faults = NonNullable<Variant["faults"]>;

/** A variant, the lives that meet it, and the sentence of a refusal: undefined where it works. */
interface Lived extends Variant {
  lives: readonly string[];
  refuses?: RegExp;
}

/** The life that makes most use of an endpoint. */
const writing = {
  insertorganization: "Organization",
  updateorganization: "Organization",
  deleteorganization: "Organization",
  insertteam: "Team",
  updateteam: "Team",
  deleteteam: "Team",
  insertteammembers: "TeamRoster",
  updateteammember: "TeamMember",
  deleteteammember: "TeamRoster",
  insertmicroapprow: "SeedRows of texts",
  insertmicroapprows: "SeedRows of texts",
  updatemicroapprow: "SeedRows of texts",
  removemicroapprow: "SeedRows of texts",
  microappchildCreate: "RowFile",
  microappchildUpdate: "RowFile",
  microappchildDelete: "RowFile",
} as const satisfies Partial<Record<EndpointName, string>>;

type Writing = keyof typeof writing;
const writes = Object.keys(writing) as Writing[];
const atFirst = (endpoint: EndpointName, fault: Omit<Faults[number], "endpoint" | "count">): Faults => [
  { ...fault, endpoint, count: 1 },
];
/**
 * Refusals of a platform that takes a write and does nothing. Nothing reads back a notification, the content of a
 * stored file, or an app before its generation.
 */
const lies: { [Name in Writing]?: RegExp } = {
  insertorganization: /was written as \w+, and the platform does not find it there/,
  updateorganization: /was written, and the platform has something else: name is "Acme"/,
  deleteorganization: /organization "Acme & Co" is still there, though/,
  insertteam: /was written as \w+, and the platform does not find it there/,
  updateteam: /was written, and the platform has something else: name is "Crew"/,
  deleteteam: /team "The Crew" is still there, though/,
  insertteammembers: /members of team \w+ are there, but:\nada@example\.com was added and not seen since/,
  updateteammember: /was not given the role admin in team/,
  deleteteammember: /was not removed: the platform answered that it did, and it is in the list/,
  insertmicroapprow: /the platform answered that it inserted the first row .* reading it finds nothing/,
  insertmicroapprows: /10 rows of table places are not there after they were sent/,
  updatemicroapprow: /24 rows of table places are as declared, but:\nrows\[0\] "P00"/,
  removemicroapprow: /24 rows of table places are as declared, but:\n1 row .*still there/,
  microappchildCreate: /the platform answered that it has the record .* its list does not/,
  microappchildUpdate: /the platform kept another record than it was sent/,
  microappchildDelete: /of row \w+ is still there, though/,
};

const late: { faults: Faults; consistencySeconds: number } = {
  faults: [{ kind: "late", milliseconds: 250 }],
  consistencySeconds: 1.5,
};
const lost = (endpoint: EndpointName): Faults => atFirst(endpoint, { kind: "reset", commit: true });

const rows = ["SeedRows of texts"];
const subRows = ["SeedRows of rows"];
const hidden = /does not show below which row .*\nThe first row was tried alone: it was taken away again/s;
const limits = { maximumLimit: 10, maximumBatch: 10 };

const named: Readonly<Record<string, Lived>> = {
  "new things are found late": { ...late, lives: ["Organization", "TeamRoster", "SeedRows"] },
  "new things are found late, and members are listed by user IDs": {
    ...{ ...late, habits: { memberForm: "userIDs" }, lives: ["TeamMember", "TeamRoster"] },
  },
  "new things are found late, and a batch does not tell how many rows it inserted": {
    ...{ ...late, habits: { insertedCount: "absent" }, lives: rows },
  },
  "new things are found late, and answers are lost": {
    ...late,
    faults: [
      ...late.faults,
      ...(["insertmicroapprows", "insertorganization", "insertmicroapprow"] as const).flatMap(lost),
    ],
    lives: [...rows, "Organization"],
  },
  "one row in an answer": { limits: { maximumLimit: 1, maximumBatch: 10 }, isUnknown: true, lives: rows },
  "three rows in an answer": { limits: { maximumLimit: 3, maximumBatch: 10 }, isUnknown: true, lives: rows },
  "one row in a batch": { limits: { maximumLimit: 10, maximumBatch: 1 }, isUnknown: true, lives: rows },
  "three rows in a batch": { limits: { maximumLimit: 10, maximumBatch: 3 }, isUnknown: true, lives: rows },
  "one row without a limit": { limits: { ...limits, defaultLimit: 1 }, isUnknown: true, lives: rows },
  "dates at midnight": {
    faults: [{ kind: "otherForms", forms: ["midnight"] }],
    lives: ["SeedRows of dates"],
    refuses: /types: \{Since: date\}/,
  },
  "numbers as texts": {
    faults: [{ kind: "otherForms", forms: ["numberAsText"] }],
    lives: ["SeedRows of numbers"],
    refuses: /types: \{Count: number\}/,
  },
  "texts trimmed": {
    faults: [{ kind: "otherForms", forms: ["trimmed"] }],
    lives: rows,
  },
  "a session that ends between calls": {
    faults: [{ kind: "expiredToken", after: 2, count: 1 }],
    lives: ["Team", "TeamRoster", ...rows],
  },
  "a slow platform": { faults: [{ kind: "slow", milliseconds: 5 }], lives: ["Team", ...rows] },
};

/** Sub-tables whose rows can't be told apart by their parents: nothing stays there of what a run sent. */
const subTables: Readonly<Record<string, Lived>> = {
  "parents are not shown": { habits: { parentShown: "no" }, isUnknown: true, lives: subRows, refuses: hidden },
  "rows are found by their parents alone": {
    ...{ habits: { subRows: "byParent" }, isUnknown: true, lives: subRows, refuses: hidden },
  },
  "parents are not shown, and no filter is taken": {
    ...{ habits: { parentShown: "no", viewFilters: "refused" }, isUnknown: true, lives: subRows, refuses: hidden },
  },
};

/** Each call that changes something, and is answered and not done. */
const idle = writes.flatMap((endpoint): [string, Lived][] => {
  const refuses = lies[endpoint];
  const faults: Faults = [{ kind: "keepsPart", endpoint }];
  return refuses ? [[`${endpoint} does nothing`, { lives: [writing[endpoint]], faults, refuses }]] : [];
});

let ground: LivingGround;
beforeAll(async () => (ground = await LivingGround.open()));
afterAll(() => ground.close());

test.each([...Object.entries(named), ...Object.entries(subTables), ...idle])(
  "%s",
  async (_, { lives, refuses, ...variant }) => {
    for (const type of isLong && variant === late ? Object.keys(allLives) : lives) {
      const ended = await ground.lives(type, variant).then(
        () => "works",
        (error: unknown) => messageOf(error),
      );
      expect([type, ended]).toEqual([type, refuses === undefined ? "works" : expect.stringMatching(refuses)]);
    }
  },
);

/** The life that a habit concerns most; with DEVIATIONS=all a deviation meets every one. */
const concerned: Readonly<Record<string, string>> = {
  Team: "writeEnvelope loginEnvelope logoutBy teamNames nullDescription unknownDelete",
  Organization: "creationResult failureForm failureStatus chosenIDs unknownThing createdAt cascade",
  TeamRoster: "userLookupBy memberAgain creatorJoins",
  "SeedRows of texts": "unknownTable skipForm rowOrder viewFilters emptyText insertedCount partialBatches",
  SeedRows: "unknownRow updateUnknownRow removeUnknownRow",
  "SeedRows of rows": "parentShown subRows",
  "SeedRows of numbers": "wrongValues",
  "SeedRows without links": "linkNull",
  "SeedRows of viewers": "viewers",
  RowFile: "childRead childListBy",
  TeamMember: "memberForm memberPlace memberAddress memberID teamParameter invitations enforceBy roleChange",
  Notification: "defaultChannel notificationValues",
  GeneratedApp: "appLink",
};

const othersOf = <Name extends SwitchName>(names: readonly Name[]) =>
  names.flatMap((name) => switches[name].values.slice(1).map((value) => [name, value] as const));

test("every life is lived on a platform as it is specified", async () => {
  for (const type of Object.keys(allLives)) await ground.lives(type, {});
});

const typesFor = (name: SwitchName): readonly string[] =>
  Object.keys(allLives).filter(
    (life) => process.env["DEVIATIONS"] === "all" || concerned[life]?.split(" ").includes(name),
  );

/** Habits of which a profile tells that the platform can't be asked for something, and the life that is refused. */
const refusedByHabit: Readonly<Record<string, readonly [type: string, says: RegExp]>> = {
  "cascade: deletes": ["Organization", /this platform deletes an organization with all of its teams \(cascade\)/],
  "userLookupBy: none": ["SeedRows of viewers", /can't be looked up, so name the user's ID/],
};

test.each(partOf(othersOf(Object.keys(habits) as HabitName[]), 0))("with a profile of %s: %s", async (name, value) => {
  const [refused = "", says] = refusedByHabit[`${name}: ${value}`] ?? [];
  for (const type of new Set([...typesFor(name), ...(says ? [refused] : [])])) {
    const living = ground.lives(type, { habits: { [name]: value } });
    if (says && type === refused) await expect(living).rejects.toThrow(says);
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
  viewers: /the platform did not keep viewers of the row, .* it was taken away again/s,
  chosenIDs: /Info\._id: IDs can't be chosen here/,
  nullDescription: /description is "[^"]+", not empty\. Declare what the platform keeps/,
  roleChange: /Declare the role that the platform keeps|roles can't be changed/,
  notificationValues: /otherwise than it is declared: without its message/,
};

/** The first notification goes out before anybody can know: `notification.test.ts` has its warning. */
const unforeseen = othersOf((Object.keys(switches) as SwitchName[]).filter((name) => name !== "defaultChannel"));

test("each habit is met by a life", () => {
  expect(Object.keys(switches).filter((name) => typesFor(name as SwitchName).length === 0)).toEqual([]);
});

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
