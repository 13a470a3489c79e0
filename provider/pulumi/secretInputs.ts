import { once } from "../resources/model/once.ts";
import { factsOf } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import { keyOf } from "../seedRows/declared/declaration.ts";
import { secretCells } from "./secrets.ts";

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
