import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { id } from "./values.ts";
import { firstOf, readIn, type Json } from "./wire.ts";

/** ID of what was made: the answer's `result` is the ID or an object that holds it. */
export const idOfResult = (wire: unknown, name: string): unknown =>
  firstOf(wire, "result._id", `result.${name}`, "result", `body.${name}`, "body._id", name, "body");

/** Answers the ID of what was made in all forms that readers look for. */
export const result = (name: string, made: string): Json => ({
  status: "success",
  result: { _id: made },
  [name]: made,
  body: { _id: made, [name]: made },
});

/** The object that was read, or undefined for an empty one. */
export const recordIn = (wire: unknown): unknown => {
  const found = readIn(wire, "body", "result");
  return Array.isArray(found) && found !== wire ? (found as unknown[])[0] : found;
};

export const organization = z.looseObject({
  _id: id,
  name: z.string(),
  description: z.string().nullish(),
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
});

export const insertorganization = endpoint({
  summary: "Creates an organization. The caller may choose its ID.",
  path: "/api/insertorganization",
  auth: "token",
  effect: "create",
  request: z.object({
    organizationInfo: z.object({
      _id: id.optional(),
      name: z.string().min(1).describe("Unique on the platform."),
      description: z.string().nullish(),
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  answer: z.object({ organizationID: id }),
  wrap: (answer) => result("organizationID", answer.organizationID),
  unwrap: (wire) => ({ organizationID: idOfResult(wire, "organizationID") }),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readorganization = endpoint({
  summary: "Reads an organization.",
  path: "/api/readorganization",
  auth: "token",
  effect: "read",
  request: z.object({ organizationID: id }),
  answer: z.object({ organization: organization.optional() }),
  wrap: (answer) => ({ status: "success", body: answer.organization ?? {} }),
  unwrap: (wire) => ({ organization: recordIn(wire) }),
  errors: ["notFound", "forbidden"],
});

export const updateorganization = endpoint({
  summary: "Changes an organization.",
  path: "/api/updateorganization",
  auth: "token",
  effect: "idempotent",
  request: z.object({
    organizationID: id,
    organizationInfo: z.object({ name: z.string().min(1).optional(), description: z.string().nullish() }),
  }),
  answer: z.object({}),
  wrap: () => ({ status: "success" }),
  unwrap: () => ({}),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteorganization = endpoint({
  summary: "Deletes an organization that nothing depends on any more.",
  path: "/api/deleteorganization",
  auth: "token",
  effect: "idempotent",
  request: z.object({ organizationID: id }),
  answer: z.object({}),
  wrap: () => ({ status: "success" }),
  unwrap: () => ({}),
  errors: ["notFound", "conflict", "forbidden"],
});
