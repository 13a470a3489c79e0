import type { Problem } from "../../resources/resource.ts";
import { configuration, configure, misplacedSecrets, type Configuration } from "../configuration.ts";
import { ConfigurationError } from "../configurationError.ts";
import { factsOf, holdsUnknown, type Properties } from "../properties.ts";

/** What an engine adds to the inputs of a provider. */
const engineKeys = ["version", "pluginDownloadURL", "__internal"];

/** Whether the provider with this URN is one of the program's, and not the one that the configuration makes. */
export function isExplicit(urn: string): boolean {
  const name = urn.split("::").at(-1) ?? "";
  return name !== "" && name !== "default" && !name.startsWith("default_");
}

/** The configuration of a provider from its inputs. */
export const settingsOf = (inputs: Properties, explicit: boolean): Configuration =>
  configure((key) => inputs[key], process.env, explicit);

/** What is wrong with the inputs of a provider; what is not known yet is not judged. `secrets` are names of inputs. */
export function problemsOf(inputs: Properties, explicit: boolean, secrets: ReadonlySet<string>): Problem[] {
  const keys = Object.keys(configuration.shape);
  const unheard = Object.keys(inputs).filter((key) => ![...keys, ...engineKeys].includes(key));
  if (unheard.length > 0) {
    return unheard.map((property) => ({ property, reason: `is no configuration; there is ${keys.join(", ")}` }));
  }
  // No property is named: an engine prints the value of one that is.
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
export const secretSettings: ReadonlySet<string> = new Set(
  Object.entries(configuration.shape).flatMap(([key, schema]) => (factsOf(schema).secret ? [key] : [])),
);
