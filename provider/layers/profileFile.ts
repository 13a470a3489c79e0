import { resolve } from "node:path";
import { profile, type Profile, type ProfileInput } from "../../platform/profile/profile.ts";
import { checkContent, readChecked } from "./checkedFile.ts";

/**
 * Reads `platform-profile.yaml`, or validates its content; undefined for none. `directory` is the folder of the program
 * that names the file. Throws a FileError, which names each mistake with its place.
 */
export function readProfile(source: string | ProfileInput | undefined, directory?: string): Profile | undefined {
  if (source === undefined) return undefined;
  if (typeof source !== "string") return checkContent(profile, source, () => "profile");
  return readChecked(profile, resolve(directory ?? "", source), "profile", directory);
}
