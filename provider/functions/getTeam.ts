import { z } from "zod";
import { id } from "../../platform/contract/values.ts";
import { platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";

export const getTeam = platformFunction({
  name: "getTeam",
  summary: "A team that is on the platform.",
  example: { inputs: { teamID: "${crew.id}" }, output: "name" },
  inputs: z.object({ teamID: id.meta({ description: "ID of the team." }) }),
  outputs: z.object({
    teamID: id.meta({ description: "ID of the team." }),
    organizationID: id
      .optional()
      .meta({ description: "Organization that it belongs to, when the platform answers it." }),
    name: z.string().meta({ description: "Name of the team." }),
    description: z.string().optional().meta({ description: "Purpose, when the platform has a text." }),
  }),

  invoke: async (context, { teamID }) => {
    const read = context.client.readteam({ teamID }, context).then(({ team }) => team);
    const { name, organizationID, description } = await requireFound("teamID", "team", read);
    return {
      teamID,
      ...(organizationID === undefined ? {} : { organizationID }),
      name,
      ...(description ? { description } : {}),
    };
  },
});
