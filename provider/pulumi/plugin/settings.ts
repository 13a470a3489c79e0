import { configuration, configure, secretKeys, type Configuration } from "../configuration/configuration.ts";
import { ConfigurationError } from "../configuration/configurationError.ts";
import { unknownNames } from "../configuration/keys.ts";
import { holdsUnknown, type Properties } from "../properties.ts";

/** Whether the provider with this URN is one of the program's, and not the one that the configuration makes. */
export function isExplicit(urn: string): boolean {
  const name = urn.split("::").at(-1) ?? "";
  return name !== "" && name !== "default" && !name.startsWith("default_");
}

/** The configuration of a provider from its inputs. `pulumi do` sends null for what is not set. */
export function settingsOf(inputs: Properties, explicit: boolean): Configuration {
  const set = Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null));
  return configure(set, process.env, explicit);
}

/** Finds problems of a provider's inputs; skips values that are not known yet. */
export function problemsOf(inputs: Properties, explicit: boolean): string[] {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const unknown = unknownNames(inputs, configuration.keyof().options, shown);
  if (unknown.length > 0) return unknown.map(({ key, reason }) => `${shown(key)} ${reason}`);
  if (holdsUnknown(inputs)) return [];
  try {
    settingsOf(inputs, explicit);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [error.message];
  }
}

/** Names of the secrets of a configuration. */
export const secretSettings: ReadonlySet<string> = new Set(secretKeys);
