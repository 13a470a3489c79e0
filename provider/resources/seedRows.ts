import { z } from "zod";
import { fieldTypes } from "../../platform/contract/fields.ts";
import { fraction, id, withoutUndefined } from "../../platform/contract/values.ts";
import { saltOf } from "../reconcile/digests.ts";
import { decodeLedger, emptyLedger } from "../reconcile/ledger.ts";
import { modes } from "../reconcile/rows.ts";
import { valueForms } from "../reconcile/valueForms.ts";
import type { OfflineRowContext } from "../seedRows/declared/claims.ts";
import { findSettingProblems } from "../seedRows/declared/expectations/settingProblems.ts";
import { formsOf } from "../seedRows/declared/forms.ts";
import { beside, edits, fromSdk, secrecy } from "../seedRows/declared/inputs.ts";
import { leaveLate } from "../seedRows/kept/leaving.ts";
import { outputs } from "../seedRows/kept/outputs.ts";
import { predecessorOf } from "../seedRows/kept/predecessor.ts";
import { importRow } from "../seedRows/live/importedRow.ts";
import { observe } from "../seedRows/observation.ts";
import { problemsWith, type ComparedSeed } from "../seedRows/owners.ts";
import { previewUpdate } from "../seedRows/preview.ts";
import { removeOwned } from "../seedRows/removal.ts";
import { sourceOf } from "../seedRows/seedSource.ts";
import { apply } from "../seedRows/session.ts";
import { SourceError } from "../seedRows/source/read.ts";
import { cellTypes } from "../seedRows/source/source.ts";
import { adopt, common, type Diff, type InputProblem } from "./model/resource.ts";
import { resource, type State } from "./resource.ts";
import { departure } from "./seedDeparture.ts";

const label = z.string().min(1);
const lookup = {
  table: id.meta({ description: "Data table ID of the rows that are linked to." }),
  key: label.meta({ description: "Label there that has the keys." }),
};

