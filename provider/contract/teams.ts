import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { idOfResult, recordIn, result } from "./organizations.ts";
import { id } from "./values.ts";

/** Name of the team that every organization has from the start. */
export const allMembers = "All Members";

export const team = z.looseObject({
  _id: id,
  organizationID: id.optional(),
  name: z.string(),
  description: z.string().nullish(),
  createdAt: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
});

export const insertteam = endpoint({
  summary: "Creates a team in an organization. The caller may choose its ID.",
  path: "/api/insertteam",
  auth: "token",
  effect: "create",
  request: z.object({
    teamInfo: z.object({
      organizationID: id,
      _id: id.optional(),
      name: z.string().min(1),
      description: z.string().nullish(),
    }),
    adminID: id.optional().describe("User who becomes its administrator."),
  }),
  answer: z.object({ teamID: id }),
  wrap: (answer) => result("teamID", answer.teamID),
  unwrap: (wire) => ({ teamID: idOfResult(wire, "teamID") }),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const readteam = endpoint({
  summary: "Reads a team.",
  path: "/api/readteam",
  auth: "token",
  effect: "read",
  request: z.object({ teamID: id }),
  answer: z.object({ team: team.optional() }),
  wrap: (answer) => ({ status: "success", body: answer.team ?? {} }),
  unwrap: (wire) => ({ team: recordIn(wire) }),
  errors: ["notFound", "forbidden"],
});

export const updateteam = endpoint({
  summary: "Changes a team.",
  path: "/api/updateteam",
  auth: "token",
  effect: "idempotent",
  request: z.object({
    teamID: id,
    teamInfo: z.object({ name: z.string().min(1).optional(), description: z.string().nullish() }),
  }),
  answer: z.object({}),
  wrap: () => ({ status: "success" }),
  unwrap: () => ({}),
  errors: ["notFound", "conflict", "forbidden", "invalidRequest"],
});

export const deleteteam = endpoint({
  summary: "Deletes a team.",
  path: "/api/deleteteam",
  auth: "token",
  effect: "idempotent",
  request: z.object({ teamID: id }),
  answer: z.object({}),
  wrap: () => ({ status: "success" }),
  unwrap: () => ({}),
  errors: ["notFound", "conflict", "forbidden"],
});
