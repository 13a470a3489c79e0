import { configuration, configure, secretKeys, type Configuration } from "../configuration/configuration.ts";
import { ConfigurationError } from "../configuration/configurationError.ts";
import { unknownNames } from "../configuration/keys.ts";
import { holdsUnknown, type Properties } from "../properties.ts";
import { pickOwnSettings } from "../providerKinds.ts";
import { details, type Detail } from "./details.ts";
import type { Decoded } from "./wire.ts";

/** True for the URN of a program's own provider, not the one that the configuration makes. */
export function isExplicit(urn: string): boolean {
  const name = urn.split("::").at(-1) ?? "";
  return name !== "" && name !== "default" && !name.startsWith("default_");
}

/** The configuration of a provider from its inputs. */
export const settingsOf = (inputs: Properties, explicit: boolean): Configuration =>
  configure(pickOwnSettings(inputs), process.env, explicit);

/** Finds problems of a provider's inputs; skips values that are not known yet. */
export function problemsOf(inputs: Properties, explicit: boolean): string[] {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const unknown = unknownNames(pickOwnSettings(inputs), configuration.keyof().options, shown);
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

/** Which settings of a provider changed. */
export function listChangedSettings(before: Decoded, after: Decoded): Detail[] {
  const [olds, news] = [pickOwnSettings(before.values), pickOwnSettings(after.values)];
  const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])];
  const changed = names.filter((name) => JSON.stringify(olds[name]) !== JSON.stringify(news[name]));
  return details(olds, news, changed, new Set([...before.secrets, ...after.secrets, ...secretSettings]));
}
