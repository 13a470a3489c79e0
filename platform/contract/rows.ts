import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, found, isEmptyBody, holderIn } from "./envelopes.ts";
import { count, direction, id, maxRowsPerInsert, row, rowData } from "./values.ts";
import { isObject } from "./wire.ts";

/** Conditions by key, passed on as they are: a copy would lack a key `__proto__`, and no condition fits every row. */
const query = z
  .custom<Record<string, unknown>>(isObject, "must be a map")
  .meta({ type: "object", additionalProperties: {} });

export const microappdata = endpoint({
  summary: "Reads many rows of a data table.",
  path: "/api/microappdata",
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
  // No match is an empty list (assumed).
  unwrap: (wire) => ({ microAppRows: found(wire, "microappdata") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappdataRow = endpoint({
  summary: "Reads one row.",
  path: "/api/microappdata/row",
  effect: "read",
  request: z.object({ rowID: id }),
  // An unknown row is an empty body (assumed).
  answer: z.object({ currentRow: row.optional() }),
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
  effect: "create",
  request: z.object({ microAppID: id, rowData, ...writeOptions, ...viewers }),
  answer: z.object({ rowID: id }),
  unwrap: (wire) => ({ rowID: found(wire, "insertmicroapprow") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const insertmicroapprows = endpoint({
  summary: "Inserts many rows. Labels that the table lacks are ignored by the platform. No row IDs are promised.",
  path: "/api/insertmicroapprows",
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
  unwrap: (wire) => (isObject(wire) ? { inserted: found(wire, "insertmicroapprows") } : wire),
  errors: ["notFound", "forbidden", "invalidRequest", "tooLarge"],
});

export const updatemicroapprow = endpoint({
  summary: "Changes the named labels of one row; null clears a linked-table field.",
  path: "/api/updatemicroapprow",
  effect: "idempotent",
  request: z.object({ rowID: id, rowData, microAppID: id.optional(), ...writeOptions }),
  ...done,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const removemicroapprow = endpoint({
  summary: "Deletes one row.",
  path: "/api/removemicroapprow",
  effect: "idempotent",
  request: z.object({ rowID: id }),
  ...done,
  errors: ["notFound", "forbidden"],
});

const content = z.looseObject({
  url: z.string().optional(),
  filename: z.string().optional(),
  size: z.number().optional().describe("Bytes."),
  type: z.string().optional().describe("Media type."),
  expiredAt: z.unknown().optional(),
});

/** A file or image record on a field of a row. */
export const child = z.looseObject({
  _id: id,
  fieldID: z.string().optional(),
  content: content.optional(),
});

// In these endpoints the platform calls the parent row `appID`.
const parentRow = id.describe("ID of the parent row.");

export const microappchildList = endpoint({
  summary: "Lists the child records of a row's field.",
  path: "/api/microappchild/list",
  effect: "read",
  request: z.object({ appID: parentRow, fieldID: id }),
  answer: z.object({ childItems: z.array(child) }),
  unwrap: (wire) => ({ childItems: found(wire, "microappchildList") }),
  errors: ["notFound", "forbidden"],
});

export const microappchildCreate = endpoint({
  summary: "Creates a child record on a row's field.",
  path: "/api/microappchild/create",
  effect: "create",
  request: z.object({ microAppResourceID: id.describe("Data table ID."), appID: parentRow, fieldID: id, content }),
  answer: z.object({ childID: id }),
  unwrap: (wire) => ({ childID: found(wire, "microappchildCreate") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappchildRead = endpoint({
  summary: "Reads one child record.",
  path: "/api/microappchild/read",
  effect: "read",
  request: z.object({ childID: id }),
  answer: z.object({ childItem: child.optional() }),
  unwrap: (wire) => (isEmptyBody(wire) ? {} : { childItem: found(wire, "microappchildRead") ?? null }),
  errors: ["notFound", "forbidden"],
});

export const microappchildUpdate = endpoint({
  summary: "Changes a child record's metadata.",
  path: "/api/microappchild/update",
  effect: "idempotent",
  request: z.object({ childID: id, content }),
  ...done,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappchildDelete = endpoint({
  summary: "Deletes a child record.",
  path: "/api/microappchild/delete",
  effect: "idempotent",
  request: z.object({ childID: id }),
  ...done,
  errors: ["notFound", "forbidden"],
});

export const microappchildStorecopy = endpoint({
  summary: "Copies a stored file to another resource.",
  path: "/api/microappchild/storecopy",
  effect: "create",
  request: z.object({
    sourceResourceID: id,
    destinationResourceID: id,
    fileKey: z.string().min(1),
    newFileKey: z.string().min(1).optional(),
  }),
  answer: z.object({ signedUrl: z.string() }),
  unwrap: (wire) => ({ signedUrl: found(wire, "microappchildStorecopy") }),
  errors: ["notFound", "forbidden"],
});

export const microappchildUploadFileToStore = endpoint({
  summary: "Has the platform download a file and store it.",
  path: "/api/microappchild/uploadFileToStore",
  effect: "create",
  request: z.object({ resourceID: id, fieldID: id, url: z.string().min(1), filename: z.string().min(1).optional() }),
  answer: z.object({ url: z.string(), fileKey: z.string().optional() }), // assumed
  unwrap: (wire) => holderIn(wire, "microappchildUploadFileToStore"),
  errors: ["notFound", "forbidden", "invalidRequest"],
});
