import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { Fact } from "../../../provider/conformance/fact.ts";
import { loadFacts } from "../../../provider/conformance/load.ts";
import type { HabitName } from "../../../provider/habits/habits.ts";
import { drawnFrom, partOf, testInLong } from "../../../testing/harness/drawn.ts";
import { answerOf } from "./answer.ts";
import type { VerifyOutcome } from "./outcome.ts";
import { parts, type RehearsedPart } from "./rehearsal/parts.ts";
import { liveWithEngine, usualLife } from "./testing/engineLife.ts";
import { Stand } from "./testing/stand.ts";

// Strictness of `up`, one by one: verify finds it, its profile makes a second verify and a run work, or it names
// what is missing. Nothing stays in either case.

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());
afterEach(() => {
  stand.emulator.setFaults();
  stand.emulator.setProfile();
  expect(stand.differences()).toEqual([]);
});

const about = (...names: HabitName[]): Fact[] =>
  loadFacts().filter(({ habit }) => habit !== undefined && names.includes(habit));
const named = (...names: string[]): RehearsedPart[] => parts.filter(({ name }) => names.includes(name));
const lacks = (outcome: VerifyOutcome | undefined): string[] | undefined =>
  outcome?.answer.missing.map(({ resource, why }) => `${resource}: ${why}`);
const profile = "platform-profile.yaml";
const containing = (text: string): unknown => expect.stringContaining(text);

testInLong(
  "an order that changes: one answer has all rows, and a table of several answers is missing by name",
  async () => {
    const habits = { viewSort: "ignored", rowOrder: "changing" } as const;
    const work = { facts: about("rowOrder"), parts: named("rows") };
    stand.emulator.setProfile({ version: 1, habits });
    const { status, outcome } = await stand.verify({ writeProfile: profile, force: true }, work);
    expect([status, outcome?.profile.habits, lacks(outcome)]).toEqual([0, { rowOrder: "changing" }, []]);
    expect(await stand.verify({ profile }, work)).toMatchObject({ status: 0, outcome: { changes: [] } });

    stand.emulator.setProfile({ version: 1, habits, limits: { maximumLimit: 7 } });
    const other = await stand.verify({}, work);
    expect(other).toMatchObject({ status: 3, outcome: { left: [] } });
    expect(lacks(other.outcome)).toEqual([containing("The rows of table bed-currencies can't be read page by page")]);
  },
);

test("a batch that keeps a part is a limit of batches, with which rows arrive, and no limit of reads", async () => {
  stand.emulator.setFaults({ faults: [{ kind: "keepsPart", endpoint: "insertmicroapprows", rows: 5 }] });
  const work = { facts: [], parts: named("rows") };
  const { status, outcome } = await stand.verify({ writeProfile: profile, force: true }, work);
  expect([status, outcome?.profile.limits, lacks(outcome)]).toEqual([0, { maximumBatch: 5 }, []]);
  expect(await stand.verify({ profile }, work)).toMatchObject({ status: 0, outcome: { changes: [] } });
});

testInLong("userid that is switched off is no other way of asking", async () => {
  stand.emulator.setProfile({ version: 1, habits: { userLookupBy: "none" } });
  const work = { facts: about("userLookupBy", "memberAddress"), parts: named("Crew", "Support", "member", "roster") };
  const { status, outcome } = await stand.verify({ writeProfile: profile, force: true }, work);
  expect([status, outcome?.profile.habits, lacks(outcome)]).toEqual([0, { userLookupBy: "none" }, []]);
  expect(outcome?.answer.settings).toMatchObject([
    { text: "Declare userID in place of getUserID, which refuses without." },
  ]);
  expect(await stand.verify({ profile }, work)).toMatchObject({ status: 0, outcome: { changes: [] } });

  stand.emulator.setProfile({ version: 1, habits: { userLookupBy: "none", memberAddress: "no" } });
  const other = await stand.verify({}, work);
  expect(other.status).toBe(3);
  expect(lacks(other.outcome)).toEqual([containing("TeamRoster: ")]);
});

