import { timeOf } from "../../platform/contract/fields.ts";

/** Types whose fields accept several spellings of one value. */
export const valueForms = ["date", "number", "checkbox", "boolean"] as const;
export type ValueForm = (typeof valueForms)[number];

/** Forms of values by label. */
export type ValueForms = Readonly<Record<string, ValueForm>>;

/** Furthest time from the epoch that a date can have, in milliseconds. */
const furthest = 8.64e15;

/**
 * The canonical spelling of a value in such a field: the shortest one, which most people write, so that most values
 * keep the digest they have without a form. Values that do not fit the form stay unchanged.
 */
export function inForm(form: ValueForm, value: unknown): unknown {
  switch (form) {
    case "date":
      return dateOf(value);
    case "number":
      return typeof value === "string" ? numberOf(value) : value;
    case "checkbox":
      return typeof value === "string" || typeof value === "boolean" ? listOf(String(value)) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
  }
}

const listOf = (text: string): string[] => (text === "" ? [] : [text]);

function numberOf(text: string): unknown {
  const number = /^\s*[-+]?\d+(\.\d+)?([eE][-+]?\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
  // A larger whole number would be equal to its neighbours.
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number)) ? number : text;
}

/** A day without its midnight UTC, a time without milliseconds that are none; without a zone, what its text says. */
function dateOf(value: unknown): unknown {
  const time = timeOf(typeof value === "string" ? value.trim() : value, true);
  if (time === undefined || Math.abs(time) > furthest) return value;
  return new Date(time)
    .toISOString()
    .replace(/(T00:00:00)?\.000Z$/, (_, midnight) => (midnight === undefined ? "Z" : ""));
}
