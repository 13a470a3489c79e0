import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { role } from "../../platform/contract/people.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { Mask } from "../../platform/messages/masks.ts";
import { sentences, maxReported } from "../../platform/messages/text.ts";
import { factsOf, type InputProblem, once } from "../resources/common.ts";
import type { Given, Comparison, OfflineContext, Resource, Context } from "../resources/resource.ts";
import { keyOf } from "../seedRows/declaration.ts";
import { leavesOf } from "../seedRows/source/source.ts";
import { type Configuration, secretKeys } from "./configuration.ts";
import { randomID, toHiddenName } from "./names.ts";

/** Stands for a value that is known only once other resources exist. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Properties = Record<string, unknown>;

/** True for an unknown value, or one that holds an unknown value. */
export function holdsUnknown(value: unknown): boolean {
  if (value === unknownValue) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsUnknown);
}

export type Definition = Pick<Resource, "name" | "inputs" | "outputs">;

/** The facts about each input and output of a resource, by name. */
const factsIn = once(({ inputs, outputs }: Definition) =>
  Object.entries({ ...inputs.shape, ...outputs.shape }).map(([name, schema]) => ({ name, ...factsOf(schema) })),
);

/** Names of what has a fact. */
const namesWith = (definition: Definition, fact: "stable" | "passing" | "writeOnly"): string[] =>
  factsIn(definition).flatMap((facts) => (facts[fact] ? [facts.name] : []));

/** Names of what is a secret by definition, or with these properties. */
export const secretsOf = (definition: Definition, properties: Properties): string[] =>
  factsIn(definition).flatMap(({ name, secret, secretIf = "" }) =>
    secret || properties[secretIf] === true ? [name] : [],
  );

/** Names of the outputs that no update in place changes. */
export const stablesOf = (resource: Resource): string[] => namesWith(resource, "stable");

/** Names of the inputs that outputs do not hold. */
export const writeOnlyOf = (resource: Resource): string[] => namesWith(resource, "writeOnly");

/** The list inputs whose items have names, with the input that has the names. */
const listsOf = (resource: Resource) =>
  factsIn(resource).flatMap(({ name, keyedBy }) => (keyedBy === undefined ? [] : [[name, keyedBy] as const]));

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
  context: OfflineContext,
  old: Properties,
  news: Properties,
): Promise<{ inputs: Properties; problems: InputProblem[] }> {
  const parsed = parse(resource, news);
  if (parsed.problems.length > 0 || !resource.check) return { inputs: parsed.all, problems: parsed.problems };
  const checked = await resource.check(context, parsed, old);
  const inputs: Properties = { ...parsed.all, ...checked.inputs, ...checked.outputs };
  for (const name of checked.later ?? []) inputs[name] = unknownValue;
  for (const name of namesWith(resource, "passing")) Reflect.deleteProperty(inputs, name);
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
    problems.push({ property, reason: `is not an input of ${definition.name}; ${remedy}` });
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
  context: OfflineContext,
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

/** Those that are given of the inputs that outputs do not hold, and where a file is now: a move alone changes no output. */
export const pickWriteOnly = (resource: Resource, inputs: Properties): Properties =>
  Object.fromEntries(
    [...writeOnlyOf(resource), "source"].flatMap((name) => (inputs[name] === undefined ? [] : [[name, inputs[name]]])),
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
  const secrets = factsIn(resource).flatMap(({ name, secret, secretIf }) => (secret || secretIf ? [name] : []));
  const left = new Set(["resourceUrn", "__provider", ...writeOnlyOf(resource), ...secrets]);
  return Object.fromEntries(Object.entries(olds).filter(([name]) => !left.has(name)));
}

/** The inputs of a thing that is ours; undefined for what is only looked at. */
export function pickDeclaredInputs(resource: Resource, last: Properties): Properties | undefined {
  if (writeOnlyOf(resource).length > 0) return undefined;
  const inputs = inputsIn(resource, last);
  return parse(resource, inputs).problems.length === 0 ? inputs : undefined;
}

/** Names of values that mean nothing to a reader: digests, and values computed by check or by a provider kind. */
export const hiddenNames = once((definition: Definition): readonly string[] =>
  factsIn(definition).flatMap(({ name, computed, opaque }) => (computed || opaque ? [name] : [])),
);

/** Properties as the engine of a dynamic resource gets them. */
export const hideProperties = (definition: Definition, properties: Properties): Properties =>
  renamed(properties, (name) => (hiddenNames(definition).includes(name) ? toHiddenName(name) : name));

/** Properties as a resource knows them. States of earlier versions have all of them under their own names. */
export const unhidden = (definition: Definition, properties: Properties): Properties => {
  const names = new Map(hiddenNames(definition).map((name) => [toHiddenName(name), name]));
  return renamed(properties, (name) => names.get(name) ?? name);
};

const renamed = (properties: Properties, nameOf: (name: string) => string): Properties =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [nameOf(name), value]));

