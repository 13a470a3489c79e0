import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { habits, type HabitName } from "../../../provider/habits/habits.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import type { Outcome } from "./outcome.ts";
import { Stand } from "./testing/stand.ts";

// VERIFY_MUTANTS=all tries each value of each habit, VERIFY_MUTANTS=skip,noMatch those of these; otherwise the one that PROPERTY_SEED draws.

const chosen = process.env["VERIFY_MUTANTS"];
const all = (Object.entries(habits) as [HabitName, { values: readonly string[] }][]).flatMap(([name, { values }]) =>
  values.slice(1).map((value) => ({ name, value })),
);
const seed = Number(process.env["PROPERTY_SEED"] ?? 1);
const sample = all.filter((_, index) => index % all.length === (seed * 37) % all.length);
const mutants =
  chosen === "all" ? all : chosen === undefined ? sample : all.filter(({ name }) => chosen.split(",").includes(name));

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());

const deviations = ({ differences }: Outcome): string[] =>
  differences.map(({ habit, fact }) => (habit === null ? `? ${fact}` : `${habit.name}: ${habit.value}`));

const withHabits = (values: Record<string, string>): Parameters<Stand["emulator"]["setProfile"]>[0] => ({
  version: 1,
  habits: values,
});

test.each(mutants)("a platform whose $name is $value is known by it", async ({ name, value }) => {
  stand.emulator.setProfile(withHabits({ [name]: value }));
  const { outcome } = await stand.verify();
  if (!outcome) throw new Error("there is no outcome");
  expect(deviations(outcome)).toEqual([`${name}: ${value}`]);
  expect(outcome.left).toEqual([]);
  expect(stand.differences()).toEqual([]);
  const written: Profile = outcome.profile;
  expect(written.habits).toEqual({ [name]: value });
  stand.emulator.setProfile(written);
  const { outcome: second } = await stand.verify();
  expect(second?.score).toEqual(outcome.score);
});
