import { z } from "zod";
import { isObject } from "./wire.ts";

/** An ID that the platform assigns: opaque, 1 to 200 characters, not a display name. */
export const id = z.string().min(1).max(200);
export const idSchema = { type: "string", minLength: 1, maxLength: 200 };
export const isID = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 200;

/** An e-mail address. Only its outline is checked, since the platform's rules are not documented. */
export const email = z.string().regex(/^[^\s@]+@[^\s@]+$/, "must be an e-mail address");

/** A number, also one in quotes, as older clients send it. */
export const count = z.union([z.number(), z.string().regex(/^\d+$/, "must be a number").transform(Number)]);

/** The part of a whole that a guard allows, from 0 to 1. */
export const fraction = z.number().min(0).max(1, "must be a fraction from 0 to 1: 0.25 allows a quarter, 1 allows all");

/** Alternatives of requests, one of which must be there whole. */
export const alternatives = new WeakMap<z.ZodType, readonly z.ZodObject[]>();

/** A request that needs one of these alternatives whole; `error` and `path` are for one that has none. */
export function needsOne<Request extends z.ZodObject>(
  request: Request,
  refusal: { error: string; path: string[] },
  ...anyOf: readonly z.ZodObject[]
): Request {
  const isThere = (values: unknown): boolean => anyOf.some((alternative) => alternative.safeParse(values).success);
  const needing = request.refine(isThere, refusal);
  alternatives.set(needing, anyOf);
  return needing;
}

/** Values of a row by field label. Labels are case sensitive. */
export const rowData = z.record(z.string(), z.unknown());

/** Direction of a sort: 1 ascending, -1 descending. */
export const direction = z.union([z.literal(1), z.literal(-1)]);

/** Value of a linked-table field. The platform returns `additionalValues`; no request sends it. */
export const linkedValue = z.object({
  crossAppRowID: id.describe("ID of the row that is linked."),
  value: z.object({ label: z.string(), value: z.unknown() }).optional(),
  additionalValues: z.record(z.string(), z.object({ label: z.string(), value: z.unknown() })).optional(),
});

/** Value of a location field. */
export const locationValue = z.object({
  address: z.looseObject({
    country: z.string().optional().describe("Country code."),
    formattedAddress: z.string().optional(),
    geometry: z
      .object({ type: z.string(), coordinates: z.tuple([z.number(), z.number()]).describe("Longitude, latitude.") })
      .optional(),
  }),
});

/** A row of an answer: its fields by label beside the platform's own, `_id` among them. */
export type Row = Record<string, unknown> & {
  _id: string;
  userID?: string | null | undefined;
  viewers?: unknown[] | null | undefined;
  teamViewers?: unknown[] | null | undefined;
  isLocked?: boolean | null | undefined;
  submitted?: unknown;
  embeddingRowID?: string | null | undefined;
};

function isRow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { _id, userID, viewers, teamViewers, isLocked, embeddingRowID } = value;
  const isOf = (type: string, field: unknown): boolean => (field ?? undefined) === undefined || typeof field === type;
  const isList = (field: unknown): boolean => Array.isArray(field ?? []);
  const texts = isOf("string", userID) && isOf("string", embeddingRowID);
  return isID(_id) && texts && isOf("boolean", isLocked) && isList(viewers) && isList(teamViewers);
}

const listOrNull = { anyOf: [{ type: "array", items: {} }, { type: "null" }] };

/**
 * A row of an answer: user-defined fields by label beside the platform's own. It is checked and passed on without a copy,
 * because rows come by the thousand.
 */
export const row = z.custom<Row>(isRow).meta({
  type: "object",
  properties: {
    _id: idSchema,
    userID: { description: "The row's creator.", type: ["string", "null"] },
    viewers: listOrNull,
    teamViewers: listOrNull,
    isLocked: { type: ["boolean", "null"] },
    submitted: { description: "Milliseconds since the epoch." },
    embeddingRowID: { description: "The parent row, in a sub-table.", type: ["string", "null"] },
  },
  required: ["_id"],
  additionalProperties: {},
});

/** Labels of the platform's own fields in a row. None of them can be written. */
export const systemLabels: ReadonlySet<string> = new Set([
  "_id",
  "userID",
  "viewers",
  "teamViewers",
  "author",
  "embeddingRowID",
  "isLocked",
  "submitted",
  "deviceID",
  "appVersion",
  "hasConflict",
  "clientCounter",
  "clientSubmitted",
  "parentResourceID",
  "topLevelParentID",
]);

/** The values of a row without the platform's own fields. */
export const declarable = (row: RowData): RowData =>
  Object.fromEntries(Object.entries(row).filter(([label]) => !systemLabels.has(label)));

/** Values of a row by field label, to write. Labels are case sensitive. */
export type RowData = z.infer<typeof rowData>;

/** Copies an object without its undefined values; a request leaves unchanged what it does not name. */
export function withoutUndefined<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  // The filter removes exactly what the type excludes.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

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

/** Highest number of rows of one batch insert. */
export const maxRowsPerInsert = 10_000;

/** Meanings of a generation's status word. */
export const generationState = z.enum(["pending", "ready", "failed"]);

export type GenerationState = z.output<typeof generationState>;

// The platform's words are not documented: these are assumed, everything else is pending and reported by its word.
const usualWords: Readonly<Record<string, GenerationState>> = {
  ...Object.fromEntries(
    ["completed", "complete", "ready", "done", "success", "finished"].map((word) => [word, "ready"]),
  ),
  ...Object.fromEntries(["failed", "error", "cancelled", "canceled"].map((word) => [word, "failed"])),
};

/** The meaning of a status word: that of `words`, else the usual one, else `pending`. Ignores letter case. */
export function stateOf(word: string, words: Readonly<Record<string, GenerationState>> = {}): GenerationState {
  const spelled = Object.entries(words).find(([key]) => key.toLowerCase() === word.toLowerCase());
  return spelled?.[1] ?? usualWords[word.toLowerCase()] ?? "pending";
}

// A link that people follow has no user name before the server's, and no invisible characters.
const linkForm =
  /^(https?:\/\/[^\s\p{C}/@?#\\"'<>]+(?:\/[^\s\p{C}?#\\"'<>]+?)??)(?:\/workspace)?\/apps?\/([^\s\p{C}/?#\\"'<>]+)(?=$|[/?#])[^\s\p{C}]*$/u;

/** Finds the app ID in a link `…/workspace/apps/<app_id>` or `…/app/<app_id>`; undefined when there is none. */
export const appIDIn = (link: string): string | undefined => linkForm.exec(link)?.[2];

/** Makes the link to the finished app, `{app_server}/app/<app_id>`, of the generation's link; undefined for any other. */
export function toFinishedAppLink(link: string): string | undefined {
  const [, server, id] = linkForm.exec(link) ?? [];
  return server === undefined || id === undefined ? undefined : `${server}/app/${id}`;
}

/** True when a link to an app has the origin of this server. Apps have a server with an address of its own. */
export const leadsTo = (server: string, link: string): boolean =>
  URL.canParse(link) && URL.canParse(server) && new URL(link).origin === new URL(server).origin;
