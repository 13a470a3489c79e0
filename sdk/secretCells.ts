import * as pulumi from "@pulumi/pulumi";
import { factsOf } from "../provider/pulumi/properties.ts";
import { secretCells } from "../provider/pulumi/secrets.ts";
import type { Resource } from "../provider/resources/resource.ts";
import { keyOf } from "../provider/resources/rows/declared/declaration.ts";
import { isLater } from "./secrecy.ts";

type Given = Record<string, unknown>;

/**
 * Arguments that are secret since another one says so, as a whole or some labels of them: `sealed` for the engine, with
 * these as secrets, and `open` without the cells, by which the rest is judged.
 */
export function withSecretCells(definition: Pick<Resource, "inputs">, args: Given): { sealed: Given; open: Given } {
  const { shape } = definition.inputs;
  const hiding = Object.keys(shape).filter((name) => factsOf(shape[name]).hidesIn && args[name] !== undefined);
  const whole = Object.keys(shape).filter((name) => {
    const { secretIf = "" } = factsOf(shape[name]);
    return args[name] !== undefined && args[secretIf] !== undefined && args[secretIf] !== false;
  });
  if (hiding.length + whole.length === 0) return { sealed: args, open: args };
  const { properties, labels } = secretCells(definition, args);
  const [sealed, open]: [Given, Given] = [{ ...args }, { ...args }];
  for (const name of hiding.flatMap((one) => factsOf(shape[one]).hidesIn ?? [])) {
    const items = args[name];
    if (items === undefined) continue;
    // Of what comes later, nobody can tell the cells apart.
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
 * Rows as a map by their natural key, and their keys in order, where all but secret cells is known: an engine keeps each
 * cell of a map apart, and makes a list with a secret in it one secret.
 */
export function keyedRows(definition: Pick<Resource, "inputs">, args: Given): object {
  const { rows, key, secretLabels, sensitive } = args;
  if (secretLabels === undefined || sensitive !== undefined || !Array.isArray(rows) || isLater(key)) return {};
  const { open } = withSecretCells(definition, args);
  if (isLater(open["rows"]) || !rows.every(isMap)) return {};
  const keys = rows.map((row) => keyOf([key].flat().map(String), row));
  // What is wrong with them the provider says.
  if (new Set(keys).size < rows.length || keys.some((one) => one === "" || one === "__proto__")) return {};
  return { rows: Object.fromEntries(keys.map((one, at) => [one, rows[at]])), keys };
}

const secret = (value: unknown): unknown => (value === undefined ? value : pulumi.secret(value));

/** Whether it is a map or list of the program's own, and nothing that comes later. */
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
