import { randomUUID } from "node:crypto";
import { z } from "zod";
import { id } from "../contract/values.ts";
import { decodeLedger, emptyLedger } from "../reconcile/ledger.ts";
import { planOffline } from "../reconcile/rows.ts";
import { adopt, common, resource, ResourceError, type OfflineContext, type Problem, type State } from "./resource.ts";
import { firstNames, forecast } from "./rowForecast.ts";
import { observe } from "./rowObservation.ts";
import { problemsWith, verificationOf, type Declared } from "./rowOwners.ts";
import { previewed, takenOver } from "./rowPreview.ts";
import { apply, removeOwned } from "./rowSession.ts";
import { fingerprintOf, summarize } from "./rowSource.ts";
import { keysIn } from "./rowSummaries.ts";
import { given } from "./settling.ts";

const label = z.string().min(1);
const lookup = { table: id, key: label };

/** Another seed of the program, as far as it is known before it is sent: rows hold their natural keys alone. */
const sibling = z.object({
  urn: z.string(),
  table: id,
  key: z.array(label),
  rows: z.array(z.record(z.string(), z.unknown())).optional(),
  source: z.string().optional(),
  types: z.record(label, z.enum(["text", "number", "boolean", "json"])).optional(),
});

const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) that the rows go into.", replaces: true }),
  key: z.union([label.transform((one) => [one]).pipe(z.array(label)), z.array(label).min(1)]).meta({
    description:
      "Label or labels that tell one row from another: the natural key. Another one names the same rows anew; they keep their IDs.",
  }),
  rows: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "The rows by label, in the program. Either this or source.",
    settles: "silently", // their digest counts
    inputOnly: true,
    namedBy: "keys",
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
    }),
  viewers: z.array(id).optional().meta({ description: "IDs of users who may see the rows. Acts on insert." }),
  teamViewers: z
    .array(id)
    .optional()
    .meta({ description: "IDs of teams whose members may see the rows. Acts on insert." }),
  userID: id.optional().meta({ description: "User ID that becomes the creator of the rows." }),
  onViewersChange: z.enum(["newRows", "recreate", "error"]).default("error").meta({
    description:
      "What another viewers, teamViewers or userID means for rows that are there: nothing (newRows), each is made anew under another ID (recreate), or an error.",
    settles: "silently",
  }),
  ignoreActionRules: z.boolean().optional().meta({
    description: "Do not run the table's action rules. For controlled administration and migrations.",
    settles: "silently",
  }),
  onConflict: z.enum(["overwrite", "keepLive", "error"]).default("overwrite").meta({
    description: "What happens to a row of ours that somebody edited on the platform: repaired, kept, or an error.",
  }),
  maxRemovals: z.number().min(0).default(0.25).meta({
    description:
      "Largest part of the owned rows (from 10 on) that one run may remove, or find gone from the platform, as a fraction of 1.",
  }),
  onDestroy: z.enum(["delete", "retain"]).default("delete").meta({
    description: "Whether a destroy deletes the rows that we own or leaves them.",
  }),
  sensitive: z.boolean().optional().meta({
    description:
      "The rows are secret: messages and diffs tell counts, and no keys or values. Set by itself when rows are a secret.",
    settles: "silently",
    secrecyOf: "rows",
  }),
  salt: z.string().optional().meta({
    description: "What the digests of secret rows begin with, so that nobody guesses the rows by them. Computed.",
    settles: "silently",
    secret: true,
    computed: true,
  }),
  digest: z.string().optional().meta({
    description: "Digest of the source's content. Computed.",
    computed: true,
    shownAs: "rows",
  }),
  fingerprint: z.string().optional().meta({
    description: "Digest of the source's file and of how it is read: with the same one nothing is read anew. Computed.",
    settles: "silently",
    computed: true,
  }),
  keys: z.array(z.string()).optional().meta({
    description:
      "Natural keys of the rows that the program has, or of those of a small file: a preview names rows by them. Computed.",
    settles: "silently",
    computed: true,
  }),
  verified: z.string().optional().meta({
    description:
      "Digest of what the rows were held against: other seeds of their table, and of the tables they refer to. Computed.",
    settles: "silently",
    computed: true,
  }),
  linkRenewals: z.record(label, z.int()).optional().meta({
    description: "How often the rows that references lead to were made anew, by label. Set by the SDK.",
    settles: "silently",
    computed: true,
  }),
  linkedSeeds: z.record(label, z.string()).optional().meta({
    description: "URNs of the seeds that references name, by label. Set by the SDK.",
    settles: "silently",
    computed: true,
    passing: true,
  }),
  siblings: z.array(sibling).optional().meta({
    description: "Other seeds of the program on the same table. Set by the SDK.",
    settles: "silently",
    computed: true,
    passing: true,
  }),
  adopt,
});

const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Rows that we own." }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied." }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare.", secretIf: "sensitive" }),
  renewals: z.int().optional().meta({
    description: "How often rows that were gone were made anew, under other IDs. What refers to them follows.",
  }),
  departed: z.string().optional().meta({
    description: "Digests of the keys of rows that were removed: one that comes back has another ID.",
  }),
  unfinished: z.boolean().optional().meta({
    description: "True when the last run left something undone, which the next one does.",
    shownAs: "rows",
  }),
  drift: z
    .object({
      changed: z.number().int(),
      missing: z.number().int(),
      changedKeys: z.array(z.string()),
      missingKeys: z.array(z.string()),
    })
    .optional()
    .meta({
      description:
        "Rows of ours that were edited or removed on the platform, as the last refresh saw it, and the first keys.",
      shownAs: "rows",
    }),
});

type Inputs = z.output<typeof inputs>;
type Applied = State<typeof inputs, typeof outputs>;

