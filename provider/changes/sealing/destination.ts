import { maxMegabytesOfLayer, readText } from "../../files/files.ts";
import { addressOf } from "../../pulumi/binding.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import { contentOf } from "../base/projectFlags.ts";

/** Platform and account of a run, as far as variables, environment list or stack have them in clear. */
export function destinationOf(
  { stack, endpoint }: EnvironmentEntry,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): { endpoint: string | null; account: string | null } {
  const settings = settingsIn(folder, `Pulumi.${stack}.yaml`);
  const clear = (key: string, variable: string): string | null => {
    const value = environment[variable] || settings[`microapps:${key}`] || settings[`microapps:config:${key}`];
    return typeof value === "string" ? value : null;
  };
  const address = endpoint ?? clear("endpoint", "MICROAPPS_ENDPOINT");
  return {
    endpoint: address === null ? null : addressOf(address),
    account: clear("email", "MICROAPPS_EMAIL") ?? clear("userID", "MICROAPPS_USER_ID"),
  };
}

function settingsIn(folder: string, file: string): Record<string, unknown> {
  try {
    const { config } = contentOf(readText(folder, file, maxMegabytesOfLayer));
    return typeof config === "object" && config !== null ? { ...config } : {};
  } catch {
    return {}; // there is none, or none that can be read
  }
}
