import { isDeepStrictEqual } from "node:util";
import { major, minor } from "semver";
import { isObject } from "../platform/contract/wire.ts";
import type { PackageSchema } from "./packageSchema.ts";

/** Breaking changes between an old schema and the new one, a sentence for each. Additions are fine. */
export const breaksBetween = (old: PackageSchema, now: PackageSchema): string[] =>
  (["config", "provider", "resources", "functions", "types", "language"] as const).flatMap((part) =>
    changed(old[part] ?? {}, now[part], part),
  );

/** What is no promise to programs, where it is not the name of a property. */
const told = ["description", "default", "defaultInfo", "secret", "replaceOnChanges"];
const isProperty = (value: unknown): boolean =>
  isObject(value) && ["type", "$ref", "oneOf"].some((key) => Object.hasOwn(value, key));

/** What is gone or otherwise, by its path. */
function changed(old: unknown, now: unknown, path: string): string[] {
  if (now === undefined) return [`${path} is gone`];
  if (Array.isArray(old)) return old.filter((item) => !isIn(now, item)).map((item) => `${path} lacks ${nameIn(item)}`);
  if (!isObject(old) || !isObject(now)) {
    return isDeepStrictEqual(old, now) ? [] : [`${path} is ${JSON.stringify(now)}, and was ${JSON.stringify(old)}`];
  }
  const kept = Object.keys(old).filter((key) => !isDemand(key, path) && (!told.includes(key) || isProperty(old[key])));
  return [...kept.flatMap((key) => changed(old[key], now[key], `${path}.${key}`)), ...demanded(old, now, path)];
}

const isIn = (list: unknown, item: unknown): boolean =>
  Array.isArray(list) && list.some((each) => isDeepStrictEqual(each, item));
const nameIn = (item: unknown): string => String(isObject(item) ? (item["value"] ?? JSON.stringify(item)) : item);

/** Inputs may be demanded no longer, and what programs read is always there: only types may be either. */
const isDemand = (key: string, path: string): boolean =>
  key === "requiredInputs" || (key === "required" && path.endsWith(".inputs"));

/** Inputs that nobody had to give. */
function demanded(old: object, now: Readonly<Record<string, unknown>>, path: string): string[] {
  return Object.entries(now).flatMap(([key, names]) => {
    if (!Array.isArray(names) || !(isDemand(key, path) || (key === "required" && /^types\.[^.]+$/.test(path))))
      return [];
    const before: unknown = Reflect.get(old, key);
    return names.filter((name) => !isIn(before, name)).map((name) => `${path} demands ${String(name)}`);
  });
}

/** True when a version may break promises of an older one: a new major version, or while it is 0 a new minor one. */
export const mayBreak = (released: string, version: string): boolean =>
  major(version) > major(released) || (major(released) === 0 && minor(version) > minor(released));
