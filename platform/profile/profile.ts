import { z } from "zod";
import { generationState } from "../contract/values.ts";

// The ways in which platforms of this interface differ, as far as the specification or public client code names them. A
// profile says which one a platform has; the emulator can have each.

/** One way in which platforms differ. */
export interface Habit {
  /** Possible values; the emulator follows the first unless a profile names another. */
  readonly values: readonly [string, ...string[]];
  /** Subject of the values, as the beginning of a sentence. */
  readonly about: string;
}

const habit = <const Values extends readonly [string, ...string[]]>(about: string, ...values: Values) => ({
  about,
  values,
});

/** Habits that are one of several words, by name. */
export const habits = {
  writeEnvelope: habit("Where a write's new ID stands", "both", "top", "body"),
  creationResult: habit("What `result` of a new organization or team is", "object", "id"),
  failureForm: habit("How a refusal is written", "status", "error"),
  loginEnvelope: habit("Where token and user ID of a login stand", "top", "data"),
  logoutBy: habit("What names the session that a logout ends", "either", "headers", "body"),
  userLookupBy: habit("How userid is asked", "any", "query", "post", "none"),
  skipForm: habit("Which form of `skip` and `limit` counts", "either", "number", "text"),
  childListBy: habit("Where the list of child records takes its parameters", "either", "query", "body"),
  cascade: habit("What deleting an organization with teams does", "refused", "deletes"),
  memberForm: habit("What the list of a team's members holds", "objects", "userIDs"),
  memberPlace: habit("Where the list of a team's members stands", "teamMembers", "body", "result"),
  memberID: habit("What a member is called by", "either", "teamMemberID", "userID"),
  teamParameter: habit("How invitations and lists name their teams", "either", "teamIDs", "teamID"),
  enforceBy: habit("What enforceteammembership names its user by", "either", "email", "userID"),
  appLink: habit("What carries the link of a new app", "text", "body", "link", "url"),
} as const satisfies Record<string, Habit>;

export type HabitName = keyof typeof habits;
export type HabitValue<Name extends HabitName = HabitName> = (typeof habits)[Name]["values"][number];
/** A value for each habit. */
export type Habits = { readonly [Name in HabitName]: HabitValue<Name> };

/** The habits of a platform without a profile. */
export const usualHabits = Object.fromEntries(
  Object.entries(habits).map(([name, { values }]) => [name, values[0]]),
) as unknown as Habits; // keys and values are those of the table

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