/** The property by which Pulumi marks an object as a special value, and its text for a secret. */
export const signature = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** A configuration, or what is given for one. */
type Settings = Readonly<Partial<Record<keyof Configuration, unknown>>>;

/**
 * Hides the secrets of a configuration and further ones, such as those among a resource's properties: nothing that a person
 * reads may hold one. What the configuration has in clear and the names of roles stay readable.
 */
export function maskOf(configuration: Settings | undefined, texts: readonly string[] = []): Mask {
  const valuesOf = (keys: readonly (keyof Configuration)[]): string[] =>
    keys.flatMap((key) => {
      const value = configuration?.[key];
      return typeof value === "string" ? [value] : [];
    });
  return new Mask([...valuesOf(secretKeys), ...texts], [...valuesOf(["endpoint", "email", "userID"]), ...role.options]);
}

/** The secrets in the properties with these names, and in cells. What the others have in clear, such as a label, is none. */
export function secretTexts(properties: Properties, names: Iterable<string>, cells = noCells): string[] {
  const secret = new Set(names);
  if (secret.size + cells.labels.size === 0) return [];
  const texts: string[] = [];
  const open = withCells(cells, properties, (value) => void texts.push(...leavesOf(value)));
  const clear: unknown[] = [];
  for (const [name, value] of Object.entries(open)) {
    if (secret.has(name)) texts.push(...textsIn(value));
    else clear.push(value);
  }
  return texts.length === 0 ? [] : without(texts, textsIn(clear));
}

/** The texts that are not among others. */
export function without(texts: readonly string[], others: readonly string[]): string[] {
  const clear = new Set(others);
  return texts.filter((text) => !clear.has(text));
}

/** Numbers with at least this many digits are hidden like texts; shorter ones may be counts. */
const digits = 6;

/** All texts in a value, with the names in it. */
export function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const look = (one: unknown): void => {
    if (typeof one === "string") {
      if (one !== unknownValue) texts.push(one);
    } else if (typeof one === "number") {
      if (String(one).length >= digits) texts.push(String(one));
    } else if (Array.isArray(one)) one.forEach(look);
    else if (typeof one === "object" && one !== null) {
      for (const [name, item] of Object.entries(one)) {
        texts.push(name);
        look(item);
      }
    }
  };
  look(value);
  return texts;
}

/** Inputs that mark others as secret. */
export const secrecy = (resource: Resource, secrets: ReadonlySet<string>): Properties =>
  Object.fromEntries(
    factsIn(resource).flatMap(({ name, marksSecret = [] }) =>
      [marksSecret].flat().some((one) => secrets.has(one)) ? [[name, true]] : [],
    ),
  );

/** Keeps secrets out of messages and IDs. */
export const hiding = (mask: () => Mask, secrets: readonly string[]): Pick<Context, "hide" | "publicID"> => ({
  hide: (value) => mask().add(textsIn(value)),
  publicID: (id) => (new Mask(secrets).hides(id) ? randomID() : id),
});

/** Labels whose values are secret in the items of some properties, which are lists or maps. */
export interface SecretCells {
  properties: ReadonlySet<string>;
  labels: ReadonlySet<string>;
}

export const noCells: SecretCells = { properties: new Set(), labels: new Set() };

/** The labels that an input of a resource declares secret. */
export function secretCells(definition: Definition, properties: Properties): SecretCells {
  const found = { properties: new Set<string>(), labels: new Set<string>() };
  for (const { name, hidesIn } of factsIn(definition)) {
    const labels = properties[name];
    if (!hidesIn || !Array.isArray(labels)) continue;
    for (const label of labels) found.labels.add(String(label));
    for (const property of hidesIn) found.properties.add(property);
  }
  return found;
}

