import { z } from "zod";
import { habits, usualHabits, type Habits } from "../../provider/habits/habits.ts";
import { profile, type Profile } from "../../provider/habits/profile.ts";
import type { Database } from "./database.ts";

/** Server settings of an operator. Every default is assumed. */
export const settings = z.strictObject({
  defaultLimit: z.int().min(1).default(1000).describe("Rows that a read answers when it names no limit."),
  maximumLimit: z.int().min(1).default(100_000).describe("Most rows that one read answers."),
  maximumBatch: z.int().min(1).optional().describe("Most rows that one insert takes; 10,000 when it is left out."),
  license: z.boolean().default(true).describe("Whether apps may be generated."),
  generationSeconds: z.number().min(0).default(1.5).describe("How long the generation of an app takes."),
  failingPrompts: z.string().min(1).optional().describe("Generations whose prompt contains this text fail."),
  memberForm: z.enum(habits.memberForm.values).default("objects").describe("What teammembers answers."),
  appServer: z.string().min(1).default("https://apps.example.com").describe("Address in the links to apps."),
  keyAlone: z
    .boolean()
    .default(false)
    .describe("Whether createappwithprompt takes the key without a token, as known clients send it."),
  userLookup: z.boolean().default(true).describe("Whether userid is enabled."),
  tokenSeconds: z.number().positive().optional().describe("Lifetime of a token; without it tokens do not expire."),
  strict: z.boolean().default(true).describe("Refuse values that do not fit a field's type."),
  allowedHosts: z.array(z.string().min(1)).default([]).describe("Hosts that files may be downloaded from."),
  visibleAfter: z.number().min(0).max(60).default(0).describe("Seconds until what was made is found by other calls."),
  maximumFileBytes: z.int().min(1).default(25_000_000).describe("Largest file that is downloaded."),
});

export type Settings = z.output<typeof settings>;

/** How a platform behaves. */
export interface EmulatedDialect {
  settings: Settings;
  /** Exactly `usualHabits` where the platform has no other. */
  habits: Habits;
  profile: Profile | undefined;
}

/** Reads how the platform behaves. What is kept is parsed once for as long as nobody changes it. */
export class DialectReader {
  readonly #overrides: Partial<Settings>;
  #known: { kept: Kept; own: Settings; profile: Profile | undefined } | undefined;
  #habits: { of: string; habits: Habits } | undefined;

  /** `overrides` are settings that count more than those that are kept. */
  constructor(overrides: Partial<Settings>) {
    this.#overrides = overrides;
  }

  read(database: Database): EmulatedDialect {
    const kept = database.one<Kept>(
      `SELECT (SELECT value FROM meta WHERE key = 'settings') AS settings,
              (SELECT value FROM meta WHERE key = 'profile') AS profile`,
    ) ?? { settings: null, profile: null };
    if (kept.settings !== this.#known?.kept.settings || kept.profile !== this.#known.kept.profile) {
      const seen = kept.profile === null ? undefined : profile.parse(JSON.parse(kept.profile));
      const own = settings.parse(kept.settings === null ? {} : JSON.parse(kept.settings));
      this.#known = { kept, own: { ...own, ...settingsIn(seen) }, profile: seen };
      this.#habits = undefined;
    }
    const all = { ...this.#known.own, ...this.#overrides };
    const of = `${all.memberForm} ${all.keyAlone} ${all.strict}`;
    if (this.#habits?.of !== of) this.#habits = { of, habits: habitsOf(all, this.#known.profile) };
    return { settings: all, habits: this.#habits.habits, profile: this.#known.profile };
  }
}

/** Texts of the data file. */
interface Kept {
  settings: string | null;
  profile: string | null;
}

/** Settings that a profile fixes. */
function settingsIn(seen: Profile | undefined): Partial<Settings> {
  const { memberForm, keyAlone } = seen?.habits ?? {};
  return {
    ...seen?.limits,
    ...(memberForm === undefined ? {} : { memberForm }),
    ...(keyAlone === undefined ? {} : { keyAlone: keyAlone === "yes" }),
  };
}

/** The habits of a profile, beside those that are settings. */
function habitsOf({ memberForm, keyAlone, strict }: Settings, seen: Profile | undefined): Habits {
  const all: Habits = {
    ...usualHabits,
    ...(strict ? {} : { wrongValues: "kept" }),
    ...seen?.habits,
    memberForm,
    keyAlone: keyAlone ? "yes" : "no",
  };
  const isUsual = (Object.keys(usualHabits) as (keyof Habits)[]).every((name) => all[name] === usualHabits[name]);
  return isUsual ? usualHabits : all;
}

export function writeSettings(database: Database, value: Settings): void {
  database.run("INSERT OR REPLACE INTO meta VALUES ('settings', ?)", JSON.stringify(value));
}

/** Keeps a profile in place of the one that is there, or none. */
export function writeProfile(database: Database, value: Profile | undefined): void {
  if (value) database.run("INSERT OR REPLACE INTO meta VALUES ('profile', ?)", JSON.stringify(value));
  else database.run("DELETE FROM meta WHERE key = 'profile'");
}
