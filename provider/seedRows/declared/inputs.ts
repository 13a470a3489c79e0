import { z } from "zod";
import { id } from "../../../platform/contract/values.ts";
import { quote } from "../../../platform/messages/text.ts";
import { modes } from "../../reconcile/rows.ts";
import { cellTypes } from "../source/source.ts";
import { expectations } from "./expectations/expectations.ts";

const label = z.string().min(1);
const row = z.record(z.string(), z.unknown());
const keyValue = [z.string().min(1), z.number(), z.boolean()] as const;
const removal = z.union([...keyValue, z.array(z.union(keyValue)).min(1)]);

/** Edits of a source's rows, as inputs of a seed. */
export const edits = {
  additions: z.array(row).optional().meta({
    description: "Rows beside those of rows or source, by label.",
    ignoredInDiff: true, // the digest of the rows counts
    secretIf: "sensitive",
  }),
  changes: z.array(row).optional().meta({
    description: "Fields of rows that rows or source has, each with the natural key of its row.",
    ignoredInDiff: true,
    secretIf: "sensitive",
  }),
  removals: z.array(removal).optional().meta({
    description:
      "Natural keys of rows that rows or source has and the seed leaves out; of several labels a list of their values.",
    ignoredInDiff: true,
    secretIf: "sensitive",
  }),
};

/** Inputs of a seed that make rows, or parts of them, secret. */
export const secrecy = {
  sensitive: z
    .boolean()
    .optional()
    .meta({
      description:
        "The rows are secret: messages and diffs tell counts, and no keys or values. Set by itself when rows are a secret.",
      marksSecret: ["rows", "additions", "changes", "removals"],
    }),
  secretLabels: z
    .array(label)
    .optional()
    .meta({
      description:
        "Labels whose values are secret: previews, drift and messages tell that they change, and not what they are. The rows are shown otherwise. Not part of the natural key.",
      hidesIn: ["rows", "additions", "changes"],
    }),
};

/** Inputs of a seed about what others write, and about what its table has to be like. */
export const beside = {
  ignoreLabels: z.array(label).optional().meta({
    description:
      "Labels that others write: not compared, not changed and not cleared in rows that are there. A value in the source goes into new rows. Not part of the natural key.",
  }),
  expect: expectations.optional().meta({
    description:
      "Requirements of the table. The declared rows are held against them before anything is sent, all rows of the table before a run writes and after it. A run whose expectations do not hold fails, and names the rows.",
  }),
};

/** Why a label of the natural key is no secret label. */
export const secretKey = (label: string): string =>
  `${quote(label)} is part of the natural key, by which previews and states name rows: leave it out, or set sensitive to hide the rows as a whole`;

/** Another seed of the program, as far as known in advance: rows hold their natural keys alone. */
const sibling = z.object({
  urn: z.string(),
  table: id,
  key: z.array(label),
  rows: z.array(row).optional(),
  source: z.string().optional(),
  types: z.record(label, z.enum(cellTypes)).optional(),
  additions: z.array(row).optional(),
  removals: z.array(removal).optional(),
  mode: z.enum(modes).optional(),
});

/** A seed of the program that refers to rows of this one: its rows hold keys and links alone. */
const referrer = sibling.omit({ urn: true }).extend({
  name: z.string(),
  references: z.record(label, z.object({ table: id, key: label })),
});

/** Inputs that connect a seed with others of the program. */
export const fromSdk = {
  linkRenewals: z.record(label, z.int()).optional().meta({
    description: "How often the rows that references lead to were made again, by label. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
  }),
  linkedSeeds: z.record(label, z.string()).optional().meta({
    description: "URNs of the seeds that references name, by label. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    passing: true,
  }),
  siblings: z.array(sibling).optional().meta({
    description: "Other seeds of the program on the same table. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    passing: true,
  }),
  referrers: z.array(referrer).optional().meta({
    description: "Seeds of the program whose rows refer to the table. Set by the SDK.",
    ignoredInDiff: true,
    computed: true,
    passing: true,
  }),
};
