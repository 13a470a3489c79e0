import { FileError } from "../../../provider/layers/checkedFile.ts";
import { readProfile } from "../../../provider/layers/profileFile.ts";
import type { Note } from "../model/changeSet.ts";
import { settingIn, describeSetting } from "./projectFlags.ts";

/** A profile on one side: its name beside Pulumi.yaml, undefined for none, and the folder of that side. */
export interface SidedProfile {
  name: string | undefined;
  folder: string;
}

/** The profile that the text of Pulumi.<stack>.yaml names in clear. */
export function profileIn(text: string | undefined): string | undefined {
  const name = settingIn(text, "profile");
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Flags for changes in a profile, through the files that it extends: it decides how calls are sent. */
export function profileFlags(before: SidedProfile, after: SidedProfile): Note[] {
  const place = after.name ?? before.name;
  if (place === undefined) return [];
  const [was, is] = [contentOf(before), contentOf(after)];
  if (!was && !is) return [];
  if (!was || !is) {
    const text = `${place} can't be read${is ? " at the base" : ""}, and it decides how calls are sent`;
    return [{ text, place }];
  }
  const keys = [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  return keys.map((key) => ({
    text: `${key} of ${place} changes from ${describeSetting(was.get(key))} to ${describeSetting(is.get(key))}: it decides how calls are sent`,
    place,
  }));
}

/**
 * The content of a profile, by path; undefined for one that can't be read. Place and time of the observation do not
 * count.
 */
function contentOf({ name, folder }: SidedProfile): Map<string, unknown> | undefined {
  try {
    const { habits = {}, limits = {}, wireNames = {}, statusWords = {} } = readProfile(name, folder) ?? {};
    const parts = Object.entries({ habits, limits, wireNames, statusWords });
    return new Map(
      parts.flatMap(([part, values]) =>
        Object.entries(values).map(([key, value]): [string, unknown] => [`${part}.${key}`, value]),
      ),
    );
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}
