import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { liveWithEngine, usualLife } from "../../cli/commands/verify/testing/engineLife.ts";
import { Stand } from "../../cli/commands/verify/testing/stand.ts";
import { habits, type HabitName } from "../../provider/habits/habits.ts";

// A whole life with the engine on each platform that nobody has run verify on: it comes to what it comes to on any
// other, or `up` is refused with what to set.

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());
afterEach(() => stand.emulator.restoreSnapshot("before"));

const named = (habit: HabitName): RegExp => new RegExp(`microapps verify.* microapps:profile .*habits\\.${habit}\\)`);

/** Refusals of an unknown platform, each with what to declare or set. No other life is refused. */
const refuses: { [Name in HabitName]?: RegExp } = {
  userLookupBy: named("userLookupBy"),
  viewFilters: named("viewFilters"),
  childListBy: named("childListBy"),
  chosenIDs: named("chosenIDs"),
  nullDescription: /description is "[^"]+", not empty\. Declare what the platform keeps/,
  memberID: named("memberID"),
  teamParameter: named("teamParameter"),
};

const deviations = (Object.keys(habits) as HabitName[]).flatMap((name) =>
  habits[name].values.slice(1).map((value): [HabitName, string] => [name, value]),
);

test.each(deviations)("an engine lives with %s: %s, and nothing stays", async (name, value) => {
  const platform = { version: 1, habits: { [name]: value } } as const;
  const life = await liveWithEngine(stand, { platform });
  const refusal = refuses[name];
  if ("refused" in life && refusal) expect(life.refused).toMatch(refusal);
  else expect(life).toEqual(usualLife(platform));
  expect(stand.differences()).toEqual([]);
});
