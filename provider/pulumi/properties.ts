import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { sentences, maxReported } from "../../platform/messages/text.ts";
import { factsOf, type Given, type InputProblem, once } from "../resources/model/resource.ts";
import type { OfflineResourceContext, Resource } from "../resources/resource.ts";
import type { Comparison } from "../resources/run.ts";
import { toHiddenName } from "./providerKinds.ts";

/** Stands for a value that is known only once other resources exist. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Properties = Record<string, unknown>;

/** True for an unknown value, or one that holds an unknown value. */
export function holdsUnknown(value: unknown): boolean {
  if (value === unknownValue) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsUnknown);
}

const namesWith = (shape: z.core.$ZodShape, fact: (facts: z.core.GlobalMeta) => unknown): string[] =>
  Object.entries(shape).flatMap(([name, schema]) => (fact(factsOf(schema)) ? [name] : []));

/** Properties that are secret by definition, or where another input is true. */
const secretFacts = once(({ inputs, outputs }: Resource) =>
  Object.entries({ ...inputs.shape, ...outputs.shape }).flatMap(([name, schema]) => {
    const { secret = false, secretIf } = factsOf(schema);
    return secret || secretIf !== undefined ? [{ name, secret, secretIf: secretIf ?? "" }] : [];
  }),
);

/** Names of what is a secret by definition, or with these properties. */
export const secretsOf = (resource: Resource, properties: Properties): string[] =>
  secretFacts(resource).flatMap(({ name, secret, secretIf }) =>
    secret || properties[secretIf] === true ? [name] : [],
  );

/** Names of the outputs that no update in place changes. */
export const stablesOf = once(({ outputs }: Resource) => namesWith(outputs.shape, ({ stable }) => stable));

/** Names of the inputs that no state has. */
const passingOf = once(({ inputs }: Resource) => namesWith(inputs.shape, ({ passing }) => passing));

/** The list inputs whose items have names, with the input that has the names. */
const listsOf = once(({ inputs }: Resource) =>
  Object.entries(inputs.shape).flatMap(([name, schema]): [list: string, names: string][] => {
    const { keyedBy } = factsOf(schema);
    return keyedBy === undefined ? [] : [[name, keyedBy]];
  }),
);

/** The inputs as an engine keeps and compares them: a list whose items have names as a map. */
export function toKeyed(resource: Resource, inputs: Properties): Properties {
  const maps = listsOf(resource).flatMap(([list, key]) => {
    const [items, names] = [inputs[list], inputs[key]];
    if (!Array.isArray(items) || !Array.isArray(names) || new Set(names).size !== items.length) return [];
    // Objects of JavaScript lose a property of this name on their way through a message.
    if (names.includes("__proto__")) return [];
    return [[list, Object.fromEntries(items.map((item: unknown, index) => [String(names[index]), item]))] as const];
  });
  return { ...inputs, ...Object.fromEntries<unknown>(maps) };
}

/**
 * The inputs as a resource works with them: what an engine keeps as a map is the list again, in its order. `ignoreChanges`
 * puts the map of the last run among the inputs of a program, which do not name its items: `last` does.
 */
export function toListed(resource: Resource, inputs: Properties, last: Properties = {}): Properties {
  const lists = listsOf(resource).flatMap(([list, key]) => {
    const map = inputs[list];
    if (!isObject(map)) return [];
    const names = new Set([inputs[key], last[key]].find((list) => Array.isArray(list))?.map(String));
    // Names that do not fit come from another list: what is there counts.
    const fitting = Object.keys(map).every((name) => names.has(name));
    return [[list, fitting ? [...names].flatMap((name) => map[name] ?? []) : Object.values(map)] as const];
  });
  return { ...inputs, ...Object.fromEntries<unknown>(lists) };
}

