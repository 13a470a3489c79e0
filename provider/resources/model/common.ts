import { z } from "zod";

/** Inputs that every resource has: its own URN, since no engine tells a dynamic provider, and where its removal needs a line. */
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
