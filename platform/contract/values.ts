import { z } from "zod";
import { isObject } from "./wire.ts";

/** An ID that the platform assigns: opaque, 1 to 200 characters, not a display name. */
export const id = z.string().min(1).max(200);

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

/**
 * Keys of a JSON Schema, each made when a document asks for it: to make one takes as long as all else here, and every
 * program loads this.
 */
export function describeLater(keys: readonly string[], make: () => Record<string, unknown>): Record<string, unknown> {
  let made: Record<string, unknown> | undefined;
  const get = (key: string) => ({ enumerable: true, get: () => (made ??= make())[key] });
  return Object.defineProperties({}, Object.fromEntries(keys.map((key) => [key, get(key)])));
}

const rowFields = z.object({
  _id: id,
  userID: z.string().nullish().describe("The row's creator."),
  viewers: z.array(z.unknown()).nullish(),
  teamViewers: z.array(z.unknown()).nullish(),
  isLocked: z.boolean().nullish(),
  submitted: z.unknown().optional().describe("Milliseconds since the epoch."),
  embeddingRowID: z.string().nullish().describe("The parent row, in a sub-table."),
});

/**
 * A row of an answer: user-defined fields by label beside the platform's own. It is validated and passed on without a
 * copy, because rows come by the thousand.
 */
export const row = z
  .custom<z.output<typeof rowFields> & Record<string, unknown>>(
    (value) => isRow(value) || rowFields.safeParse(value).success,
  )
  .meta(
    describeLater(["type", "properties", "required", "additionalProperties"], () =>
      z.toJSONSchema(z.looseObject(rowFields.shape)),
    ),
  );

/** Quick check for an ordinary row, in an eighth of the schema's time; the schema decides about all others. */
function isRow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { _id, userID, viewers = [], teamViewers = [], isLocked = false, embeddingRowID = "" } = value;
  return (
    typeof _id === "string" &&
    _id !== "" &&
    _id.length <= 200 &&
    typeof userID === "string" &&
    Array.isArray(viewers) &&
    Array.isArray(teamViewers) &&
    typeof isLocked === "boolean" &&
    typeof embeddingRowID === "string"
  );
}

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

/** A row of an answer: its fields by label beside the platform's own, `_id` among them. */
export type Row = z.infer<typeof row>;
/** Values of a row by field label, to write. Labels are case sensitive. */
export type RowData = z.infer<typeof rowData>;

/** Copies an object without its undefined values; a request leaves unchanged what it does not name. */
export function withoutUndefined<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  // The filter removes exactly what the type excludes.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}
