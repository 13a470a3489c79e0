import { nearest } from "../../../machine/spelling.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Former spellings of keys, which are still read. */
const formerKeys: Readonly<Record<string, string>> = { userId: "userID", door: "providerKind" };
const formerVariables: Readonly<Record<string, string>> = {
  MICROAPPS_ORGANIZATION_ID: "MICROAPPS_ORGANIZATION_I_D",
  MICROAPPS_PROVIDER_KIND: "MICROAPPS_DOOR",
};

/** Keys that an engine or the SDK adds to the configuration of a provider. */
const foreign = ["version", "pluginDownloadURL", "__internal", "explicitProvider"];

/** `userID` → `MICROAPPS_USER_ID`. */
export const variableOf = (key: string): string =>
  `MICROAPPS_${key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`;

/** The variable of a key, by its name or its former one; undefined when it is not set. */
export function readVariable(environment: Environment, key: string): string | undefined {
  const name = variableOf(key);
  return environment[name] ?? environment[formerVariables[name] ?? name];
}

/** The settings with former spellings of their keys replaced. */
export function withPresentKeys(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  const former = entries.flatMap(([key, value]) => {
    const present = formerKeys[key];
    return present === undefined ? [] : [[present, value] as const];
  });
  return { ...Object.fromEntries(former), ...Object.fromEntries(entries) };
}

/** A former spelling, and what is written instead. */
export const former = Object.entries(formerKeys);

/**
 * Describes problems with names of settings: a key or variable that nobody reads would have no effect, such as a
 * mistyped `readOnly`.
 * @param shown a key as the person wrote it
 */
export function unknownNames(
  settings: Readonly<Record<string, unknown>>,
  known: readonly string[],
  shown: (key: string) => string,
): { key: string; reason: string }[] {
  const read = [...known, ...Object.keys(formerKeys), ...foreign];
  return Object.entries(settings).flatMap(([key, value]) => {
    if (read.includes(key) || value === undefined) return [];
    const near = nearest(key, known);
    const remedy = near === undefined ? `there is ${known.join(", ")}` : `did you mean ${shown(near)}?`;
    return [{ key, reason: `is no configuration; ${remedy}` }];
  });
}

/** Variables that are a misspelling of one of `names`, which are read. Others that begin alike may belong to somebody else. */
export function findMisspelled(environment: Environment, names: readonly string[]): string[] {
  const read = [...names, ...Object.values(formerVariables)];
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith("MICROAPPS_") || read.includes(name) || environment[name] === "") return [];
    const bare = (each: string): string => each.slice("MICROAPPS_".length).replaceAll("_", "");
    const near = nearest(bare(name), names.map(bare));
    const meant = names.find((each) => bare(each) === near);
    return meant === undefined ? [] : [`the variable ${name} is not read; did you mean ${meant}?`];
  });
}
