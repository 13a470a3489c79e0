import { z } from "zod";

/** Inputs of every resource: its URN, since engines do not pass it to a dynamic provider. */
export const common = {
  resourceUrn: z.string().optional().meta({
    description: "The resource's own URN. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    internal: true,
  }),
};