/** The properties with another value in place of each secret cell; without the cell where that is undefined. */
export function withCells(
  { properties, labels }: SecretCells,
  values: Properties,
  form: (value: unknown) => unknown,
): Properties {
  if (labels.size === 0) return values;
  const row = (item: unknown): unknown => {
    if (!isPlain(item)) return item;
    const cells = Object.entries(item).map(
      ([label, value]) =>
        [label, labels.has(label) && value !== undefined && value !== unknownValue ? form(value) : value] as const,
    );
    return Object.fromEntries(cells.filter(([, value]) => value !== undefined));
  };
  const formed = [...properties].flatMap((name): [string, unknown][] => {
    const items = values[name];
    if (Array.isArray(items)) return [[name, items.map(row)]];
    return isPlain(items) ? [[name, mapped(items, row)]] : [];
  });
  return { ...values, ...Object.fromEntries(formed) };
}

/** True for a map, and false for other values that are sent as one. */
const isPlain = (value: unknown): value is Record<string, unknown> => isObject(value) && !(signature in value);

const mapped = (items: Readonly<Record<string, unknown>>, form: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(items).map(([name, item]) => [name, form(item)]));

/** How values are marked before an engine gets them: by outputs in a program, by {@link SecretValue} in what a file declares. */
export interface Marks {
  secret: (value: unknown) => unknown;
  /** True for a value that is a secret or not known yet: nothing looks into it. */
  isMarked: (value: unknown) => boolean;
}

