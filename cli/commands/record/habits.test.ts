import { afterAll, expect, test } from "@jest/globals";
import { createEmulator } from "../../../emulator/emulator.ts";
import { habits, type HabitName, type Habits } from "../../../provider/habits/habits.ts";
import { partOf } from "../../../testing/harness/drawn.ts";
import { profileOfLife } from "./testing/life.ts";
import { seed } from "./testing/recorded.ts";

const emulator = await createEmulator({ seed, unref: true });
afterAll(() => emulator.close());

/** The habits that a profile has which was recorded of an emulator with these ones. */
async function habitsRecorded(having: Partial<Habits>): Promise<Partial<Habits>> {
  await emulator.reset();
  emulator.setProfile({ version: 1, habits: having });
  return (await profileOfLife(emulator)).habits;
}

/** Habits that no call of that life shows, or none that may not mean something else. */
const unseen: ReadonlySet<HabitName> = new Set([
  ...(["logoutBy", "keyAlone", "keyNeeded", "unknownTable", "skipForm", "rawRows", "unknownLabels"] as const),
  ...([
    "labelCase",
    "wrongValues",
    "partialBatches",
    "ownParents",
    "parentShown",
    "subRows",
    "childRead",
    "childListBy",
  ] as const),
  ...(["storecopyPath", "uploadPath", "allMembers", "memberID", "teamParameter", "invitations", "enforceBy"] as const),
]);

const deviations = (Object.keys(habits) as HabitName[]).flatMap((name) =>
  habits[name].values.slice(1).map((value): [HabitName, string] => [name, value]),
);

test.each(partOf(deviations, 0))("%s: %s is recorded, and nothing else", async (name, value) => {
  expect(await habitsRecorded({ [name]: value })).toEqual(unseen.has(name) ? {} : { [name]: value });
});

test("a usual platform has none, and one with many has them all, as has an emulator of its profile", async () => {
  expect(await habitsRecorded({})).toEqual({});
  const many: Partial<Habits> = {
    ...{ failureForm: "object", loginEnvelope: "data", successWord: "ok", newIDName: "_id", rowsName: "rows" },
    ...{ numberForm: "text", dateForm: "milliseconds", linkForm: "id", emptyText: "null", submittedForm: "iso" },
    ...{ skip: "ignored", optLimit: "ignored", parentFilter: "ignored", batchInserts: "no", unknownRow: "notFound" },
    ...{ memberPlace: "result", creatorJoins: "no", roleChange: "ignored", chosenIDs: "ignored", cascade: "deletes" },
    ...{ userLookupBy: "post", userLookupEnvelope: "top", unknownThing: "empty", teamNames: "unique" },
  };
  const once = await habitsRecorded(many);
  expect(once).toEqual(many);
  expect(await habitsRecorded(once)).toEqual(many);
});