/** Judges the inputs one by one, leaving out what is not known yet, then as the resource itself does. */
export async function check(
  resource: Resource,
  context: OfflineResourceContext,
  old: Properties,
  news: Properties,
): Promise<{ inputs: Properties; problems: InputProblem[] }> {
  const parsed = parse(resource, news);
  if (parsed.problems.length > 0 || !resource.check) return { inputs: parsed.all, problems: parsed.problems };
  const checked = await resource.check(context, parsed, old);
  const inputs: Properties = { ...parsed.all, ...checked.inputs, ...checked.outputs };
  for (const name of checked.later ?? []) inputs[name] = unknownValue;
  for (const name of passingOf(resource)) Reflect.deleteProperty(inputs, name);
  return { inputs, problems: first(checked.problems) };
}

/** Judges inputs one by one. What is not known yet is in `all` and not in `inputs`. */
export function parse(
  definition: Pick<Resource, "name" | "inputs">,
  news: Properties,
): Given<Properties> & { all: Properties; problems: InputProblem[] } {
  const shape: Readonly<Record<string, z.core.$ZodType>> = definition.inputs.shape;
  const inputs: Properties = {};
  const all: Properties = {};
  const unknown = new Set<string>();
  const problems: InputProblem[] = [];
  for (const [property, schema] of Object.entries(shape)) {
    const value = news[property];
    if (holdsUnknown(value)) {
      unknown.add(property);
      all[property] = value;
      continue;
    }
    const parsed = (schema as z.ZodType).safeParse(value, sentences); // the values of a zod shape are schemas
    const gone = typeof value === "string" && answerRemoved("inputs", `${definition.name}.${property}: ${value}`);
    if (gone) problems.push({ property, reason: gone });
    for (const issue of gone ? [] : (parsed.error?.issues ?? [])) {
      // The reason for an invalid key stands in the inner issue.
      const { message } = (issue.code === "invalid_key" ? issue.issues[0] : undefined) ?? issue;
      problems.push({ property: [property, ...issue.path].join("."), reason: message });
    }
    if (parsed.success && parsed.data !== undefined) inputs[property] = all[property] = parsed.data;
  }
  for (const property of Object.keys(news)) {
    if (property in shape || property === "__provider") continue;
    const gone = answerRemoved("inputs", `${definition.name}.${property}`);
    if (gone !== undefined) {
      problems.push({ property, reason: gone });
      continue;
    }
    const names = settable(shape);
    // A problem that is not reported needs no advice, which takes time.
    const near = problems.length < maxReported ? nearest(property, names) : undefined;
    const remedy = near === undefined ? `it has ${names.join(", ")}` : `did you mean ${near}?`;
    problems.push({ property, reason: `is no input of ${definition.name}; ${remedy}` });
  }
  return { inputs, all, unknown, problems: first(problems) };
}

/** The first of many problems, and the number of the others. */
function first(problems: readonly InputProblem[]): InputProblem[] {
  const more = problems.length - maxReported;
  return more > 0 ? [...problems.slice(0, maxReported), { property: "", reason: `and ${more} more` }] : [...problems];
}

/** The names of inputs that a person may set. */
const settable = (shape: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(shape).filter((name) => {
    const { internal, computed, passing } = factsOf(shape[name]);
    return !internal && !computed && !passing;
  });

/** Differences between the state of the last run and the inputs of this one. Offline. */
export async function diff(
  resource: Resource,
  context: OfflineResourceContext,
  old: Properties,
  news: Properties,
): Promise<Comparison> {
  const parsed = parse(resource, news);
  const changed: string[] = [];
  for (const [name, schema] of Object.entries(resource.inputs.shape)) {
    const { ignoredInDiff } = factsOf(schema);
    if (ignoredInDiff) continue;
    if (parsed.unknown.has(name) || !isDeepStrictEqual(toPlain(old[name]), toPlain(parsed.inputs[name])))
      changed.push(name);
  }
  const replaces = changed.filter((name) => factsOf(resource.inputs.shape[name]).replaces);
  const change = { changed, replaces };
  // A state holds what the resource itself returned.
  return resource.diff ? resource.diff(context, change, old, parsed) : change;
}

/** The value as it comes back from a state: without what is undefined; nothing and null are the same. */
export function toPlain(value: unknown): unknown {
  if (value === undefined) return null;
  return typeof value === "string" || typeof value === "boolean"
    ? value
    : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** The inputs that outputs do not hold. */
export const writeOnlyOf = once(({ inputs }: Resource) => namesWith(inputs.shape, ({ writeOnly }) => writeOnly));

/** Those that are given of the inputs that outputs do not hold. */
export const pickWriteOnly = (resource: Resource, inputs: Properties): Properties =>
  Object.fromEntries(
    writeOnlyOf(resource).flatMap((name) => (inputs[name] === undefined ? [] : [[name, inputs[name]]])),
  );

/** The inputs that outputs hold, with what an engine has among them. */
export const inputsIn = ({ inputs, outputs: { shape } }: Resource, outputs: Properties): Properties =>
  Object.fromEntries(
    Object.entries(outputs).filter(([name]) => name in inputs.shape || factsOf(shape[name] ?? inputs).foreseen),
  );

/** The inputs without what a check adds for a preview: an engine checks what it imports, and takes more for a mistake. */
export const pickSettable = ({ inputs: { shape } }: Pick<Resource, "inputs">, inputs: Properties): Properties =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => name in shape));

