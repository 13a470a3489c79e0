import type { SemVer } from "semver";
import coerce from "semver/functions/coerce.js";
import parse from "semver/functions/parse.js";
import type { ResourceState } from "../state/resourceState.ts";
import { isProviderType, packageOf } from "../values/urns.ts";
import { isProperties, property, type Properties } from "../values/values.ts";

/** Where Pulumi keeps what it notes about a provider among the inputs of it; the provider does not see it. */
const internalKey = "__internal";
const versionKey = "version";

/** What a provider sees of its inputs. */
export function visibleInputs(inputs: Properties): Properties {
  const { [internalKey]: _internal, ...rest } = inputs;
  return rest;
}

/** The inputs of a provider that is asked for in a version, which may be none; as Pulumi notes them. */
export function withVersion(inputs: Properties, version: string): Properties {
  if (version === "") return inputs;
  const internal = property(inputs, internalKey);
  return { ...inputs, [internalKey]: isProperties(internal) ? internal : {}, [versionKey]: version };
}

/** Checked inputs with what the provider was not shown, or has dropped. */
export function withInternals(checked: Properties, news: Properties): Properties {
  const inputs = { ...checked };
  for (const key of [versionKey, internalKey]) {
    const value = property(news, key);
    if (value !== undefined) inputs[key] = value;
  }
  return inputs;
}

/** The version of the plugin that the inputs of a provider ask for. */
export function requestedVersion(inputs: Properties): string | undefined {
  const version = property(inputs, versionKey);
  return typeof version === "string" ? version : undefined;
}

/** What Pulumi notes about a provider and this engine does not do. */
export function unsupportedInternal(inputs: Properties): string | undefined {
  const internal = property(inputs, internalKey);
  const known = [versionKey, "pluginDownloadURL", "pluginChecksums"];
  return isProperties(internal) ? Object.keys(internal).find((name) => !known.includes(name)) : undefined;
}

/** The version that is used where the program names none: the highest one in the state, by package. */
export function versionsIn(resources: readonly ResourceState[]): Map<string, string> {
  const versions = new Map<string, string>();
  for (const { type, inputs } of resources) {
    const version = isProviderType(type) ? requestedVersion(inputs) : undefined;
    if (version === undefined) continue;
    const known = versions.get(packageOf(type));
    if (known === undefined || isOlder(known, version)) versions.set(packageOf(type), version);
  }
  return versions;
}

/** `default`, or with a version `default_1_2_3`. */
export function defaultName(version: string): string {
  return version === "" ? "default" : `default_${version.replaceAll(/[.+-]/g, "_")}`;
}

/** Whether a version comes before another one; false when one of them is no version. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [parseVersion(version), parseVersion(than)];
  return a !== null && b !== null && a.compare(b) < 0;
}

/** Reads a version as leniently as Pulumi: `v1.2` is 1.2.0. */
const parseVersion = (text: string): SemVer | null => parse(text) ?? coerce(text);
