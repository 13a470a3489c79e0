import type { FieldType } from "../../../platform/contract/fields.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { canonical, digestOf, hexOf, keyText } from "../../reconcile/digests.ts";
import { inForm, valueForms, type ValueForm, type ValueForms } from "../../reconcile/valueForms.ts";
import { listLinkedLabels, type CellType, type Source } from "../source/source.ts";

const formOfType: Readonly<Partial<Record<FieldType | CellType, ValueForm>>> = {
  number: "number",
  date: "date",
  checkbox: "checkbox",
  boolean: "boolean",
};

/** Forms of values by the declared types of a table's fields: `fields` overrides `types`. */
export function formsOf({
  types = {},
  fields = {},
}: Pick<Source, "types" | "fields">): Readonly<Record<string, ValueForm>> | undefined {
  const declared = { ...types, ...fields };
  const forms = Object.keys(declared)
    .sort()
    .flatMap((label) => {
      const form = declared[label] && formOfType[declared[label]];
      return form === undefined ? [] : [[label, form] as const];
    });
  return forms.length === 0 ? undefined : Object.fromEntries(forms);
}

/** How values of a seed are spelled. */
export interface SpelledForms {
  /** Labels whose values have several spellings, by what the field makes of them. */
  forms?: ValueForms | undefined;
}

/**
 * The one comparison of cells: a text of a cell's value that is the same for all its spellings, undefined for nothing. Of a
 * long value it is a digest, as of one that `brief` has cut.
 */
export function comparing(
  declaration: Pick<Source, "references" | "parent"> & SpelledForms,
): (label: string, value: unknown) => string | undefined {
  const linked = new Set(listLinkedLabels(declaration));
  const forms = new Map(Object.entries(declaration.forms ?? {}));
  return (label, value) => {
    const known = typeof value === "string" ? cut.exec(value)?.[0] : undefined;
    if (known !== undefined) return known;
    const form = forms.get(label);
    const text = linked.has(label) ? keyText(value) : canonical(form === undefined ? value : inForm(form, value));
    return text === undefined || text.length <= maxCharacters ? text : `…${hexOf(digestOf(text))}`;
  };
}

/** The labels of either row whose values differ. */
export function changedLabels(declaration: Parameters<typeof comparing>[0], was: RowData, is: RowData): string[] {
  const form = comparing(declaration);
  const labels = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...labels].filter((label) => form(label, was[label]) !== form(label, is[label]));
}

/**
 * The type of a field that makes the same of both values; undefined where none does. A checkbox has no form for false,
 * so that type fits no boolean.
 */
export const typeThatEquals = (one: unknown, other: unknown): ValueForm | undefined =>
  typeof one === "number" && typeof other === "number"
    ? undefined // two numbers are the same in no type
    : (typeof one === "boolean" ? (["boolean"] as const) : valueForms).find(
        (form) => canonical(inForm(form, one)) === canonical(inForm(form, other)),
      );

/** Characters of a value that are shown and stored. */
const maxCharacters = 60;

/** The end of a value that was cut: a digest of all of it. */
const cut = /…[0-9a-f]{32}$/;

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A value as a state keeps it: of a long one the beginning, and what it is compared by. */
export const brief = (value: unknown, compared: string | undefined): unknown =>
  compared !== undefined && cut.test(compared) ? textOf(value).slice(0, maxCharacters) + compared : value;

/** A value for display. */
export function shown(value: unknown): string {
  if (canonical(value) === undefined) return "nothing";
  const text = textOf(value).replace(cut, "…");
  if (text.length > maxCharacters + 1) return JSON.stringify(`${text.slice(0, maxCharacters)}…`);
  return JSON.stringify(typeof value === "string" ? text : value);
}
