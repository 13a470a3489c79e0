import { z } from "zod";

/**
 * Inputs of every resource: its URN, since engines do not pass it to a dynamic provider, and the place of lines for
 * removals.
 */
export const common = {
  resourceUrn: z.string().optional().meta({
    description: "The resource's own URN. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    internal: true,
  }),
  removal: z
    .object({ file: z.string(), path: z.array(z.string()) })
    .optional()
    .meta({
      description: "Where its removal needs a line. Set by an Environment whose removals are declared.",
      computed: true,
      internal: true,
    }),
};
