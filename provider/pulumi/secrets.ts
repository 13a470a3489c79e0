import { role } from "../../platform/contract/people.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { Mask } from "../../platform/messages/masks.ts";
import { randomID } from "../resources/model/identities.ts";
import { factsOf, once } from "../resources/model/resource.ts";
import type { Resource, ResourceContext } from "../resources/resource.ts";
import { keyOf } from "../seedRows/declaration.ts";
import { leavesOf } from "../seedRows/source/source.ts";
import { type Configuration, secretKeys } from "./configuration.ts";
import { type Properties, unknownValue } from "./properties.ts";

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

const markersOf = once(({ inputs }: Resource) =>
  Object.entries(inputs.shape).flatMap(([name, schema]) => {
    const { marksSecret } = factsOf(schema);
    return marksSecret === undefined ? [] : [{ name, others: [marksSecret].flat() }];
  }),
);

/** Inputs that mark others as secret. */
export const secrecy = (resource: Resource, secrets: ReadonlySet<string>): Properties =>
  Object.fromEntries(
    markersOf(resource).flatMap(({ name, others }) => (others.some((one) => secrets.has(one)) ? [[name, true]] : [])),
  );

/** Keeps secrets out of messages and IDs. */
export const hiding = (mask: () => Mask, secrets: readonly string[]): Pick<ResourceContext, "hide" | "publicID"> => ({
  hide: (value) => mask().add(textsIn(value)),
  publicID: (id) => (new Mask(secrets).hides(id) ? randomID() : id),
});

/** Labels whose values are secret in the items of some properties, which are lists or maps. */
export interface SecretCells {
  properties: ReadonlySet<string>;
  labels: ReadonlySet<string>;
}

export const noCells: SecretCells = { properties: new Set(), labels: new Set() };

const hidersOf = once(({ inputs }: Pick<Resource, "inputs">) =>
  Object.entries(inputs.shape).flatMap(([name, schema]) => {
    const { hidesIn = [] } = factsOf(schema);
    return hidesIn.length === 0 ? [] : [{ name, hidesIn }];
  }),
);

/** The labels that an input of a resource declares secret. */
export function secretCells(resource: Pick<Resource, "inputs">, properties: Properties): SecretCells {
  const hiders = hidersOf(resource);
  if (hiders.length === 0) return noCells;
  const found = { properties: new Set<string>(), labels: new Set<string>() };
  for (const { name, hidesIn } of hiders) {
    const labels = properties[name];
    if (!Array.isArray(labels)) continue;
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

type Given = Record<string, unknown>;

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

/** The inputs that name secret labels, and those that another one makes secret as a whole. */
const marksOf = once(({ inputs: { shape } }: Pick<Resource, "inputs">) => ({
  hiding: Object.keys(shape).filter((name) => factsOf(shape[name]).hidesIn),
  whole: Object.keys(shape).filter((name) => factsOf(shape[name]).secretIf !== undefined),
}));

/**
 * Applies inputs that mark others as secret, as a whole or by label. `sealed` has these as secrets, for the engine;
 * `open` leaves out the secret cells, so that the rest can be checked for secrets of its own.
 */
export function withSecretCells(
  definition: Pick<Resource, "inputs">,
  args: Given,
  marks: Marks,
): { sealed: Given; open: Given } {
  const { shape } = definition.inputs;
  const hiding = marksOf(definition).hiding.filter((name) => args[name] !== undefined);
  const whole = marksOf(definition).whole.filter((name) => {
    const { secretIf = "" } = factsOf(shape[name]);
    return args[name] !== undefined && args[secretIf] !== undefined && args[secretIf] !== false;
  });
  if (hiding.length + whole.length === 0) return { sealed: args, open: args };
  const { properties, labels } = secretCells(definition, args);
  const [sealed, open]: [Given, Given] = [{ ...args }, { ...args }];
  const isMap = (value: unknown): value is Given => isOpenMap(value, marks);
  const secret = (value: unknown): unknown => (value === undefined ? value : marks.secret(value));
  for (const name of hiding.flatMap((one) => factsOf(shape[one]).hidesIn ?? [])) {
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
export function keyRows(definition: Pick<Resource, "inputs">, args: Given, marks: Marks): object {
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
const isOpenMap = (value: unknown, { isMarked }: Marks): value is Given =>
  typeof value === "object" && value !== null && !isMarked(value);

const each = (items: Given, form: (row: Given) => Given): unknown =>
  Array.isArray(items)
    ? items.map((row) => form(row as Given))
    : Object.fromEntries(Object.entries(items).map(([name, row]) => [name, form(row as Given)]));

const cellsOf = (row: Given, form: (label: string, value: unknown) => unknown[]): Given =>
  Object.fromEntries(
    Object.entries(row).flatMap(([label, value]) => form(label, value).map((cell) => [label, cell] as const)),
  );