/** A secret of a file's declaration. */
export class SecretValue {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** The marks of what a file declares. */
export const fileMarks: Marks = {
  secret: (value) => new SecretValue(value),
  isMarked: (value) => value instanceof SecretValue,
};

/** True for a value that is, or holds, a marked one. */
export const holdsMarked = (value: unknown, marks: Marks): boolean =>
  marks.isMarked(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some((inner) => holdsMarked(inner, marks)));

/**
 * Applies inputs that mark others as secret, as a whole or by label. `sealed` has these as secrets, for the engine;
 * `open` leaves out the secret cells, so that the rest can be checked for secrets of its own.
 */
export function withSecretCells(
  definition: Definition,
  args: Properties,
  marks: Marks,
): { sealed: Properties; open: Properties } {
  const facts = factsIn(definition).filter(({ name }) => args[name] !== undefined);
  const hiding = facts.flatMap(({ hidesIn }) => hidesIn ?? []);
  const isMarking = (marker = ""): boolean => args[marker] !== undefined && args[marker] !== false;
  const whole = facts.flatMap(({ name, secretIf }) => (isMarking(secretIf) ? [name] : []));
  if (hiding.length + whole.length === 0) return { sealed: args, open: args };
  const { properties, labels } = secretCells(definition, args);
  const [sealed, open]: [Properties, Properties] = [{ ...args }, { ...args }];
  const isMap = (value: unknown): value is Properties => isOpenMap(value, marks);
  const secret = (value: unknown): unknown => (value === undefined ? value : marks.secret(value));
  for (const name of hiding) {
    const items = args[name];
    if (items === undefined) continue;
    // The cells of an output are not known yet: all of it is a secret.
    if (!properties.has(name) || !isMap(items) || !Object.values(items).every(isMap)) {
      sealed[name] = secret(items);
      continue;
    }
    sealed[name] = each(items, (row) => cellsOf(row, (label, value) => [labels.has(label) ? secret(value) : value]));
    open[name] = each(items, (row) => cellsOf(row, (label, value) => (labels.has(label) ? [] : [value])));
  }
  for (const name of whole) sealed[name] = secret(args[name]);
  return { sealed, open };
}

/**
 * Rows as a map by natural key, and their keys in order, where everything but secret cells is known. An engine keeps
 * secret cells of a map apart, but makes a list with a secret in it one secret.
 */
export function keyRows(definition: Definition, args: Properties, marks: Marks): object {
  const { rows, key, secretLabels, sensitive } = args;
  if (secretLabels === undefined || sensitive !== undefined || !Array.isArray(rows) || holdsMarked(key, marks))
    return {};
  const { open } = withSecretCells(definition, args, marks);
  if (holdsMarked(open["rows"], marks) || !rows.every((row) => isOpenMap(row, marks))) return {};
  const keys = rows.map((row) => keyOf([key].flat().map(String), row));
  // The provider reports what is wrong with them.
  if (new Set(keys).size < rows.length || keys.some((one) => one === "" || one === "__proto__")) return {};
  return { rows: Object.fromEntries(keys.map((one, at) => [one, rows[at]])), keys };
}

/** True for a map or list that is not marked itself. */
const isOpenMap = (value: unknown, { isMarked }: Marks): value is Properties =>
  typeof value === "object" && value !== null && !isMarked(value);

const each = (items: Properties, form: (row: Properties) => Properties): unknown =>
  Array.isArray(items)
    ? items.map((row) => form(row as Properties))
    : Object.fromEntries(Object.entries(items).map(([name, row]) => [name, form(row as Properties)]));

const cellsOf = (row: Properties, form: (label: string, value: unknown) => unknown[]): Properties =>
  Object.fromEntries(
    Object.entries(row).flatMap(([label, value]) => form(label, value).map((cell) => [label, cell] as const)),
  );

// What a program says about its resources beside their inputs: their options, and which inputs are secrets.

/** The input by which a state of a dynamic resource remembers which of its inputs are secrets. */
const secretsInput = "__options";

/**
 * The input that carries what no host of dynamic resources gets from its engine. It is one, because each property of a
 * resource is dear to make; a check takes it apart, and no state has it.
 */
export const programInput = "__program";

const kept = z.object({ secrets: z.array(z.string()).default([]) });

const fromProgram = z.object({
  resourceUrn: z.string().optional(),
  isPreview: z.boolean().optional(),
  secrets: z.array(z.string()).optional(),
  ignoreChanges: z.array(z.string()).optional(),
});

/** Content of {@link programInput}. */
export interface FromProgram {
  resourceUrn: string | Promise<string>;
  /** True when the program runs for a preview. */
  isPreview: boolean;
  /** The option of the resource: a host does not hand it over. */
  ignoreChanges?: readonly string[];
  /** Names of the inputs that hold a secret: a host gets all in clear. */
  secrets?: Promise<string[] | undefined>;
}

/** Takes what is not the resource's own out of a dynamic resource's inputs. */
export function fromDynamic({ [secretsInput]: last, [programInput]: program, ...own }: Properties): {
  inputs: Properties;
  secrets: readonly string[];
  isPreview?: boolean | undefined;
  ignoreChanges?: readonly string[] | undefined;
} {
  if (program === undefined) {
    return { inputs: own, secrets: last === undefined ? [] : kept.parse(last).secrets };
  }
  const { resourceUrn, secrets = [], ...rest } = fromProgram.parse(program);
  return { inputs: resourceUrn === undefined ? own : { ...own, resourceUrn }, secrets, ...rest };
}

/** The properties with the names of those that are secrets: a refresh and a destroy have nothing else. */
export const remembering = (properties: Properties, secrets: readonly string[]): Properties =>
  secrets.length === 0 ? properties : { ...properties, [secretsInput]: { secrets } };

/** Why `ignoreChanges` can't be honoured, in one sentence: engines apply it before a resource has seen its inputs. */
export function explainRefusedIgnores(
  { name, inputs: { shape } }: Definition,
  paths: readonly string[] = [],
  inputs: Properties,
): string | undefined {
  const own = Object.keys(shape).filter((property) => !factsOf(shape[property]).computed);
  for (const path of paths) {
    const [, head = path, below = ""] = /^([^.[\]]+)(.*)$/s.exec(path) ?? [];
    if (head !== "*" && !own.includes(head))
      return `ignoreChanges names ${path}, which is not an input of ${name}; it has ${own.join(", ")}`;
    const rows = own.find((property) => ["*", property].includes(head) && factsOf(shape[property]).keyedBy);
    if (rows === undefined || (below === "" && (head === "*" || inputs["source"] === undefined))) continue;
    const what = below === "" ? "what is in a source" : `a part of ${rows}`;
    return (
      `ignoreChanges names ${path}, and ${what} can't be ignored: set mode to "upsert", which removes no row, and leave ` +
      `a label out of the rows to leave its values alone, set mode to "insertOnly" to change no row that is there, or set ` +
      `onConflict to "keepLive" to keep what is edited by hand`
    );
  }
  return undefined;
}

/**
 * Inputs with what is there in place of what `ignoreChanges` names: an engine puts the last inputs there, and what somebody
 * changed on the platform since would be written back.
 */
export function withIgnored(
  { inputs: { shape } }: Definition,
  paths: readonly string[],
  there: Properties,
  inputs: Properties,
): Properties {
  const kept: Properties = { ...inputs };
  const put = (into: Properties, from: Properties, [name, ...below]: string[]): void => {
    if (name === undefined) return;
    const [part, known] = [into[name], from[name]];
    if (below.length > 0 && isObject(part)) put((into[name] = { ...part }), isObject(known) ? known : {}, below);
    else if (known === undefined) Reflect.deleteProperty(into, name);
    else into[name] = known;
  };
  // Outputs have no rows: {@link leavingRows} is for them.
  const settable = Object.keys(shape).filter((name) => {
    const { computed, writeOnly, keyedBy } = factsOf(shape[name]);
    return !computed && !writeOnly && keyedBy === undefined;
  });
  for (const [head = "", ...below] of paths.map((path) => (parsePath(path) ?? []).map(String)))
    for (const name of head === "*" ? settable : [head])
      if (settable.includes(name)) put(kept, there, [name, ...below]);
  return kept;
}

/** Inputs of a seed that leave alone what somebody changed, where `ignoreChanges` names its rows. */
export const leavingRows = ({ inputs: { shape } }: Definition, paths: readonly string[]): Properties =>
  "onConflict" in shape && paths.some((path) => path === "*" || path === "rows") ? { onConflict: "keepLive" } : {};

/** A place inside properties: names, indexes, and `*` for every element. */
type PropertyPath = readonly (string | number)[];

/** Reads `root.nested[0]["a.b"].*`, as the options of Pulumi spell it; undefined for what is no path. */
function parsePath(text: string): PropertyPath | undefined {
  const steps = /\.?(?:\["((?:\\"|[^"])*)"\]|\[(\d+|\*)\]|([^.[\]]+))/y;
  const path: (string | number)[] = [];
  while (steps.lastIndex < text.length) {
    const [, quoted, index, name] = steps.exec(text) ?? [];
    if (quoted !== undefined) path.push(quoted.replaceAll('\\"', '"'));
    else if (index !== undefined) path.push(index === "*" ? index : Number(index));
    else if (name !== undefined) path.push(name);
    else return undefined;
  }
  return path.length === 0 || text.startsWith(".") ? undefined : path;
}

/** Writes a path as {@link parsePath} reads it. */
const pathText = ([first, ...rest]: PropertyPath): string =>
  String(first) +
  rest.map((step) => (typeof step === "number" || step === "*" ? `[${step}]` : `[${JSON.stringify(step)}]`)).join("");

/** Options of a component that are about what is below it. */
interface OfComponent<Timeouts> {
  ignoreChanges?: string[];
  replaceOnChanges?: string[];
  customTimeouts?: Timeouts;
}

/** Options of a component as they are for what is below it. */
export interface OptionsBelow<Timeouts> {
  /** Those of the thing at a place of the declaration. `others` are names there that are things of their own. */
  at: (place: readonly string[], others?: readonly string[]) => OfComponent<Timeouts>;
  /** Refuses, in one sentence, a path that is of nothing that was asked for; undefined where all are of something. */
  refusal: () => string | undefined;
}

/**
 * Hands on what no engine does for a component, which has no properties of its own to ignore: paths begin with the place
 * in the declaration, such as `organizations.acme.name`, and each thing gets the rest of its own.
 */
export function optionsBelow<Timeouts>({
  customTimeouts,
  ...lists
}: OfComponent<Timeouts> = {}): OptionsBelow<Timeouts> {
  const unused = new Set<string>();
  const pathsOf = (option: "ignoreChanges" | "replaceOnChanges"): OptionsBelow<Timeouts>["at"] => {
    const paths = (lists[option] ?? []).map((text) => ({
      text: `${option} names ${text}`,
      path: parsePath(text) ?? [],
    }));
    for (const { text } of paths) unused.add(text);
    return (place, others = []) => {
      const own = paths.filter(({ path }) => leads(path, place) && !others.includes(String(path[place.length])));
      for (const { text } of own) unused.delete(text);
      return own.length === 0 ? {} : { [option]: own.map(({ path }) => pathText(path.slice(place.length))) };
    };
  };
  const [ignored, replacing] = [pathsOf("ignoreChanges"), pathsOf("replaceOnChanges")];
  const timeouts = customTimeouts === undefined ? {} : { customTimeouts };
  return {
    at: (...of) => ({ ...timeouts, ...ignored(...of), ...replacing(...of) }),
    refusal: () => {
      const [first] = unused;
      if (first === undefined) return undefined;
      return `${first}, which is not a property of anything that the Environment declares: name one by its place, such as organizations.acme.name`;
    },
  };
}

/** True when a path leads through a place, and on from there. */
const leads = (path: PropertyPath, place: readonly string[]): boolean =>
  path.length > place.length && place.every((step, at) => path[at] === "*" || String(path[at]) === step);
