import { z } from "zod";
import { id } from "../contract/values.ts";
import { common, resource, adopt } from "./resource.ts";

const label = z.string().min(1);
const lookup = { table: id, key: label };

const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) that the rows go into.", replaces: true }),
  key: z
    .union([label.transform((one) => [one]), z.array(label).min(1)])
    .meta({ description: "Label or labels that tell one row from another: the natural key.", replaces: true }),
  rows: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "The rows by label, in the program. Either this or source.",
  }),
  source: z.string().min(1).optional().meta({
    description: "File with the rows, relative to the project: .csv, .json, .ndjson or .yaml. Either this or rows.",
    settles: "silently", // its content counts
  }),
  types: z
    .record(label, z.enum(["text", "number", "boolean", "json"]))
    .optional()
    .meta({
      description: "How the cells of a CSV are read, by label; text unless said otherwise. An empty cell is no value.",
    }),
  mode: z.enum(["exact", "upsert", "insertOnly"]).default("exact").meta({
    description:
      "exact: also removes rows that we own and that left the source. upsert: removes none. insertOnly: changes none either.",
  }),
  references: z.record(label, z.object(lookup)).optional().meta({
    description: "Linked-table labels whose values are keys of rows in another table: label → {table, key}.",
  }),
  parent: z
    .object({ ...lookup, by: label })
    .optional()
    .meta({
      description: "For a sub-table: the parent rows, and the column of the source that holds the parent's key.",
      replaces: true,
    }),
  viewers: z.array(id).optional().meta({ description: "IDs of users who may see the rows. Acts on insert." }),
  teamViewers: z
    .array(id)
    .optional()
    .meta({ description: "IDs of teams whose members may see the rows. Acts on insert." }),
  userID: id.optional().meta({ description: "User ID that becomes the creator of the rows." }),
  ignoreActionRules: z.boolean().optional().meta({
    description: "Do not run the table's action rules. For controlled administration and migrations.",
    settles: "silently",
  }),
  onConflict: z.enum(["overwrite", "keepLive", "error"]).default("overwrite").meta({
    description: "What happens to a row of ours that somebody edited on the platform: repaired, kept, or an error.",
  }),
  maxRemovals: z.number().min(0).default(0.25).meta({
    description: "Largest part of the owned rows (from 10 on) that one run may remove, as a fraction of 1.",
    settles: "silently",
  }),
  onDestroy: z.enum(["delete", "retain"]).default("delete").meta({
    description: "Whether a destroy deletes the rows that we own or leaves them.",
  }),
  sensitive: z.boolean().optional().meta({
    description: "The rows are secret: messages tell counts and no keys. Set by the SDK when rows are a secret.",
    settles: "silently",
  }),
  digest: z.string().optional().meta({ description: "Digest of the source's content. Computed." }),
  adopt,
});

const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Rows that we own." }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied." }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare." }),
  drift: z
    .object({ changed: z.number().int(), missing: z.number().int(), keys: z.array(z.string()) })
    .optional()
    .meta({ description: "Rows of ours that were edited or removed on the platform, as the last refresh saw it." }),
});

/** Rows of a data table, kept as the source has them. */
export const seedRows = resource({
  name: "SeedRows",
  summary: "Rows of a data table, from a file or from the program.",
  inputs,
  outputs,
  deleteBeforeReplace: true,
  create: () => Promise.reject<never>(new Error("not built yet")),
  read: () => Promise.reject<never>(new Error("not built yet")),
  update: () => Promise.reject<never>(new Error("not built yet")),
  delete: () => Promise.reject<never>(new Error("not built yet")),
});
