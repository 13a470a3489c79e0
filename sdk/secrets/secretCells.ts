import * as pulumi from "@pulumi/pulumi";
import { secretCells } from "../../provider/pulumi/secrets.ts";
import { once } from "../../provider/resources/model/once.ts";
import { factsOf } from "../../provider/resources/model/resource.ts";
import type { Resource } from "../../provider/resources/resource.ts";
import { keyOf } from "../../provider/resources/rows/declared/declaration.ts";
import { isLater } from "./secrecy.ts";

type Given = Record<string, unknown>;

/** The inputs that name secret labels, and those that another one makes secret as a whole. */
const marksOf = once(({ inputs: { shape } }: Pick<Resource, "inputs">) => ({
  hiding: Object.keys(shape).filter((name) => factsOf(shape[name]).hidesIn),
  whole: Object.keys(shape).filter((name) => factsOf(shape[name]).secretIf !== undefined),
}));

/**
 * Applies arguments that mark others as secret, as a whole or by label. `sealed` has these as secrets, for the engine;
 * `open` leaves out the secret cells, so that the rest can be checked for secrets of its own.
 */
export function withSecretCells(definition: Pick<Resource, "inputs">, args: Given): { sealed: Given; open: Given } {
  const { shape } = definition.inputs;
  const hiding = marksOf(definition).hiding.filter((name) => args[name] !== undefined);
  const whole = marksOf(definition).whole.filter((name) => {
    const { secretIf = "" } = factsOf(shape[name]);
    return args[name] !== undefined && args[secretIf] !== undefined && args[secretIf] !== false;
  });
  if (hiding.length + whole.length === 0) return { sealed: args, open: args };
  const { properties, labels } = secretCells(definition, args);
  const [sealed, open]: [Given, Given] = [{ ...args }, { ...args }];
  for (const name of hiding.flatMap((one) => factsOf(shape[one]).hidesIn ?? [])) {
    const items = args[name];
    if (items === undefined) continue;
    // The cells of an output are not known yet: all of it is a secret.
    if (!properties.has(name) || !isMap(items) || !Object.values(items).every(isMap)) {
      sealed[name] = pulumi.secret(items);
      continue;
    }
    sealed[name] = each(items, (row) => cellsOf(row, (label, value) => [labels.has(label) ? secret(value) : value]));
    open[name] = each(items, (row) => cellsOf(row, (label, value) => (labels.has(label) ? [] : [value])));
  }
  for (const name of whole) sealed[name] = pulumi.secret(args[name]);
  return { sealed, open };
}

/**
 * Rows as a map by natural key, and their keys in order, where everything but secret cells is known. An engine keeps
 * secret cells of a map apart, but makes a list with a secret in it one secret.
 */
export function keyRows(definition: Pick<Resource, "inputs">, args: Given): object {
  const { rows, key, secretLabels, sensitive } = args;
  if (secretLabels === undefined || sensitive !== undefined || !Array.isArray(rows) || isLater(key)) return {};
  const { open } = withSecretCells(definition, args);
  if (isLater(open["rows"]) || !rows.every(isMap)) return {};
  const keys = rows.map((row) => keyOf([key].flat().map(String), row));
  // The provider reports what is wrong with them.
  if (new Set(keys).size < rows.length || keys.some((one) => one === "" || one === "__proto__")) return {};
  return { rows: Object.fromEntries(keys.map((one, at) => [one, rows[at]])), keys };
}

const secret = (value: unknown): unknown => (value === undefined ? value : pulumi.secret(value));

/** True for a plain map or list, neither an output nor a promise. */
const isMap = (value: unknown): value is Given =>
  typeof value === "object" && value !== null && !pulumi.Output.isInstance(value) && !(value instanceof Promise);

const each = (items: Given, form: (row: Given) => Given): unknown =>
  Array.isArray(items)
    ? items.map((row) => form(row as Given))
    : Object.fromEntries(Object.entries(items).map(([name, row]) => [name, form(row as Given)]));

const cellsOf = (row: Given, form: (label: string, value: unknown) => unknown[]): Given =>
  Object.fromEntries(
    Object.entries(row).flatMap(([label, value]) => form(label, value).map((cell) => [label, cell] as const)),
  );
