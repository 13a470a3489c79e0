import type { FieldType } from "../../../contract/fields.ts";
import { canonical, keyText } from "../../../reconcile/digests.ts";
import { inForm, type DeclaredForm, type ValueForms } from "../../../reconcile/valueForms.ts";
import { listLinkedLabels, type CellType, type Source } from "../../../sources/source.ts";

const formOfType: Readonly<Partial<Record<FieldType | CellType, DeclaredForm>>> = {
  number: "number",
  date: "date",
  checkbox: "checkbox",
  boolean: "boolean",
};

/** Forms of values by the declared types of a table's fields: `fields` overrides `types`. */
export function formsOf({
  types = {},
  fields = {},
}: Pick<Source, "types" | "fields">): Readonly<Record<string, DeclaredForm>> | undefined {
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
  /** Labels whose fields were seen to keep texts without the space around them. */
  trims?: string[] | undefined;
}

/** Forms of values by declared types, and by the fields that were seen to trim texts. */
export const allForms = ({ forms, trims = [] }: SpelledForms): ValueForms | undefined =>
  trims.length === 0 ? forms : { ...Object.fromEntries(trims.map((label) => [label, "trimmed" as const])), ...forms };

/** Text of a cell's value that is the same for all its spellings; undefined for nothing. */
export function comparing(
  declaration: Pick<Source, "references" | "parent"> & SpelledForms,
): (label: string, value: unknown) => string | undefined {
  const linked = new Set(listLinkedLabels(declaration));
  const forms = new Map(Object.entries(allForms(declaration) ?? {}));
  return (label, value) => {
    if (linked.has(label)) return keyText(value);
    const form = forms.get(label);
    return canonical(form === undefined ? value : inForm(form, value));
  };
}

/** Types that may be declared of a label for which two values were the same. */
const declarable = ["date", "number", "boolean", "checkbox"] as const;

/**
 * The type of a field that makes the same of both values; undefined where none does. A checkbox has no form for false,
 * so that type fits no boolean.
 */
export const typeThatEquals = (one: unknown, other: unknown): (typeof declarable)[number] | undefined =>
  (typeof one === "boolean" ? (["boolean"] as const) : declarable).find(
    (form) => canonical(inForm(form, one)) === canonical(inForm(form, other)),
  );

/** Characters of a value that are shown and stored. */
const maxCharacters = 60;

/** A value for display and storage: a long one becomes a shortened text. Shortening it again changes nothing. */
export function brief(value: unknown): unknown {
  if (value === undefined) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= maxCharacters ? value : `${text.slice(0, maxCharacters)}…`;
}
