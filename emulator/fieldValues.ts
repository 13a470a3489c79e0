import { linkedValue, locationValue } from "../provider/contract/values.ts";
import { isObject } from "../provider/contract/wire.ts";
import { invalid } from "./failure.ts";
import type { FieldType } from "./seed.ts";
import type { Field } from "./tables.ts";

// Which values a field takes is documented for linked tables and locations, for numbers, text and checkboxes by example.
// That others are refused, and how, is assumed.

/** What is said of a value that a field does not take; undefined for one that it takes. */
type Rule = (value: unknown) => string | undefined;

const listOfTexts: Rule = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "a list of texts";

const rules: Record<FieldType, Rule> = {
  text: (value) => (typeof value === "string" ? undefined : "a text"),
  number: (value) => (typeof value === "number" ? undefined : "a number"),
  date: (value) => (timeOf(value) === undefined ? "a date in ISO 8601 form" : undefined),
  checkbox: listOfTexts,
  location: (value) => (locationValue.safeParse(value).success ? undefined : "a location with an address"),
  linked: (value) => (linkedValue.safeParse(value).success ? undefined : "an object with crossAppRowID"),
  subtable: () => undefined,
  file: () => undefined,
  viewers: listOfTexts,
  teamViewers: listOfTexts,
};

/** Throws unless the field takes the value; null, which clears, is always taken. */
export function judge(field: Field, value: unknown, where: string): void {
  if (value === null) return;
  const wanted = rules[field.type](value);
  if (wanted !== undefined) throw invalid(`${where}${field.label} must be ${wanted}`);
}

/** A date's time in milliseconds since the epoch. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^\d{4}-\d{2}(-\d{2})?/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

/** What a sort column holds. */
export type SortValue = string | number | null;

/**
 * The value that a field is sorted by (assumed): text and number as they are, a date as its time, a checkbox as whether
 * anything is checked, a location as its address.
 */
export function sortValue(field: Field, value: unknown): SortValue {
  switch (field.type) {
    case "checkbox":
      return Array.isArray(value) && value.length > 0 ? 1 : 0;
    case "date":
      return timeOf(value) ?? null;
    case "location": {
      const address = isObject(value) ? value["address"] : undefined;
      const text = isObject(address) ? address["formattedAddress"] : undefined;
      return typeof text === "string" ? text : null;
    }
    case "linked": {
      const shown = isObject(value) ? value["value"] : undefined;
      const text = isObject(shown) ? shown["value"] : undefined;
      return typeof text === "string" || typeof text === "number" ? text : null;
    }
    default:
      return typeof value === "string" || typeof value === "number" ? value : null;
  }
}
