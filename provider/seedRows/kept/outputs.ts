import { z } from "zod";
import { id } from "../../../platform/contract/values.ts";

/** Outputs of a seed in a state, beside its inputs. */
export const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Rows that we own.", foreseen: true }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied.", opaque: true }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare.", secretIf: "sensitive" }),
  labelled: z.record(z.string(), z.int()).optional().meta({
    description: "Rows that have a value, by label: a preview counts by it what a label that goes clears.",
    opaque: true,
    secretIf: "sensitive",
  }),
  labelSets: z.array(z.array(z.string())).optional().meta({
    description: "In another mode than exact: the labels that single rows declare, where not all declare the same.",
    opaque: true,
    secretIf: "sensitive",
  }),
  renewals: z.int().optional().meta({
    description: "How often rows that were gone were made again, under other IDs. What refers to them follows.",
  }),
  departed: z.string().optional().meta({
    description: "Digests of the keys of rows that were removed: one that comes back has another ID.",
    opaque: true,
  }),
  unproven: z.array(id).optional().meta({
    description:
      "IDs of rows that were inserted and whose natural key was not seen yet. The next run, or a destroy, decides.",
    opaque: true,
  }),
  existing: z.string().optional().meta({
    description:
      "Digests of the keys of rows that were there as declared and that others made: they are kept, whatever becomes of the seed.",
    opaque: true,
  }),
  unfinished: z.boolean().optional().meta({
    description: "True when the last run left something undone, which the next one does.",
    diffedAs: "rows",
    internal: true,
  }),
  viewerIDs: z.record(z.string(), id).optional().meta({
    description: "User IDs of the addresses that viewers and userID name, as the last run found them.",
  }),
  unmet: z.array(z.string()).optional().meta({
    description: "Expectations that did not hold at the last look, with the first rows that break them.",
    diffedAs: "expect",
    secretIf: "sensitive",
  }),
  drift: z
    .object({
      changed: z.number().int().meta({ description: "Rows that say something else." }),
      missing: z.number().int().meta({ description: "Rows that are gone." }),
      changedKeys: z.array(z.string()).meta({ description: "The first keys of changed rows." }),
      missingKeys: z.array(z.string()).meta({ description: "The first keys of rows that are gone." }),
      found: z
        .record(z.string(), z.record(z.string(), z.unknown()))
        .optional()
        .meta({ description: "What the first changed rows say, by key and label." }),
      unlinked: z.number().int().optional().meta({
        description: "Of the changed rows, those that only lost the row that they were linked to.",
      }),
      unlinkedKeys: z.array(z.string()).optional().meta({ description: "The first keys of these." }),
    })
    .optional()
    .meta({
      description:
        "Rows of ours that were edited or removed on the platform, as the last refresh saw it, the first keys, and what the first edited ones say.",
      diffedAs: "rows",
    }),
  foundSecrets: z.record(z.string(), z.record(z.string(), z.string())).optional().meta({
    description: "Digests of what secret labels of the first edited rows say.",
    opaque: true,
    secret: true,
  }),
});
