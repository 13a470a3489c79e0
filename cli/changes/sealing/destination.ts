import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";
import { addressOf } from "../../../provider/pulumi/binding.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import { inFolder, projectFilesOf } from "../base/projectFiles.ts";
import { settingIn } from "../base/projectFlags.ts";

/** Platform, account and profile of a run, as far as variables, environment list or stack have them in clear. */
export async function destinationOf(
  { stack, endpoint }: EnvironmentEntry,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ endpoint: string | null; account: string | null; profile: string | null }> {
  const files = await projectFilesOf(inFolder(folder), stack);
  const text = textIfAny(folder, files.stack, maxMegabytesOfLayer);
  const clear = (key: string, variable: string): string | null => {
    const value = environment[variable] || settingIn(text, key);
    return typeof value === "string" ? value : null;
  };
  const address = endpoint ?? clear("endpoint", "MICROAPPS_ENDPOINT");
  return {
    endpoint: address === null ? null : addressOf(address),
    account: clear("email", "MICROAPPS_EMAIL") ?? clear("userID", "MICROAPPS_USER_ID"),
    profile: clear("profile", "MICROAPPS_PROFILE"),
  };
}
