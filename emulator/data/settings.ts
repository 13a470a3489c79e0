import { profile, type Profile } from "../../platform/profile/profile.ts";
import { settings, type Settings } from "../../platform/seed/schema.ts";
import type { Database } from "./database.ts";
import { usualSwitches, type Switches } from "./deviations.ts";

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
