import { z } from "zod";
import { id } from "../../platform/contract/values.ts";
import { platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";

export const getOrganization = platformFunction({
  name: "getOrganization",
  summary: "An organization that is on the platform.",
  example: { inputs: { organizationID: "${acme.id}" }, output: "name" },
  inputs: z.object({ organizationID: id.meta({ description: "ID of the organization." }) }),
  outputs: z.object({
    organizationID: id.meta({ description: "ID of the organization." }),
    name: z.string().meta({ description: "Name, unique on the platform." }),
    description: z.string().optional().meta({ description: "Purpose, when the platform has a text." }),
  }),

  invoke: async (context, { organizationID }) => {
    const read = context.client.readorganization({ organizationID }, context).then(({ organization }) => organization);
    const { name, description } = await requireFound("organizationID", "organization", read);
    return { organizationID, name, ...(description ? { description } : {}) };
  },
});
