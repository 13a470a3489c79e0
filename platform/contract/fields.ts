import { linkedValue, locationValue } from "./values.ts";

/** Types that a field of a table can have. */
export const fieldTypes = [
  "text",
  "number",
  "date",
  "checkbox",
  "location",
  "linked",
  "subtable",
  "file",
  "viewers",
  "teamViewers",
] as const;
export type FieldType = (typeof fieldTypes)[number];

// Which values a field takes is documented for linked tables and locations, for numbers, text and checkboxes by example.
// That others are refused is assumed.

const isListOfTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const takes: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  date: (value) => timeOf(value) !== undefined,
  checkbox: isListOfTexts,
  location: (value) => locationValue.safeParse(value).success,
  linked: (value) => linkedValue.safeParse(value).success,
  subtable: () => true,
  file: () => true,
  viewers: isListOfTexts,
  teamViewers: isListOfTexts,
};

/** True when a field of this type takes the value. Any type takes null, which clears the field. */
export const fits = (type: FieldType, value: unknown): boolean =>
  value === null || value === undefined || takes[type](value);

const written =
  /^(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?)?)?$/i;
/**
 * Time of a date field's value in milliseconds since the epoch; undefined when it is not a date. It is the same on every
 * machine: what names no zone is in UTC, or no date where it has to be `exact`.
 */
export function timeOf(value: unknown, exact = false): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  const found = typeof value === "string" ? written.exec(value) : null;
  if (!found || (exact && found[4] !== undefined && found[8] === undefined)) return undefined;
  const [, year, month, day = "01", hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = found;
  const [time, clock] = [`${year ?? ""}-${month ?? ""}-${day}`, `${hour}:${minute}:${second}`];
  const [, sign = "+", hours = "00", minutes = "00"] = /([+-])(\d\d):?(\d\d)?/.exec(zone) ?? [];
  const moment = Date.parse(`${time}T${clock}.${fraction.padEnd(3, "0")}${sign}${hours}:${minutes}`);
  // JavaScript takes 30 February for 2 March.
  if (Number.isNaN(moment) || !new Date(Date.parse(time)).toISOString().startsWith(time)) return undefined;
  return moment;
}

/** Describes the fields of each type: what they are, and how to write a value of theirs. */
export const fieldKinds: Readonly<Record<FieldType, readonly [is: string, write: string]>> = {
  text: ["text", 'write it in quotes, as "12"'],
  number: ["a number", "write it without quotes, as 12"],
  date: ["a date", "write 2026-11-21 or 2026-11-21T08:00:00Z"],
  checkbox: ["a checkbox", 'write ["true"]'],
  location: ["a location", 'write {"address": {"formattedAddress": "…"}}'],
  linked: ["a link to another table", "name it in references, and write the key of the row that is meant"],
  subtable: ["a sub-table", "give its rows a seed of their own, with parent"],
  file: ["a file", "declare it as a RowFile"],
  viewers: ["a list of users", 'write ["<user ID>"]'],
  teamViewers: ["a list of teams", 'write ["<team ID>"]'],
};
