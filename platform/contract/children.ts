import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, found, holderIn, isEmptyBody, read, wrapWritten } from "./envelopes.ts";
import { id } from "./values.ts";

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
  auth: "token",
  effect: "read",
  request: z.object({ appID: parentRow, fieldID: id }),
  answer: z.object({ childItems: z.array(child) }),
  wrap: read,
  unwrap: (wire) => ({ childItems: found(wire, "microappchildList") }),
  errors: ["notFound", "forbidden"],
});

export const microappchildCreate = endpoint({
  summary: "Creates a child record on a row's field.",
  path: "/api/microappchild/create",
  auth: "token",
  effect: "create",
  request: z.object({ microAppResourceID: id.describe("Data table ID."), appID: parentRow, fieldID: id, content }),
  answer: z.object({ childID: id }),
  wrap: wrapWritten,
  unwrap: (wire) => ({ childID: found(wire, "microappchildCreate") }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappchildRead = endpoint({
  summary: "Reads one child record.",
  path: "/api/microappchild/read",
  auth: "token",
  effect: "read",
  request: z.object({ childID: id }),
  answer: z.object({ childItem: child.optional() }),
  wrap: read,
  unwrap: (wire) => (isEmptyBody(wire) ? {} : { childItem: found(wire, "microappchildRead") ?? null }),
  errors: ["notFound", "forbidden"],
});

export const microappchildUpdate = endpoint({
  summary: "Changes a child record's metadata.",
  path: "/api/microappchild/update",
  auth: "token",
  effect: "idempotent",
  request: z.object({ childID: id, content }),
  ...done,
  wrap: wrapWritten,
  errors: ["notFound", "forbidden", "invalidRequest"],
});

export const microappchildDelete = endpoint({
  summary: "Deletes a child record.",
  path: "/api/microappchild/delete",
  auth: "token",
  effect: "idempotent",
  request: z.object({ childID: id }),
  ...done,
  wrap: wrapWritten,
  errors: ["notFound", "forbidden"],
});

export const microappchildStorecopy = endpoint({
  summary: "Copies a stored file to another resource.",
  path: "/api/microappchild/storecopy",
  auth: "token",
  effect: "create",
  request: z.object({
    sourceResourceID: id,
    destinationResourceID: id,
    fileKey: z.string().min(1),
    newFileKey: z.string().min(1).optional(),
  }),
  answer: z.object({ signedUrl: z.string() }),
  wrap: wrapWritten,
  unwrap: (wire) => ({ signedUrl: found(wire, "microappchildStorecopy") }),
  errors: ["notFound", "forbidden"],
});

export const microappchildUploadFileToStore = endpoint({
  summary: "Has the platform download a file and store it.",
  path: "/api/microappchild/uploadFileToStore",
  auth: "token",
  effect: "create",
  request: z.object({ resourceID: id, fieldID: id, url: z.string().min(1), filename: z.string().min(1).optional() }),
  answer: z.object({ url: z.string(), fileKey: z.string().optional() }), // assumed
  wrap: wrapWritten,
  unwrap: (wire) => holderIn(wire, "microappchildUploadFileToStore"),
  errors: ["notFound", "forbidden", "invalidRequest"],
});
