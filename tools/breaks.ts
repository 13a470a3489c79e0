import { major, minor } from "semver";
import { nameOf, type ObjectSpec, type PackageSchema, type TypeSpec } from "./packageSchema.ts";

/** What a schema promises to programs, and what it demands of them, each with a sentence for whoever takes it back. */
interface Terms {
  promises: Map<string, string>;
  demands: Map<string, string>;
}

/** Breaking changes between an old schema and the new one, a sentence for each. Additions are fine. */
export function breaksBetween(old: PackageSchema, now: PackageSchema): string[] {
  const inputs = inputTypes(old);
  const [before, after] = [termsOf(old, inputs), termsOf(now, inputs)];
  const owners = [...before.promises.keys()].filter((promise) => !after.promises.has(promise));
  // Of what is gone as a whole its parts are not named.
  const isPart = (promise: string): boolean => owners.some((owner) => promise.startsWith(`${owner} `));
  return [
    ...owners.filter((promise) => !isPart(promise)).map((promise) => before.promises.get(promise) ?? promise),
    ...[...after.demands].flatMap(([demand, sentence]) =>
      before.demands.has(demand) || !before.promises.has(demand.split(" ", 2).join(" ")) ? [] : sentence,
    ),
  ];
}

/** True when a version may break promises of an older one: a new major version, or while it is 0 a new minor one. */
export const mayBreak = (released: string, version: string): boolean =>
  major(version) > major(released) || (major(released) === 0 && minor(version) > minor(released));

/** Keys begin with what owns them: `resource Team`, `resource Team input name`, `resource Team input name string`. */
function termsOf(schema: PackageSchema, inputs: ReadonlySet<string>): Terms {
  const terms: Terms = { promises: new Map(), demands: new Map() };
  const { promises, demands } = terms;
  const object = (
    key: string,
    owner: string,
    side: "input" | "output",
    { properties = {}, required = [] }: ObjectSpec,
  ) => {
    for (const [name, spec] of Object.entries(properties)) {
      const [own, what] = [`${key} ${side} ${name}`, `the ${side} ${name} of ${owner}`];
      const type = typeText(spec);
      promises.set(own, `${what} is gone`);
      promises.set(`${own} ${type}`, `${what} is no ${type} any more`);
      if (side === "output" && required.includes(name))
        promises.set(`${own} always`, `${what} is not always there any more`);
    }
    if (side === "input")
      for (const name of required)
        demands.set(`${key} ${side} ${name}`, `the input ${name} of ${owner} is required now`);
  };
  promises.set("config -", "").set("provider -", "");
  object("config -", "the configuration", "input", { properties: schema.config.variables });
  object("provider -", "the provider", "input", { properties: schema.provider.inputProperties ?? {} });
  for (const [token, spec] of Object.entries(schema.resources)) {
    const [key, name] = [`resource ${nameOf(token)}`, nameOf(token)];
    promises.set(key, `the resource ${name} is gone`);
    const kind = spec.isComponent ? "component" : "resource";
    promises.set(`${key} kind ${kind}`, `${name} is no ${kind} any more`);
    object(key, name, "input", { properties: spec.inputProperties ?? {}, required: spec.requiredInputs ?? [] });
    object(key, name, "output", spec);
  }
  for (const [token, { inputs = {}, outputs = {} }] of Object.entries(schema.functions)) {
    const [key, name] = [`function ${nameOf(token)}`, nameOf(token)];
    promises.set(key, `the function ${name} is gone`);
    object(key, name, "input", inputs);
    object(key, name, "output", outputs);
  }
  // As inputs types may not ask for more, as outputs not have less.
  for (const [token, spec] of Object.entries(schema.types)) {
    const [key, name] = [`type ${nameOf(token)}`, nameOf(token)];
    promises.set(key, `the type ${name} is gone`);
    for (const { value } of spec.enum ?? [])
      promises.set(`${key} value ${value}`, `the value "${value}" of ${name} is gone`);
    object(key, name, inputs.has(token) ? "input" : "output", spec);
  }
  // Another module path or package is another name of everything.
  for (const [language, settings] of Object.entries(schema.language ?? {}))
    for (const place of ["importBasePath", "basePackage", "rootNamespace", "namespaces", "packageName"])
      if (place in settings)
        promises.set(
          `language ${language} ${place} ${JSON.stringify(settings[place])}`,
          `language.${language}.${place} has changed, so programs import the SDK from elsewhere`,
        );
  return terms;
}

/** The types with names that inputs lead to. */
function inputTypes({ types, resources, functions, config }: PackageSchema): Set<string> {
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
  for (const { inputProperties = {} } of Object.values(resources)) Object.values(inputProperties).forEach(visit);
  for (const { inputs } of Object.values(functions)) Object.values(inputs?.properties ?? {}).forEach(visit);
  Object.values(config.variables).forEach(visit);
  return found;
}

function typeText({ type, $ref, items, additionalProperties, oneOf }: TypeSpec): string {
  if ($ref !== undefined) return $ref === "pulumi.json#/Any" ? "any" : nameOf($ref);
  if (oneOf) return oneOf.map(typeText).join(" or ");
  if (items) return `list of ${typeText(items)}`;
  if (additionalProperties) return `map of ${typeText(additionalProperties)}`;
  return type ?? "any";
}