const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) that the rows go into.", replaces: true }),
  key: z.union([label.transform((one) => [one]).pipe(z.array(label)), z.array(label).min(1)]).meta({
    description:
      "Label or labels that tell one row from another: the natural key. Another one gives the same rows another key; they keep their IDs.",
  }),
  rows: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "The rows by label, in the program. Either this or source.",
    ignoredInDiff: true, // their digest counts
    writeOnly: true,
    secretIf: "sensitive",
    keyedBy: "keys",
  }),
  source: z.string().min(1).optional().meta({
    description: "File with the rows, relative to the project: .csv, .json, .ndjson or .yaml. Either this or rows.",
    ignoredInDiff: true, // its content counts
  }),
  ...edits,
  types: z.record(label, z.enum(cellTypes)).optional().meta({
    description:
      "Types of values by label. The cells of a CSV are read by them; text by default. A date is ISO 8601 text, a checkbox a JSON list of texts. An empty cell is no value. Of all rows, what is the same value in such a field counts as the same: a day and its midnight UTC, a number and its text.",
  }),
  fields: z.record(label, z.enum(fieldTypes)).optional().meta({
    description: "Types of the table's fields by label, which rows are held against. Set by an Environment.",
    ignoredInDiff: true,
    computed: true,
    passing: true,
  }),
  forms: z.record(label, z.enum(valueForms)).optional().meta({
    description: "Labels whose values have several spellings, by what the field makes of them. Computed.",
    ignoredInDiff: true,
    computed: true,
  }),
  mode: z.enum(modes).default("exact").meta({
    description:
      "exact: also removes rows that we own and that left the source, and clears labels that left a row of ours. upsert: does neither. insertOnly: changes no row that is there either. updateOnly: changes rows that are there, whoever made them, and inserts and removes none; a key that the table lacks is an error.",
  }),
  ...beside,
  references: z
    .record(label, z.object(lookup).meta({ description: "The rows of another table that a label links to, by key." }))
    .optional()
    .meta({
      description: "Linked-table labels whose values are keys of rows in another table: label → {table, key}.",
    }),
  parent: z
    .object({ ...lookup, by: label.meta({ description: "Column of the source that holds the parent's key." }) })
    .optional()
    .meta({
      description: "For a sub-table: the parent rows, and the column of the source that holds the parent's key.",
    }),
  viewers: z.array(id).optional().meta({
    description: "IDs or e-mail addresses, which are looked up, of users who may see the rows. Acts on insert.",
  }),
  teamViewers: z
    .array(id)
    .optional()
    .meta({ description: "IDs of teams whose members may see the rows. Acts on insert.", link: true }),
  userID: id.optional().meta({
    description: "ID or e-mail address, which is looked up, of the user who becomes the creator of the rows.",
  }),
  onViewersChange: z.enum(["newRows", "error"]).default("error").meta({
    description:
      "Effect of another viewers, teamViewers or userID on rows that are there: nothing (newRows), or an error. Viewers under the label of their field change as any cell does.",
    ignoredInDiff: true,
  }),
  ignoreActionRules: z.boolean().optional().meta({
    description: "Do not run the table's action rules. For controlled administration and migrations.",
    ignoredInDiff: true,
  }),
  onConflict: z.enum(["overwrite", "keepLive", "error"]).default("overwrite").meta({
    description: "Treatment of a row of ours that somebody edited on the platform: repaired, kept, or an error.",
  }),
  maxRemovals: fraction.default(0.25).meta({
    description:
      "Largest part of the owned rows (from 10 on) that one run may remove, or find gone from the platform, as a fraction of 1.",
  }),
  onDestroy: z.enum(["delete", "retain"]).default("delete").meta({
    description: "Decides if a destroy deletes the rows that we own or leaves them.",
  }),
  ...secrecy,
  salt: z.string().optional().meta({
    description: "Key of every digest of rows, so that nobody guesses rows by them. Computed.",
    ignoredInDiff: true,
    secret: true,
    computed: true,
  }),
  digest: z.string().optional().meta({
    description: "Digest of the source's content. Computed.",
    computed: true,
    diffedAs: "rows",
  }),
  fingerprint: z.string().optional().meta({
    description:
      "Digest of the source's file and of how it is read, and its number of rows: with the same one nothing is read again. Computed.",
    ignoredInDiff: true,
    computed: true,
  }),
  keys: z.array(z.string()).optional().meta({
    description:
      "Natural keys of the rows that the program has, or of those of a small file: a preview names rows by them. Computed.",
    ignoredInDiff: true,
    computed: true,
  }),
  ...fromSdk,
  // What is there is taken over by the next run, not with the next change.
  adopt: adopt.meta({ ...adopt.meta(), ignoredInDiff: false }),
});

/** Inputs that a preview does not tell of a seed that has no salt yet: an up makes others. */
const passing = ["salt", "digest", "fingerprint"] as const;

/** Inputs without which nothing is known of the rows. */
const decisive = [
  "table",
  "rows",
  "source",
  "additions",
  "changes",
  "removals",
  "key",
  "types",
  "references",
  "parent",
];

type Inputs = z.output<typeof inputs>;
type Seen = State<typeof inputs, typeof outputs>;

