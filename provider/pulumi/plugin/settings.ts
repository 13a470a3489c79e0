import type { Problem } from "../../resources/resource.ts";
import { clearSecrets } from "../clear.ts";
import { configuration, configure, misplacedSecrets, secretKeys, type Configuration } from "../configuration.ts";
import { ConfigurationError } from "../configurationError.ts";
import { unknownNames } from "../keys.ts";
import { holdsUnknown, type Properties } from "../properties.ts";

/** Whether the provider with this URN is one of the program's, and not the one that the configuration makes. */
export function isExplicit(urn: string): boolean {
  const name = urn.split("::").at(-1) ?? "";
  return name !== "" && name !== "default" && !name.startsWith("default_");
}

/** The configuration of a provider from its inputs. */
export const settingsOf = (inputs: Properties, explicit: boolean): Configuration =>
  configure(inputs, process.env, explicit);

/** What is wrong with the inputs of a provider; what is not known yet is not judged. `secrets` are names of inputs. */
export function problemsOf(inputs: Properties, explicit: boolean, secrets: ReadonlySet<string>): Problem[] {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const unknown = unknownNames(inputs, configuration.keyof().options, shown);
  // No property is named: an engine prints the value of one that is, which may be a secret under a mistyped key.
  if (unknown.length > 0)
    return unknown.map(({ key, reason }) => ({ property: "", reason: `${shown(key)} ${reason}` }));
  const misplaced = misplacedSecrets((key) => secrets.has(key));
  if (misplaced !== undefined) return [{ property: "", reason: misplaced }];
  if (holdsUnknown(inputs)) return [];
  try {
    settingsOf(inputs, explicit);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [{ property: "", reason: error.message }];
  }
}

/** Names of the secrets of a configuration. */
export const secretSettings: ReadonlySet<string> = new Set(secretKeys);

/** Secrets of the stack's configuration that stand in clear there. */
export function inClear(inputs: Properties, secrets: ReadonlySet<string>): string[] {
  return clearSecrets(inputs, (key) => secrets.has(key));
}
