import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { ask, EngineError, isInteractive, type Terminal } from "../../../engine/index.ts";
import type { FactResult } from "../../../provider/conformance/run.ts";
import { switches, type SwitchName } from "../../../provider/habits/deviations.ts";
import { habits, type HabitName } from "../../../provider/habits/habits.ts";
import { profile, type Profile } from "../../../provider/habits/profile.ts";
import { wordsFact } from "./meaning.ts";

const habitNames = Object.keys(habits) as HabitName[]; // keys of a const object

/** Change of a platform since its profile was written. */
export interface ProfileChange {
  what: string;
  before: string;
  now: string;
}

/** Findings beside habits. */
export interface Seen {
  platform: string;
  /** Milliseconds since the epoch. */
  now: number;
  limits: Profile["limits"];
  wireNames: Profile["wireNames"];
}

/** The value of each habit that was seen; a deviation counts more than a fact that saw none. */
export function habitsSeen(results: readonly FactResult[]): Map<SwitchName, string> {
  const seen = new Map<SwitchName, string>();
  for (const { habit } of results) {
    if (!habit) continue;
    const usual = switches[habit.name].values[0];
    if (!seen.has(habit.name) || seen.get(habit.name) === usual) seen.set(habit.name, habit.value);
  }
  return seen;
}

/** The findings as a profile. Untried habits are taken from an earlier profile, if there is one. */
export function profileOf(
  results: readonly FactResult[],
  { platform, now, limits, wireNames }: Seen,
  earlier?: Profile,
): Profile {
  const seen = habitsSeen(results);
  const differing = habitNames.flatMap((name) => {
    const value = seen.get(name) ?? earlier?.habits[name];
    return value === undefined || value === habits[name].values[0] ? [] : [[name, value] as const];
  });
  const names = {
    ...earlier?.wireNames,
    ...(seen.get("storecopyPath") === "s3copy" ? { storecopy: "s3copy" } : {}),
    ...(seen.get("uploadPath") === "uploadFileToS3" ? { uploadFileToStore: "uploadFileToS3" } : {}),
    ...wireNames,
  };
  return profile.parse({
    version: 1,
    platform,
    seenAt: new Date(now).toISOString().slice(0, 10),
    habits: Object.fromEntries(differing),
    limits: { ...earlier?.limits, ...limits },
    wireNames: names,
    statusWords: { ...unknownWords(results), ...earlier?.statusWords },
  });
}

/** Words of which only the operator knows more than that the client takes them for pending. */
function unknownWords(results: readonly FactResult[]): Profile["statusWords"] {
  const found = results.find(({ fact, status }) => fact.id === wordsFact && status === "failed");
  const isWord = found?.status === "failed" && found.path === "status" && typeof found.seen === "string";
  return isWord ? { [String(found.seen)]: "pending" } : {};
}

/** Changes from an earlier profile, among the tried facts. */
export function changesSince(
  earlier: Profile,
  results: readonly FactResult[],
  limits: Profile["limits"],
): ProfileChange[] {
  const changes: ProfileChange[] = [...habitsSeen(results)].map(([name, now]) => ({
    what: name,
    before: (earlier.habits as Record<string, string>)[name] ?? switches[name].values[0],
    now,
  }));
  for (const [what, now] of Object.entries(limits)) {
    const before = earlier.limits[what as keyof typeof limits];
    changes.push({ what, before: before === undefined ? "not known" : String(before), now: String(now) });
  }
  return changes.filter(({ before, now }) => before !== now);
}

/** The text of a profile: the same for the same content. */
export function yamlOf({ version, platform, seenAt, habits: values, limits, wireNames, statusWords }: Profile): string {
  const named = (value: object): object | undefined => (Object.keys(value).length === 0 ? undefined : value);
  const sorted = (value: object): object =>
    Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const content = {
    version,
    platform,
    seenAt,
    habits: named(values),
    limits: named(sorted(limits)),
    wireNames: named(sorted(wireNames)),
    statusWords: named(sorted(statusWords)),
  };
  return `# How this platform was seen to behave, by 'microapps verify --write-profile'.\n${stringify(content)}`;
}

/**
 * Writes a profile; an existing one is changed only after a person's consent, or with --force. Returns the outcome as
 * text.
 */
export async function writeProfile(
  file: string,
  written: Profile,
  terminal: Terminal,
  { force = false, nonInteractive = false }: { force?: boolean; nonInteractive?: boolean },
): Promise<string> {
  const text = yamlOf(written);
  const name = path.basename(file);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new EngineError(`${name} is a link or no file, and nothing is written there`);
  if (found) {
    const earlier = readFileSync(file, "utf8");
    if (withoutDate(earlier) === withoutDate(text)) return `${name} says the same already, and stays as it is.`;
    if (!force) {
      const refusal = `${name} is there and says something else: it stays as it is; --force writes over it`;
      if (!isInteractive(terminal, nonInteractive)) throw new EngineError(refusal);
      if ((await ask(terminal, `${name} is there and says something else. Write over it?`, ["yes", "no"])) === "no") {
        return `${name} stays as it is.`;
      }
    }
  }
  await writeWhole(file, text, found !== undefined);
  return `Wrote ${name}.`;
}

/** Writes a file for its owner alone, as a whole or not at all. */
async function writeWhole(file: string, text: string, mayReplace: boolean): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const part = `${file}.${randomBytes(6).toString("hex")}.part`;
  try {
    const handle = await open(part, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await (mayReplace ? rename(part, file) : link(part, file));
  } finally {
    await rm(part, { force: true });
  }
}

const withoutDate = (text: string): string => text.replace(/^seenAt: .*$/m, "");
