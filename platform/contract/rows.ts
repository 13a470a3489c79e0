import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, found, isEmptyBody, read, wrapWritten } from "./envelopes.ts";
import { count, direction, id, row, rowData } from "./values.ts";
import { isObject } from "./wire.ts";

/** Highest number of rows of one batch insert. */
export const maxRowsPerInsert = 10_000;

/** Conditions by key, passed on as they are: a copy would lack a key `__proto__`, and no condition fits every row. */
const query = z
  .custom<Record<string, unknown>>(isObject, "must be a map")
  .meta({ type: "object", additionalProperties: {} });

export const microappdata = endpoint({
  summary: "Reads many rows of a data table.",
  path: "/api/microappdata",
  auth: "token",
  effect: "read",
  request: z.object({
    microAppID: id.describe("Data table ID."),
    searchFilter: z
      .array(
        z.object({
          resourceID: id.optional().describe("The data table ID."),
          field: z
            .union([z.string(), z.number().transform(String)])
            .nullable()
            .transform((field) => field ?? undefined)
            .optional()
            .describe('Number of the sort field as a string, "1" for the first.'),
          order: direction.optional(),
          skip: count.optional().describe("Rows skipped at the start."),
          limit: count.optional().describe("Most rows returned."),
        }),
      )
      .optional()
      .describe("Paging and sorting. Send skip and limit together, with a stable sort."),
    optSearchFilters: z
      .array(z.object({ resourceID: id.optional(), fieldID: id, value: z.unknown() }))
      .optional()
      .describe("Equality on fields, by field ID."),
    optViewFilters: z
      .array(query)
      .optional()
      .describe("Queries on stored row keys in document-database style, combined with AND."),
    optViewSort: z
      .union([query, z.array(z.unknown())])
      .optional()
      .describe("Stored sort fields with direction, e.g. {sortVal: 1}."),
    optLimit: count.optional(),
    optIsVectorSearch: z.boolean().optional(),
    optVectorSearchString: z.string().optional(),
    optVectorSearchNumCandidates: count.optional(),
    platformFormat: z.boolean().optional().describe("True returns the raw internal rows. Exceptional use only."),
    resultContentType: z.unknown().optional(),
    optIsStatic: z.unknown().optional(),
    optExcludeMicroApps: z.unknown().optional(),
  }),
  answer: z.object({ microAppRows: z.array(row) }),
  wrap: read,
  // No match is an empty list (assumed).
  unwrap: (wire) => ({ microAppRows: found(wire, "microappdata") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappdataRow = endpoint({
  summary: "Reads one row.",
  path: "/api/microappdata/row",
  auth: "token",
  effect: "read",
  request: z.object({ rowID: id }),
  // An unknown row is an empty body (assumed).
  answer: z.object({ currentRow: row.optional() }),
  wrap: read,
  unwrap: (wire) => (isEmptyBody(wire) ? {} : { currentRow: found(wire, "microappdataRow") ?? null }),
  unknown: {},
  errors: ["forbidden"],
});

const writeOptions = {
  embeddingRowID: id.optional().describe("The parent row, when the table is a sub-table."),
  userID: id.optional().describe("The row's creator."),
  ignoreActionRules: z.boolean().optional().describe("For controlled administration and migrations."),
};

const viewers = {
  viewers: z.array(z.string()).optional().describe("IDs of the users who may see the row."),
  teamViewers: z.array(z.string()).optional().describe("IDs of the teams whose members may see the row."),
};

export const insertmicroapprow = endpoint({
  summary: "Inserts one row. Labels that the table lacks are ignored by the platform.",
  path: "/api/insertmicroapprow",
  auth: "token",
  effect: "create",
  request: z.object({ microAppID: id, rowData, ...writeOptions, ...viewers }),
  answer: z.object({ rowID: id }),
  wrap: wrapWritten,
  unwrap: (wire) => ({ rowID: found(wire, "insertmicroapprow") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const insertmicroapprows = endpoint({
  summary: "Inserts many rows. Labels that the table lacks are ignored by the platform. No row IDs are promised.",
  path: "/api/insertmicroapprows",
  auth: "token",
  effect: "create",
  request: z.object({
    microAppID: id,
    rows: z
      .array(rowData)
      .min(1)
      .max(maxRowsPerInsert)
      .describe("Values by label; an embeddingRowID of its own counts more than the request's."),
    ...writeOptions,
    ...viewers,
  }),
  answer: z.object({ inserted: z.number().int().optional().describe("Rows inserted; some platforms do not tell.") }),
  wrap: wrapWritten,
  unwrap: (wire) => (isObject(wire) ? { inserted: found(wire, "insertmicroapprows") } : wire),
  errors: ["notFound", "forbidden", "invalidRequest", "tooLarge"],
});

export const updatemicroapprow = endpoint({
  summary: "Changes the named labels of one row; null clears a linked-table field.",
  path: "/api/updatemicroapprow",
  auth: "token",
  effect: "idempotent",
  request: z.object({ rowID: id, rowData, microAppID: id.optional(), ...writeOptions }),
  ...done,
  wrap: wrapWritten,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const removemicroapprow = endpoint({
  summary: "Deletes one row.",
  path: "/api/removemicroapprow",
  auth: "token",
  effect: "idempotent",
  request: z.object({ rowID: id }),
  ...done,
  wrap: wrapWritten,
  errors: ["notFound", "forbidden"],
});
