import { z } from "zod";
import { profile, type Profile } from "../../platform/profile/profile.ts";
import type { Database } from "./database.ts";
import { switches, usualSwitches, type Switches } from "./deviations.ts";

/** Server settings of an operator. Every default is assumed. */
export const settings = z.strictObject({
  defaultLimit: z.int().min(1).default(1000).describe("Rows that a read answers when it names no limit."),
  maximumLimit: z.int().min(1).default(100_000).describe("Most rows that one read answers."),
  maximumBatch: z.int().min(1).optional().describe("Most rows that one insert takes; 10,000 when it is left out."),
  license: z.boolean().default(true).describe("Whether apps may be generated."),
  generationSeconds: z.number().min(0).default(1.5).describe("How long the generation of an app takes."),
  failingPrompts: z.string().min(1).optional().describe("Generations whose prompt contains this text fail."),
  memberForm: z.enum(switches.memberForm.values).default("objects").describe("What teammembers answers."),
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
  /** Exactly `usualSwitches` where the platform has no other. */
  habits: Switches;
  profile: Profile | undefined;
}

/** Reads how the platform behaves. What is kept is parsed once for as long as nobody changes it. */
export class DialectReader {
  readonly #overrides: Partial<Settings>;
  #known: { kept: Kept; own: Settings; profile: Profile | undefined } | undefined;
  #habits: { of: string; habits: Switches } | undefined;

  /** `overrides` are settings that count more than those that are kept. */
  constructor(overrides: Partial<Settings>) {
    this.#overrides = overrides;
  }

  /** @param otherwise what the emulator does otherwise for a test, over the profile */
  read(database: Database, otherwise: Partial<Switches> = {}): EmulatedDialect {
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
    const of = JSON.stringify([all.memberForm, all.strict, otherwise]);
    if (this.#habits?.of !== of) this.#habits = { of, habits: habitsOf(all, this.#known.profile, otherwise) };
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
  const { memberForm } = seen?.habits ?? {};
  return {
    ...seen?.limits,
    ...(memberForm === undefined ? {} : { memberForm }),
  };
}

/** The habits of a profile, beside those that are settings. */
function habitsOf({ memberForm, strict }: Settings, seen: Profile | undefined, otherwise: Partial<Switches>): Switches {
  const all: Switches = {
    ...usualSwitches,
    ...(strict ? {} : { wrongValues: "kept" }),
    ...seen?.habits,
    memberForm,
    ...otherwise,
  };
  const isUsual = (Object.keys(usualSwitches) as (keyof Switches)[]).every((name) => all[name] === usualSwitches[name]);
  return isUsual ? usualSwitches : all;
}

export function writeSettings(database: Database, value: Settings): void {
  database.run("INSERT OR REPLACE INTO meta VALUES ('settings', ?)", JSON.stringify(value));
}

/** Keeps a profile in place of the one that is there, or none. */
export function writeProfile(database: Database, value: Profile | undefined): void {
  if (value) database.run("INSERT OR REPLACE INTO meta VALUES ('profile', ?)", JSON.stringify(value));
  else database.run("DELETE FROM meta WHERE key = 'profile'");
}