/**
 * The outputs that a create, or an update of what is there, will have, as far as they are known before: what is not is
 * unknown, never missing.
 */
export function foreseen(resource: Resource, inputs: Properties, old?: Properties): Properties {
  const outputs: Properties = {};
  for (const [name, schema] of Object.entries(resource.inputs.shape)) {
    const { writeOnly, computed, internal, passing } = factsOf(schema);
    if (writeOnly || passing) continue;
    if (inputs[name] !== undefined) outputs[name] = inputs[name];
    else if (computed && !internal) outputs[name] = unknownValue;
  }
  const stables = stablesOf(resource);
  for (const [name, schema] of Object.entries(resource.outputs.shape)) {
    if (factsOf(schema).internal) continue; // no program refers to it
    outputs[name] = inputs[name] ?? (stables.includes(name) ? old?.[name] : undefined) ?? unknownValue;
  }
  return outputs;
}

/**
 * The inputs of the last run without additions of a provider kind, large values and secrets: processes share them by
 * files.
 */
export function lastInputs(resource: Resource, olds: Properties): Properties {
  const secrets = namesWith(resource.inputs.shape, ({ secret, secretIf }) => secret ?? secretIf !== undefined);
  const left = new Set(["resourceUrn", "__provider", ...writeOnlyOf(resource), ...secrets]);
  return Object.fromEntries(Object.entries(olds).filter(([name]) => !left.has(name)));
}

/** The inputs of a thing that is ours; undefined for what is only looked at. */
export function pickDeclaredInputs(resource: Resource, last: Properties): Properties | undefined {
  if (writeOnlyOf(resource).length > 0) return undefined;
  const inputs = inputsIn(resource, last);
  return parse(resource, inputs).problems.length === 0 ? inputs : undefined;
}

type Definition = Pick<Resource, "inputs" | "outputs">;

/** Names of values that mean nothing to a reader: digests, and values computed by check or by a provider kind. */
export const hiddenNames = once(({ inputs, outputs }: Definition): readonly string[] =>
  Object.entries({ ...inputs.shape, ...outputs.shape }).flatMap(([name, schema]) => {
    const { computed, opaque } = factsOf(schema);
    return computed || opaque ? [name] : [];
  }),
);

const toHidden = once(
  (definition: Definition) => new Map(hiddenNames(definition).map((name) => [name, toHiddenName(name)])),
);
const fromHidden = once(
  (definition: Definition) => new Map([...toHidden(definition)].map(([name, shown]) => [shown, name])),
);

/** Properties as the engine of a dynamic resource gets them. */
export const hideProperties = (definition: Definition, properties: Properties): Properties =>
  renamed(properties, toHidden(definition));

/** Properties as a resource knows them. States of earlier versions have all of them under their own names. */
export const unhidden = (definition: Definition, properties: Properties): Properties =>
  renamed(properties, fromHidden(definition));

const renamed = (properties: Properties, names: ReadonlyMap<string, string>): Properties =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [names.get(name) ?? name, value]));
