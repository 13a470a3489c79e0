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
  #known: { of: string; dialect: EmulatedDialect } | undefined;

  /** `overrides` are settings that count more than those that are kept. */
  constructor(overrides: Partial<Settings>) {
    this.#overrides = overrides;
  }

  /** @param otherwise what the emulator does otherwise for a test, over the profile */
  read(database: Database, otherwise: Partial<Switches> = {}): EmulatedDialect {
    const sql = "SELECT key, value FROM meta WHERE key IN ('settings', 'profile')";
    const kept = database.all<{ key: string; value: string }>(sql);
    const of = JSON.stringify([kept, otherwise]);
    if (this.#known?.of === of) return this.#known.dialect;
    const values = new Map(kept.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
    const seen = values.has("profile") ? profile.parse(values.get("profile")) : undefined;
    const own = settings.parse(values.get("settings") ?? {});
    const { memberForm = own.memberForm } = seen?.habits ?? {};
    const all = { ...own, ...seen?.limits, memberForm, ...this.#overrides };
    const dialect = { settings: all, habits: habitsOf(all, seen, otherwise), profile: seen };
    this.#known = { of, dialect };
    return dialect;
  }
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
