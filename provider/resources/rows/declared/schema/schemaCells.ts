import { nearest } from "../../../../../machine/spelling.ts";
import { timeOf } from "../../../../contract/fields.ts";
import type { RowData } from "../../../../contract/values.ts";
import { isObject } from "../../../../contract/wire.ts";
import { quote, some } from "../../../../messages/text.ts";
import { inForm } from "../../../../reconcile/valueForms.ts";
import { formatOf } from "../../../../sources/formats.ts";
import { isHidden, listLinkedLabels, type CellType } from "../../../../sources/source.ts";
import type { ExpectingSeed } from "../expectations/cellRules.ts";
import { allForms, brief } from "../forms.ts";
import { hasValue } from "../rowLabels.ts";
import type { SchemaField, SchemaType, TableSchema } from "./tableSchema.ts";

const fits: Readonly<Record<SchemaType, (value: unknown) => boolean>> = {
  // A link of which no seed knows the rows stands there as the platform has it.
  string: (value) => typeof value === "string" || (isObject(value) && typeof value["crossAppRowID"] === "string"),
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  date: (value) => timeOf(value) !== undefined,
  datetime: (value) => timeOf(value) !== undefined,
  array: Array.isArray,
  object: isObject,
  any: () => true,
};

const kinds: Readonly<Record<SchemaType, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  date: "a date",
  datetime: "a date or time",
  array: "a list",
  object: "a map",
  any: "anything",
};

/** How the cells of a CSV that go into a field are read (default: as text). */
const cellTypes: Readonly<Partial<Record<SchemaType, CellType>>> = {
  number: "number",
  integer: "number",
  boolean: "boolean",
  array: "checkbox",
  object: "json",
};

/** A rule that a cell breaks; its value for people is left out where it is secret. */
export interface Misfit {
  label: string;
  rule: "type" | "length" | "range";
  /** Values that the schema takes there. */
  wanted: string;
  value?: string;
}

/** Labels and types of a Table Schema, which the cells of a seed's table are held against. */
export class SchemaCells {
  readonly schema: TableSchema;
  readonly #seed: ExpectingSeed;
  readonly #linked: ReadonlySet<string>;
  readonly #forms: ReturnType<typeof allForms>;

  constructor(schema: TableSchema, seed: ExpectingSeed) {
    this.schema = schema;
    this.#seed = seed;
    this.#linked = new Set(listLinkedLabels(seed));
    this.#forms = allForms(seed);
  }

  /** True for a label that the schema has; the column that names the parent row is no field. */
  has(label: string): boolean {
    return label === this.#seed.parent?.by || this.schema.fields.has(label);
  }

  /** Describes a label that the schema lacks. */
  unknownLabel(label: string): string | undefined {
    if (this.has(label)) return undefined;
    const { file, fields } = this.schema;
    const known = [...fields.keys()];
    const near = nearest(label, known);
    const meant = near === undefined ? `it has ${some(known, 20)}` : `did you mean ${quote(near)}?`;
    return `${file} has no field ${quote(label)}; ${meant}`;
  }

  /** Cells that do not fit their field. Links are keys of other rows, and have no type of their own. */
  *misfits(values: RowData): Generator<Misfit> {
    for (const label of Object.keys(values)) {
      const field = this.schema.fields.get(label);
      if (!field || this.#linked.has(label) || !hasValue(values[label])) continue;
      const form = this.#forms?.[label];
      const value = form === undefined ? values[label] : inForm(form, values[label]);
      const broken = fits[field.type](value)
        ? outside(field, value)
        : ({ rule: "type", wanted: kinds[field.type] } as const);
      if (!broken) continue;
      const shown = isHidden(this.#seed, label) ? {} : { value: JSON.stringify(brief(values[label])) };
      yield { label, ...broken, ...shown };
    }
  }

  /** A misfit in the source, with advice for the column of a CSV. */
  describe({ label, rule, wanted, value = "another value" }: Misfit): string {
    const type = this.schema.fields.get(label)?.type ?? "any";
    return `${label} is ${value}, and ${this.schema.file} takes ${wanted}${rule === "type" ? this.#advise(label, type) : ""}`;
  }

  #advise(label: string, type: SchemaType): string {
    const { source = "", types = {} } = this.#seed;
    const needed = cellTypes[type] ?? "text";
    if (formatOf(source) !== ".csv" || (types[label] ?? "text") === needed) return "";
    return needed === "text" ? "; leave it out of types" : `, with types: {${label}: ${needed}}`;
  }

  /** Links of the schema that the seed has otherwise, of the labels that its rows have. */
  strangeLinks(labels: ReadonlySet<string>): string[] {
    const { file, links } = this.schema;
    const { table: own = "", references = {} } = this.#seed;
    return links.flatMap(({ label, table, key }) => {
      if (!labels.has(label)) return [];
      const to = references[label];
      const there = table === "" ? own : table;
      if (to === undefined)
        return [`${label} links to ${quote(key)} of table ${there} in ${file}: name it in references`];
      if (!isObject(to) || (to["table"] === there && to["key"] === key)) return [];
      return [
        `references.${label} is ${quote(String(to["key"]))} of table ${String(to["table"])}, and ${quote(key)} of table ${there} in ${file}: correct one of the two`,
      ];
    });
  }
}

/** The bound that a value of the right type breaks. */
function outside({ type, constraints }: SchemaField, value: unknown): Pick<Misfit, "rule" | "wanted"> | undefined {
  const { minLength = 0, maxLength = Infinity, minimum, maximum } = constraints;
  if (typeof value === "string" || Array.isArray(value)) {
    const length = typeof value === "string" ? Array.from(value).length : value.length;
    if (length < minLength) return { rule: "length", wanted: `a length of at least ${minLength}` };
    if (length > maxLength) return { rule: "length", wanted: `a length of at most ${maxLength}` };
  }
  const place = placeOn(type, value);
  const [low, high] = [placeOn(type, minimum), placeOn(type, maximum)];
  if (place === undefined) return undefined;
  if (low !== undefined && place < low) return { rule: "range", wanted: `at least ${String(minimum)}` };
  if (high !== undefined && place > high) return { rule: "range", wanted: `at most ${String(maximum)}` };
  return undefined;
}

/** A number by which values of a type are compared; undefined where they have no order. */
function placeOn(type: SchemaType, value: unknown): number | undefined {
  if (type === "date" || type === "datetime") return timeOf(value);
  if (type !== "number" && type !== "integer") return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
