import { z } from "zod";

/** A rule of a layer for that layer and all that extend it. */
const rule = z.strictObject({
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).meta({
    description:
      "What the rule is about: keys from the top of the file, * or a pattern such as *@example.com for any of them. Text with dots, or a list.",
  }),
  atMost: z.number().optional().meta({ description: "Largest number." }),
  atLeast: z.number().optional().meta({ description: "Smallest number." }),
  only: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .min(1)
    .optional()
    .meta({ description: "The values that it may have." }),
  fixed: z.literal(true).optional().meta({ description: "It stays as this layer and those below have it." }),
  never: z.literal(true).optional().meta({ description: "Nothing may have it; false counts as nothing." }),
  required: z.literal(true).optional().meta({ description: "Whatever may have it has it, said in the file." }),
  because: z.string().min(1).optional().meta({ description: "Why, for whoever breaks the rule." }),
});

export type Rule = z.output<typeof rule>;

/** Rules of a file about its own changes. */
export const policy = {
  rules: z.array(rule).optional().meta({
    description: "Bounds that this file and all that extend it keep. No file above takes a rule out or replaces it.",
  }),
};
