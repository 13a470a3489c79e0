import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, declareMadeID, namedThing, namedThingChange, newNamedThing, oneOf } from "./envelopes.ts";
import { id } from "./values.ts";

export const organization = z.looseObject(namedThing);

export const insertorganization = endpoint({
  summary: "Creates an organization. The caller may choose its ID.",
  path: "/api/insertorganization",
  auth: "token",
  effect: "create",
  request: z.object({
    organizationInfo: z.object({
      ...newNamedThing,
      name: newNamedThing.name.describe("Unique on the platform."),
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  ...declareMadeID("organizationID", "insertorganization"),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readorganization = endpoint({
  summary: "Reads an organization.",
  path: "/api/readorganization",
  auth: "token",
  effect: "read",
  request: z.object({ organizationID: id }),
  ...oneOf("organization", organization),
  errors: ["notFound", "forbidden"],
});

export const updateorganization = endpoint({
  summary: "Changes an organization.",
  path: "/api/updateorganization",
  auth: "token",
  effect: "idempotent",
  request: z.object({
    organizationID: id,
    organizationInfo: namedThingChange,
  }),
  ...done,
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteorganization = endpoint({
  summary: "Deletes an organization that nothing depends on any more.",
  path: "/api/deleteorganization",
  auth: "token",
  effect: "idempotent",
  request: z.object({ organizationID: id }),
  ...done,
  errors: ["notFound", "conflict", "forbidden"],
});
