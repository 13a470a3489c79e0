import { expect, test } from "@jest/globals";
import { functions } from "../../../provider/functions/functions.ts";
import { habits, type HabitName } from "../../../provider/habits/habits.ts";
import { configuration } from "../../../provider/pulumi/configuration/configuration.ts";
import { resources } from "../../../provider/resources/resources.ts";
import { adaptionText, meaningOf, meanings } from "./meaning.ts";

const all = (Object.keys(habits) as HabitName[]).flatMap((name) =>
  habits[name].values.map((value) => [name, value] as const),
);
const known = [...Object.values(resources), ...Object.values(functions)].map(({ name }) => name);

test("every habit has a meaning, and no other", () => {
  expect(Object.keys(meanings)).toEqual(Object.keys(habits));
});

test.each(all)("what %s %s means is said in a sentence, and what adapts exists", (name, value) => {
  const { affects, adapts } = meaningOf(name, value);
  expect(affects).toMatch(/^\w[^.]+$/);
  expect(adaptionText(adapts, habits[name].values.length)).toMatch(
    /^(The client takes (both|all) forms by itself\.|No resource and no function depends on it\.|Nothing adapts: \w+ refuses by name\.|Declare [^.]+ of \w+, which refuses without\.|microapps config set microapps:\w+ '[^']+')$/,
  );
  if (adapts.by === "setting") expect(Object.keys(configuration.shape)).toContain(adapts.setting);
  if (adapts.by === "nothing") expect(known).toContain(adapts.refuses);
  if (value === habits[name].values[0]) expect(adapts.by).toBe("client");
  const exceptions = Object.keys(meanings[name].except ?? {});
  expect(exceptions.filter((each) => !(habits[name].values as readonly string[]).includes(each))).toEqual([]);
});
