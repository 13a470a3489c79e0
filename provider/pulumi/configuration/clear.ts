import { secretKeys } from "./configuration.ts";

/**
 * Secrets that stand in clear in the configuration of a stack. The password of an emulator that a provider starts for
 * itself guards nothing.
 * @param isSecret whether the configuration has the key encrypted
 */
export function clearSecrets(
  settings: Readonly<Record<string, unknown>>,
  isSecret: (key: string) => boolean,
): string[] {
  const { endpoint } = settings;
  if (typeof endpoint === "string" && endpoint.startsWith("emulator:")) return [];
  return secretKeys.filter((key) => settings[key] !== undefined && settings[key] !== "" && !isSecret(key));
}

/** The warning about such a key. */
export const clearWarning = (key: string): string =>
  `microapps:${key} stands in clear in the configuration of the stack: encrypt it with ` +
  `'pulumi config set --secret microapps:${key}' (or 'microapps config set --secret microapps:${key}')`;
