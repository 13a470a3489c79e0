import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { done, declareMadeID, namedThing, namedThingChange, newNamedThing, oneOf } from "./envelopes.ts";
import { id } from "./values.ts";

/** Name of the team that comes with every organization. */
export const allMembers = "All Members";

export const team = z.looseObject({
  ...namedThing,
  organizationID: id.optional(),
});

export const insertteam = endpoint({
  summary: "Creates a team in an organization. The caller may choose its ID.",
  path: "/api/insertteam",
  auth: "token",
  effect: "create",
  request: z.object({
    teamInfo: z.object({
      organizationID: id,
      ...newNamedThing,
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  ...declareMadeID("teamID", "insertteam"),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readteam = endpoint({
  summary: "Reads a team.",
  path: "/api/readteam",
  auth: "token",
  effect: "read",
  request: z.object({ teamID: id }),
  ...oneOf("team", team),
  errors: ["notFound", "forbidden"],
});

export const updateteam = endpoint({
  summary: "Changes a team.",
  path: "/api/updateteam",
  auth: "token",
  effect: "idempotent",
  request: z.object({
    teamID: id,
    teamInfo: namedThingChange,
  }),
  ...done,
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteteam = endpoint({
  summary: "Deletes a team.",
  path: "/api/deleteteam",
  auth: "token",
  effect: "idempotent",
  request: z.object({ teamID: id }),
  ...done,
  errors: ["notFound", "conflict", "forbidden"],
});