/** Rows of a data table, kept as the source has them: rows of ours alone, known by their natural key. */
export const seedRows = resource({
  name: "SeedRows",
  summary: "Rows of a data table, from a file or from the program.",
  example: {
    name: "countries",
    inputs: {
      table: "countries",
      key: "Code",
      source: "data/countries.csv",
      references: { Currency: { table: "currencies", key: "Code" } },
    },
  },
  inputs,
  outputs,

  check: async (context, { inputs: { salt: _, siblings = [], linkedSeeds, ...asked }, unknown }, old) => {
    const { report, rowClaims } = context;
    const inputs = { ...asked, ...given({ salt: saltOf(asked, old) }) };
    for (const { urn, ...target } of siblings) rowClaims.announce(urn, target);
    if (["table", "rows", "source", "key", "types", "references", "parent"].some((name) => unknown.has(name))) {
      rowClaims.forget(inputs.resourceUrn);
      report.info("the rows are known only once other resources exist");
      return { inputs, problems: [] };
    }
    const sources = [inputs.rows, inputs.source].filter((one) => one !== undefined).length;
    if (sources !== 1) {
      const reason = sources === 0 ? "set rows or source" : "set either rows or source, not both";
      return { inputs, problems: [{ property: "source", reason }] };
    }
    try {
      // Nothing else is needed to read the source, and all of it was just seen to be known.
      const read = await sourceOf(context, inputs as Inputs, old);
      const declared = { urn: inputs.resourceUrn, target: inputs as Inputs, digest: read.digest, linkedSeeds };
      const { verified, problems } = await verify(context, declared, old);
      return { inputs: { ...inputs, ...given({ ...read, verified }) }, problems };
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      return { inputs, problems: [problemOf(inputs, error.message)] };
    }
  },

  diff: async (context, change, old, { inputs, unknown }) => {
    // Whether a table changes that is not known yet is not known either: a replacement would remove rows for nothing.
    const known = { ...change, replaces: change.replaces.filter((name) => !unknown.has(name)) };
    const needed = [...unknown].filter((name) => name !== "linkRenewals");
    if (needed.length > 0 && old.teamViewers && unknown.has("teamViewers")) {
      context.report.info(`${old.rowCount} rows keep their viewers: whether teamViewers changes is known only later`);
    }
    if (inputs.digest === undefined || needed.length > 0) return known;
    return previewed(context, known, old, inputs as Inputs); // nothing that matters is unknown
  },

  create: async (context, inputs) => {
    const id = context.publicID(`${inputs.table}/${inputs.key.join("+")}`);
    return { id, outputs: await apply(context, id, inputs, emptyLedger()) };
  },

  read: async (context, id, state) => {
    if (state.ledger === undefined) {
      throw new ResourceError(
        `the rows of ${id} can't be imported by an ID, which does not tell which of them are meant. Declare the SeedRows: rows that are there exactly as declared count as ours at the next up, and with adopt: true those with the same key and other content do as well. "microapps dump" writes such a declaration for a table, and an import file.`,
      );
    }
    const observed = await observe(context, state as Applied); // a state with a ledger is whole
    return observed && { id, ...observed };
  },

  update: (context, id, old, inputs) => apply(context, id, inputs, decodeLedger(old.ledger), old),

  delete: async (context, _id, state) => {
    if (state.onDestroy === "retain") {
      context.report.info(`onDestroy is "retain": ${state.rowCount} rows stay in table ${state.table}`);
      return;
    }
    await removeOwned(context, state);
  },
});

/** The digests in a state stay comparable: what they were salted with stays. */
const saltOf = ({ sensitive }: Partial<Inputs>, old: Partial<Inputs>): string | undefined =>
  sensitive && old.digest === undefined ? randomUUID() : old.salt;

const problemOf = ({ source }: { source?: string | undefined }, reason: string): Problem => ({
  property: source === undefined ? "rows" : "source",
  reason,
});

/** What check computes of a source; an unchanged file is only hashed. Says what a seed that is new will do. */
async function sourceOf(
  context: OfflineContext,
  inputs: Inputs,
  old: Partial<Inputs>,
): Promise<{ digest: string; fingerprint: string | undefined; keys: string[] | undefined }> {
  const { directory, report, rowClaims } = context;
  const fingerprint = await fingerprintOf(inputs, directory);
  const isUnchanged = fingerprint !== undefined && fingerprint === old.fingerprint;
  if (isUnchanged && old.digest !== undefined) return { digest: old.digest, fingerprint, keys: old.keys };
  const summary = await summarize(inputs, directory);
  rowClaims.remember(inputs.resourceUrn, summary);
  if (old.table === undefined) {
    const plan = takenOver(rowClaims, inputs, summary.rows, planOffline(summary.rows, emptyLedger(), inputs.mode));
    const names = await firstNames(inputs, plan, emptyLedger(), [], directory);
    report.info(forecast(inputs, plan, names, 0));
  }
  return { digest: summary.digest, fingerprint, keys: await keysIn(inputs, summary, directory) };
}

/** Claims the rows, and holds them against the other seeds of the program unless that was done of all of them. */
async function verify(
  { rowClaims, directory }: OfflineContext,
  declared: Declared,
  old: Partial<Inputs>,
): Promise<{ verified: string | undefined; problems: Problem[] }> {
  const { urn, target, digest } = declared;
  if (urn !== undefined) rowClaims.claim(urn, target, digest);
  const verified = verificationOf(rowClaims, declared);
  if (verified === undefined || verified === old.verified) return { verified, problems: [] };
  const problems = await problemsWith(rowClaims, declared, directory);
  // One for all of them: an engine prints the value of the property with each.
  return { verified, problems: problems.length === 0 ? [] : [problemOf(target, problems.join("\n"))] };
}
