import { z } from "zod";
import { generationState } from "../contract/apps.ts";
import { habits, usualHabits, type HabitName, type Habits, type HabitValue } from "./habits.ts";

/** Limits of a platform that differ from one to the next. */
const limits = z.strictObject({
  defaultLimit: z.int().min(1).optional().describe("Rows that a read answers when it names no limit."),
  maximumLimit: z.int().min(1).optional().describe("Most rows that one read answers."),
  maximumBatch: z.int().min(1).optional().describe("Most rows that one insert takes."),
  visibleAfter: z.number().min(0).max(60).optional().describe("Seconds until what was made is found by other calls."),
});

const habitValues = z.strictObject(
  Object.fromEntries(
    Object.entries(habits).map(([name, { values, about }]) => [name, z.enum(values).optional().describe(`${about}.`)]),
  ) as unknown as { [Name in HabitName]: z.ZodOptional<z.ZodType<HabitValue<Name>>> }, // fromEntries forgets the pairs
);

/** A name on the wire: of a parameter, or the last part of a path. */
export const wireName = z.string().regex(/^[\w-]+$/, "must consist of letters, digits, underscores and hyphens");

/** `platform-profile.yaml`: how one platform was seen to behave. Everything may be left out. */
export const profile = z.strictObject({
  version: z.literal(1),
  platform: z.string().optional().describe("Where it was seen: an address without credentials."),
  seenAt: z.string().optional().describe("When, as an ISO 8601 date."),
  habits: habitValues.default({}).describe("What differs from the usual."),
  limits: limits.default({}),
  wireNames: z.record(z.string(), wireName).default({}).describe("Names that are spelled otherwise on the wire."),
  statusWords: z.record(z.string(), generationState).default({}).describe("Words for the state of a generation."),
});

export type Profile = z.output<typeof profile>;
/** A profile as people write it; every part but the version may be left out. */
export type ProfileInput = z.input<typeof profile>;

/** Known behaviour of a platform. */
export interface Dialect extends Pick<Profile, "limits" | "statusWords"> {
  habits: Habits;
}

/** Completes a profile with the usual habits. */
export const completeDialect = ({ habits, limits = {}, statusWords = {} }: Partial<Profile> = {}): Dialect => ({
  habits: { ...usualHabits, ...habits },
  limits,
  statusWords,
});
