import type { SemVer } from "semver";
import coerce from "semver/functions/coerce.js";
import parse from "semver/functions/parse.js";
import satisfies from "semver/functions/satisfies.js";
import { Refusal } from "../errors.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { isProviderType, packageOf } from "../values/urns.ts";
import { isProperties, type PropertyMap, property } from "../values/values.ts";
import { pulumiVersion } from "../workspace/names.ts";

/** The input of a provider that holds Pulumi's own notes; the provider does not see it. */
const internalKey = "__internal";
const versionKey = "version";

/** The inputs without Pulumi's own notes, as a provider sees them. */
export function pickVisibleInputs(inputs: PropertyMap): PropertyMap {
  const { [internalKey]: _internal, ...rest } = inputs;
  return rest;
}

/** Adds the requested version to the inputs of a provider, as Pulumi notes it; an empty one adds nothing. */
export function withVersion(inputs: PropertyMap, version: string): PropertyMap {
  if (version === "") return inputs;
  const internal = property(inputs, internalKey);
  return { ...inputs, [internalKey]: isProperties(internal) ? internal : {}, [versionKey]: version };
}

/** Adds Pulumi's own notes to checked inputs, which the provider did not see or has dropped. */
export function withInternals(checked: PropertyMap, news: PropertyMap): PropertyMap {
  const inputs = { ...checked };
  for (const key of [versionKey, internalKey]) {
    const value = property(news, key);
    if (value !== undefined) inputs[key] = value;
  }
  return inputs;
}

/** Finds a note of Pulumi about a provider that this engine does not support. */
export function findUnsupported(inputs: PropertyMap): string | undefined {
  const internal = property(inputs, internalKey);
  const known = [versionKey, "pluginDownloadURL", "pluginChecksums"];
  return isProperties(internal) ? Object.keys(internal).find((name) => !known.includes(name)) : undefined;
}

/** The highest version of each package in the state: the default where the program names none. */
export function versionsIn(resources: readonly ResourceState[]): Map<string, string> {
  const read = (text: string): SemVer | null => parse(text) ?? coerce(text); // as leniently as Pulumi: `v1.2` is 1.2.0
  const versions = new Map<string, string>();
  for (const { type, inputs } of resources) {
    const version = isProviderType(type) ? property(inputs, versionKey) : undefined;
    if (typeof version !== "string") continue;
    const [known, next] = [read(versions.get(packageOf(type)) ?? ""), read(version)];
    if (known === null || next === null || known.compare(next) < 0) versions.set(packageOf(type), version);
  }
  return versions;
}

/** Names a default provider: `default`, or `default_1_2_3` for a version. */
export const defaultName = (version: string): string =>
  version === "" ? "default" : `default_${version.replaceAll(/[.+-]/g, "_")}`;

/**
 * Refuses a range of versions of the CLI, such as `>=3.5.0 !3.7.7`, that this engine does not stand for.
 * @param where what asks for it
 */
export function refuseOtherVersion(range: string, where: string): void {
  const excluded = [...range.matchAll(/!=?\s*(\S+)/g)].map(([, version = ""]) => version);
  const isExcluded = excluded.some((version) => satisfies(pulumiVersion, version));
  if (!isExcluded && satisfies(pulumiVersion, range.replaceAll(/!=?\s*\S+/g, ""))) return;
  throw new Refusal(
    `${where}: Pulumi ${range} is required, and the embedded engine does what Pulumi ${pulumiVersion} does: use a Pulumi ` +
      "CLI of that range, or widen the range",
  );
}
