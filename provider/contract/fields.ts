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

/** Time of a date field's value in milliseconds since the epoch; undefined when it is not a date. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^\d{4}-\d{2}(-\d{2})?/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) || !isInCalendar(value) ? undefined : time;
}

/** True if a date names a day that there is: JavaScript takes 30 February for 2 March. */
function isInCalendar(date: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(date) ?? [];
  if (year === undefined || month === undefined || day === undefined) return true;
  const last = new Date(Date.UTC(2000, Number(month), 0)); // of a leap year
  if (month !== "02") return Number(day) <= last.getUTCDate();
  return Number(day) <= (isLeap(Number(year)) ? 29 : 28);
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

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