test("a value that comes back otherwise is named with its label", async () => {
  stand.emulator.setFaults({ faults: [{ kind: "otherForms", forms: ["checkboxAsText"] }] });
  const { status, outcome } = await stand.verify({}, { facts: [], parts: named("values") });
  expect(status).toBe(3);
  expect(lacks(outcome)).toEqual([containing('gave back "old,new" in "Tags", where ["old","new"] was sent')]);
});

/** Habits one by one: the parts that meet each, and what its profile needs or lacks. */
const oneByOne: [HabitName, string, string[], ("yes" | "withSettings" | "no")?][] = [
  ["batchInserts", "no", ["rows"]],
  ["rowsName", "none", ["rows"]],
  ["idForm", "number", ["rows", "Crew"]],
  ["newIDName", "_id", ["rows"]],
  ["emptyText", "null", ["values"]],
  ["emptyViewers", "absent", ["rows"]],
  ["unknownTable", "empty", ["rows"]],
  ["parentShown", "no", ["rows", "values", "children"]],
  ["subRows", "byParent", ["rows", "values", "children"]],
  ["failureForm", "number", ["Crew"]],
  ["failureForm", "flag", ["Crew"]],
  ["unknownDelete", "success", ["Crew"]],
  ["teamNames", "unique", ["Crew"]],
  ["nullDescription", "ignored", ["Crew"], "withSettings"],
  ["memberAgain", "refused", ["Crew", "member"]],
  ["creatorJoins", "no", ["Support", "roster"]],
  ["memberForm", "userIDs", ["Crew", "member"]],
  ["memberForm", "users", ["Support", "roster"]],
  ["viewFilters", "refused", ["rows"], "withSettings"],
  ["chosenIDs", "refused", ["Crew"], "withSettings"],
  ["teamParameter", "teamID", ["Crew", "member"], "withSettings"],
  ["roleChange", "ignored", ["Crew", "administrator"], "no"],
];
const some = partOf(oneByOne, 0, 16);
/** Those with whose profile an engine lives as well: one in `make test`. */
const living = drawnFrom(some, "engine").map(([name, value]) => `${name} ${value}`);

test.each(some)("%s: %s is found, its profile works, and nothing stays", async (name, value, names, works = "yes") => {
  stand.emulator.setProfile({ version: 1, habits: { [name]: value } });
  const work = { facts: about(name), parts: named(...names) };
  const status = works === "no" ? 3 : 0;
  const found = await stand.verify({ writeProfile: profile, force: true }, work);
  expect(found).toMatchObject({
    status,
    outcome: { answer: { works }, left: [], profile: { habits: { [name]: value } } },
  });
  const again = await stand.verify({ profile }, work);
  expect(again).toMatchObject({ status, outcome: { changes: [], left: [] } });
  if (!living.includes(`${name} ${value}`)) return;
  const platform = { version: 1, habits: { [name]: value } } as const;
  const life = await liveWithEngine(stand, { platform, profile, role: works === "no" ? "admin" : "member" });
  if (works === "no") expect(life).toEqual({ refused: expect.stringContaining(`(${name})`) });
  else expect(life).toEqual(usualLife(platform));
});

test("things that are found late are waited for, and the profile says how long", async () => {
  stand.emulator.setProfile({ version: 1, limits: { visibleAfter: 0.4 } });
  const work = {
    facts: about("noMatch", "unknownRow", "chosenIDs"),
    parts: named("rows", "Crew", "Support", "roster"),
  };
  const { status, outcome } = await stand.verify({ writeProfile: profile, force: true }, work);
  expect([status, outcome?.profile.habits, lacks(outcome)]).toEqual([0, {}, []]);
  expect(outcome?.profile.limits).toEqual({ visibleAfter: 1 });
  expect(await stand.verify({ profile }, work)).toMatchObject({ status: 0, outcome: { answer: { works: "yes" } } });
});

test("a platform that shows things later than a run waits needs a setting", () => {
  const found = { limits: { visibleAfter: 10 }, statusWords: {} };
  const answer = (more: object) => answerOf([], [], { found, known: undefined, isWritten: false, ...more });
  expect(answer({})).toMatchObject({
    works: "no",
    settings: [{ text: "microapps config set microapps:consistencySeconds 20", isMet: false }],
  });
  expect(answer({ isWritten: true }).works).toBe("withSettings");
  expect(answer({ consistencySeconds: 20 }).works).toBe("withSettings");
});
