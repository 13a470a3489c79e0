import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { habits, type HabitName } from "../../../provider/habits/habits.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import { meaningOf } from "./meaning.ts";
import type { VerifyOutcome } from "./outcome.ts";
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

const deviations = ({ differences }: VerifyOutcome): string[] =>
  differences.map(({ habit, fact }) => (habit === null ? `? ${fact}` : `${habit.name}: ${habit.value}`));

/** The answer without texts, which hold the mark of the run. */
const endsOf = (outcome: VerifyOutcome | undefined): unknown => [
  outcome?.answer.works,
  outcome?.answer.missing.map(({ resource }) => resource),
  outcome?.answer.resources.map(({ resource, status }) => [resource, status]),
];

const withHabits = (values: Record<string, string>): Parameters<Stand["emulator"]["setProfile"]>[0] => ({
  version: 1,
  habits: values,
});

test.each(mutants)("a platform whose $name is $value is known by it, and its profile works", async (mutant) => {
  const { name, value } = mutant;
  stand.emulator.setProfile(withHabits({ [name]: value }));
  const profile = "platform-profile.yaml";
  const { status, outcome } = await stand.verify({ writeProfile: profile, force: true });
  if (!outcome) throw new Error("there is no outcome");
  expect(deviations(outcome)).toEqual([`${name}: ${value}`]);
  expect(outcome.left).toEqual([]);
  expect(stand.differences()).toEqual([]);
  const written: Profile = outcome.profile;
  expect(written.habits).toEqual({ [name]: value });

  const { by } = meaningOf(name, value).adapts;
  const needs = by === "setting" || by === "declaration";
  expect(outcome.answer.works).toBe(by === "nothing" ? "no" : needs ? "withSettings" : "yes");
  expect(status).toBe(by === "nothing" ? 3 : 0);
  expect(outcome.answer.missing.length > 0).toBe(by === "nothing");

  stand.emulator.setProfile(written);
  const { status: secondStatus, outcome: second } = await stand.verify({ profile });
  expect(second?.score).toEqual(outcome.score);
  expect(second).toMatchObject({ changes: [], left: [] });
  expect(endsOf(second)).toEqual(endsOf(outcome));
  expect(secondStatus).toBe(status);
});
