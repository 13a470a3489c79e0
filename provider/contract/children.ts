import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, read, wrapWritten } from "./envelopes.ts";
import { answeredID, id } from "./values.ts";
import { envelopes, findMadeID, firstOf, isObject, placesOf, readIn, toTextID, type Json } from "./wire.ts";

const content = z.looseObject({
  url: z.string().optional(),
  filename: z.string().optional(),
  size: z.number().optional().describe("Bytes."),
  type: z.string().optional().describe("Media type."),
  expiredAt: z.unknown().optional(),
});

/** A file or image record on a field of a row. */
export const child = z.looseObject({
  _id: answeredID,
  fieldID: z.preprocess(toTextID, z.string().optional()),
  content: content.optional(),
});

/** A record with its ID and content where the specification's readers look for them: neither shape is documented. */
function spelledChild(wire: unknown): unknown {
  if (!isObject(wire)) return wire;
  const _id = wire["_id"] ?? wire["childID"] ?? wire["childId"] ?? wire["id"];
  const isFlat = wire["content"] === undefined && (wire["url"] !== undefined || wire["filename"] !== undefined);
  return { ...wire, ...(_id === undefined ? {} : { _id }), ...(isFlat ? { content: contentOf(wire) } : {}) };
}

const contentOf = (wire: Json): Json =>
  Object.fromEntries(Object.keys(content.shape).flatMap((key) => (key in wire ? [[key, wire[key]]] : [])));

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
  unwrap: (wire) => {
    const found = firstOf(wire, ...placesOf("childItems", "children", "items"), ...envelopes);
    return { childItems: Array.isArray(found) ? found.map(spelledChild) : found };
  },
  errors: ["notFound", "forbidden"],
});

export const microappchildCreate = endpoint({
  summary: "Creates a child record on a row's field.",
  path: "/api/microappchild/create",
  auth: "token",
  effect: "create",
  request: z.object({ microAppResourceID: id.describe("Data table ID."), appID: parentRow, fieldID: id, content }),
  answer: z.object({ childID: answeredID }),
  wrap: wrapWritten,
  unwrap: (wire) => ({ childID: findMadeID(wire, "childID", "childId") }),
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
  unwrap: (wire) => ({ childItem: spelledChild(readIn(wire, ...placesOf("childItem", "child"))) }),
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
  unwrap: (wire) => ({ signedUrl: firstOf(wire, ...placesOf("signedUrl")) }),
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
  unwrap: (wire) => ({ url: firstOf(wire, ...placesOf("url")), fileKey: firstOf(wire, ...placesOf("fileKey")) }),
  errors: ["notFound", "forbidden", "invalidRequest"],
});