/** A replacement by order changes the rows as an update does. */
const asUpdate: Diff = { changed: ["rows"], replaces: [] };

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
  importedBy: {
    id: "<table>/<Label>=<value>",
    otherwise:
      "This is one row, as a seed of its own. Several rows are declared: rows that are there exactly as declared are kept so, and stay when the seed goes; with `adopt: true` they are owned, as are others with the same key.",
  },
  inputs,
  outputs,

  check: async (
    context,
    { inputs: { salt: _, forms: _forms, siblings, referrers, linkedSeeds, ...asked }, unknown },
    old,
  ) => {
    const { report, rowClaims } = context;
    if (old.table === undefined) rowClaims.begin(asked.resourceUrn);
    else rowClaims.had(asked.resourceUrn, old);
    const last: Partial<Inputs> = old.table === undefined ? { ...rowClaims.replaced(asked.resourceUrn) } : old;
    const salt = last.salt ?? saltOf(context.seed());
    // A preview can't know a random value of the next up.
    const isPreview = unknown.has("salt");
    const isPassing = isPreview && salt !== last.salt;
    const fields = asked.fields ?? (asked.table === undefined ? undefined : await context.fieldTypes?.(asked.table));
    const forms = formsOf({ types: asked.types, fields });
    const inputs = { ...asked, ...withoutUndefined({ salt, fields, forms }) };
    rowClaims.announce(inputs.resourceUrn, siblings, referrers);
    if (decisive.some((name) => unknown.has(name))) {
      rowClaims.forget(inputs.resourceUrn);
      report.forecast("the rows are known only once other resources exist");
      return { inputs, problems: [], later: isPassing ? ["salt"] : [] };
    }
    const sources = [inputs.rows, inputs.source].filter((one) => one !== undefined).length;
    if (sources !== 1) {
      const reason = sources === 0 ? "set rows or source" : "set either rows or source, not both";
      return { inputs, problems: [{ property: "source", reason }] };
    }
    const settings = findSettingProblems(inputs);
    if (settings.length > 0) return { inputs, problems: settings };
    try {
      // Nothing else is needed to read the source, and all of it was just seen to be known.
      const replaced = await predecessorOf(context, inputs as Inputs);
      await leaveLate(context, inputs.resourceUrn, inputs as Inputs);
      const read = await sourceOf(context, inputs as Inputs, replaced ? { table: replaced.table } : old);
      const declared = { urn: inputs.resourceUrn, target: inputs as Inputs, digest: read.digest, linkedSeeds };
      if (inputs.resourceUrn !== undefined)
        rowClaims.claim(inputs.resourceUrn, declared.target, read.digest, isPassing);
      const problems = await verify(context, declared);
      const { rowCount, ...computed } = read;
      const checked: Partial<Inputs> = { ...inputs, ...withoutUndefined(computed) };
      if (replaced && problems.length === 0)
        await previewUpdate(context, asUpdate, replaced as Seen, checked as Inputs);
      const later = passing.filter((name) => isPassing && checked[name] !== undefined);
      return { inputs: checked, outputs: withoutUndefined({ rowCount }), problems, later };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      return { inputs, problems: [problemOf(inputs, error.message)] };
    }
  },

  diff: async (context, change, old, { inputs, unknown }) => {
    context.rowClaims.had(inputs.resourceUrn, old);
    // A change of an unknown table is unknown, too: a replacement would remove rows for nothing.
    const known = { ...change, replaces: change.replaces.filter((name) => !unknown.has(name)) };
    const needed = [...unknown].filter((name) => !["linkRenewals", ...passing].includes(name));
    if (needed.length > 0 && old.teamViewers && unknown.has("teamViewers")) {
      context.report.forecast(
        `${old.rowCount} rows keep their viewers: whether teamViewers changes is known only later`,
      );
    }
    // The check's claim has the preview's own values.
    const claim = unknown.has("salt") ? context.rowClaims.find(inputs.resourceUrn) : undefined;
    const { salt, digest } = claim ? { ...claim.target, ...claim } : inputs;
    if (digest === undefined || needed.length > 0) return known;
    const whole = { ...inputs, ...withoutUndefined({ salt, digest }) } as Inputs; // nothing that matters is unknown
    return previewUpdate(context, known, old, whole);
  },

  departs: departure,

  create: async (context, inputs) => {
    const id = context.publicID(`${inputs.table}/${inputs.key.join("+")}`);
    const replaced = await predecessorOf(context, inputs);
    const ledger = replaced ? decodeLedger(replaced.ledger) : emptyLedger();
    const outputs = await apply(context, id, inputs, ledger, replaced);
    context.rowClaims.ended(inputs.resourceUrn);
    return { id, outputs };
  },

  read: async (context, id, state) => {
    if (state.ledger === undefined) return importRow(context, id, (declared) => inputs.parse(declared));
    const observed = await observe(context, state as State<typeof inputs, typeof outputs>); // it has a ledger: it is whole
    if (observed) context.rowClaims.had(state.resourceUrn, state);
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

const problemOf = ({ source }: { source?: string | undefined }, reason: string): InputProblem => ({
  property: source === undefined ? "rows" : "source",
  reason,
});

/** Holds the rows against the other seeds of the program. */
async function verify({ rowClaims, directory }: OfflineRowContext, declared: ComparedSeed): Promise<InputProblem[]> {
  const problems = await problemsWith(rowClaims, declared, directory);
  // One for all of them: an engine prints the value of the property with each.
  return problems.length === 0 ? [] : [problemOf(declared.target, problems.join("\n"))];
}
