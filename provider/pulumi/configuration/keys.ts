import { answerRemoved } from "../../../machine/removed.ts";
import { nearest } from "../../../machine/spelling.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Keys that an engine or the SDK adds to the configuration of a provider. */
const foreign = ["version", "pluginDownloadURL", "__internal", "explicitProvider"];

/** `userID` → `MICROAPPS_USER_ID`. */
export const variableOf = (key: string): string =>
  `MICROAPPS_${key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`;

/** The variable of a key; undefined when it is not set. */
export const readVariable = (environment: Environment, key: string): string | undefined => environment[variableOf(key)];

/** Settings without those that are gone: a state still has them, of which nobody needs anything. */
export const withoutRemoved = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => answerRemoved("settings", key) === undefined));

/** The sentences about variables that are gone. */
export const listRemoved = (environment: Environment): string[] =>
  Object.keys(environment).flatMap((name) =>
    environment[name] && name.startsWith("MICROAPPS_") ? (answerRemoved("settings", name) ?? []) : [],
  );

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
  const read = [...known, ...foreign];
  return Object.entries(settings).flatMap(([key, value]) => {
    if (read.includes(key) || value === undefined) return [];
    const gone = answerRemoved("settings", key);
    if (gone !== undefined) return [{ key, reason: gone }];
    const near = nearest(key, known);
    const remedy = near === undefined ? `there is ${known.join(", ")}` : `did you mean ${shown(near)}?`;
    return [{ key, reason: `is no configuration; ${remedy}` }];
  });
}

/** Variables that are a misspelling of one of `names`, which are read. Others that begin alike may belong to somebody else. */
export function findMisspelled(environment: Environment, names: readonly string[]): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith("MICROAPPS_") || names.includes(name) || environment[name] === "") return [];
    if (answerRemoved("settings", name) !== undefined) return [];
    const bare = (each: string): string => each.slice("MICROAPPS_".length).replaceAll("_", "");
    const near = nearest(bare(name), names.map(bare));
    const meant = names.find((each) => bare(each) === near);
    return meant === undefined ? [] : [`the variable ${name} is not read; did you mean ${meant}?`];
  });
}
