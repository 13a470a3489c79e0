import { major, minor } from "semver";
import type { TypeSpec } from "../provider/pulumi/plugin/types.ts";
import { nameOf, type NamedSpec, type ObjectSpec, type PackageSchema } from "./packageSchema.ts";

/** Breaking changes between an old schema and the new one, a sentence for each. Additions are fine. */
export function breaksBetween(old: PackageSchema, now: PackageSchema): string[] {
  return [
    ...objectBreaks(
      "input",
      "the configuration",
      { properties: old.config.variables },
      { properties: now.config.variables },
    ),
    ...objectBreaks(
      "input",
      "the provider",
      { properties: old.provider.inputProperties ?? {} },
      { properties: now.provider.inputProperties ?? {} },
    ),
    ...Object.entries(old.resources).flatMap(([token, before]) => {
      const [name, after] = [nameOf(token), now.resources[token]];
      if (!after) return [`the resource ${name} is gone`];
      if (!before.isComponent !== !after.isComponent) {
        return [`${name} ${after.isComponent ? "has become a component" : "is a component no longer"}`];
      }
      const inputs = ({ inputProperties, requiredInputs }: typeof before): ObjectSpec => ({
        properties: inputProperties ?? {},
        required: requiredInputs ?? [],
      });
      return [
        ...objectBreaks("input", name, inputs(before), inputs(after)),
        ...objectBreaks("output", name, before, after),
      ];
    }),
    ...Object.entries(old.functions).flatMap(([token, before]) => {
      const [name, after] = [nameOf(token), now.functions[token]];
      if (!after) return [`the function ${name} is gone`];
      return (["input", "output"] as const).flatMap((side) =>
        objectBreaks(side, name, before[`${side}s`] ?? {}, after[`${side}s`] ?? {}),
      );
    }),
    ...typeBreaks(old, now),
    ...languageBreaks(old.language ?? {}, now.language ?? {}),
  ];
}

/** True when a version may break promises of an older one: a new major version, or while it is 0 a new minor one. */
export const mayBreak = (released: string, version: string): boolean =>
  major(version) > major(released) || (major(released) === 0 && minor(version) > minor(released));

type Side = "input" | "output";

function objectBreaks(side: Side, owner: string, old: ObjectSpec, now: ObjectSpec): string[] {
  const { properties: before = {}, required: wanted = [] } = old;
  const { properties: after = {}, required = [] } = now;
  const kept = Object.entries(before).flatMap(([name, spec]) => {
    const what = `the ${side} ${name} of ${owner}`;
    const present = after[name];
    if (!present) return [`${what} is gone`];
    const [was, is] = [typeText(spec), typeText(present)];
    if (was !== is) return [`${what} has changed its type from ${was} to ${is}`];
    return side === "output" && wanted.includes(name) && !required.includes(name)
      ? [`${what} is not always there any more`]
      : [];
  });
  const demanded = required.filter((name) => side === "input" && !wanted.includes(name));
  return [...kept, ...demanded.map((name) => `the input ${name} of ${owner} is required now`)];
}

/** Types with names: as inputs they may not ask for more, as outputs not have less. */
function typeBreaks(old: PackageSchema, now: PackageSchema): string[] {
  const inputs = reached(old, [
    ...Object.values(old.resources).map(({ inputProperties = {} }) => inputProperties),
    ...Object.values(old.functions).map(({ inputs }) => inputs?.properties ?? {}),
    old.config.variables,
  ]);
  return Object.entries(old.types).flatMap(([token, before]) => {
    const [name, after] = [nameOf(token), now.types[token]];
    if (!after) return [`the type ${name} is gone`];
    if (before.enum || after.enum) {
      const missing = valuesOf(before).filter((value) => !valuesOf(after).includes(value));
      return missing.map((value) => `the value "${value}" of ${name} is gone`);
    }
    return objectBreaks(inputs.has(token) ? "input" : "output", name, before, after);
  });
}

const valuesOf = ({ enum: values = [] }: NamedSpec): string[] => values.map(({ value }) => value);

/** The types with names that properties lead to. */
function reached({ types }: PackageSchema, open: Record<string, TypeSpec>[]): Set<string> {
  const found = new Set<string>();
  const visit = ({ $ref = "", items, additionalProperties, oneOf = [] }: TypeSpec): void => {
    const token = $ref.replace("#/types/", "");
    const named = types[token];
    if (named && !found.has(token)) {
      found.add(token);
      Object.values(named.properties ?? {}).forEach(visit);
    }
    for (const inner of [items, additionalProperties, ...oneOf]) if (inner) visit(inner);
  };
  for (const properties of open) Object.values(properties).forEach(visit);
  return found;
}

function typeText({ type, $ref, items, additionalProperties, oneOf }: TypeSpec): string {
  if ($ref !== undefined) return $ref === "pulumi.json#/Any" ? "any" : nameOf($ref);
  if (oneOf) return oneOf.map(typeText).join(" or ");
  if (items) return `list of ${typeText(items)}`;
  if (additionalProperties) return `map of ${typeText(additionalProperties)}`;
  return type ?? "any";
}

/** Where SDKs are imported from: another module path or package is another name of everything. */
function languageBreaks(old: PackageSchema["language"], now: PackageSchema["language"]): string[] {
  const places = ["importBasePath", "basePackage", "rootNamespace", "namespaces", "packageName"];
  return Object.entries(old ?? {}).flatMap(([language, before]) =>
    places
      .filter((place) => place in before && JSON.stringify(before[place]) !== JSON.stringify(now?.[language]?.[place]))
      .map((place) => `language.${language}.${place} has changed, so programs import the SDK from elsewhere`),
  );
}
