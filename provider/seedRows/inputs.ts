import { z } from "zod";
import { fieldTypes, fraction, id } from "../../platform/contract/values.ts";
import { quote } from "../../platform/messages/text.ts";
import { adopt, common } from "../resources/common.ts";
import { valueForms } from "./digests.ts";
import { modes } from "./plan.ts";
import { cellTypes, delimiters } from "./source/source.ts";

const label = z.string().min(1);
const row = z.record(z.string(), z.unknown());
const keyValue = [z.string().min(1), z.number(), z.boolean()] as const;
const removal = z.union([...keyValue, z.array(z.union(keyValue)).min(1)]);

const accepted = z.union([z.string(), z.number(), z.boolean()]);

/** The rows of another table that `relationships` names, by the table and the label there. */
export const relatedRows = {
  table: id.meta({ description: "Data table ID of the rows that have the values." }),
  key: label.meta({ description: "Label there that has the values." }),
};

/** Requirements of a table, in the words of dbt's tests. A cell without a value breaks `notNull` alone. */
export const expectations = z.strictObject({
  unique: z.array(label).min(1).optional().meta({ description: "Labels without duplicate values." }),
  notNull: z.array(label).min(1).optional().meta({ description: "Labels that have a value in every row." }),
  acceptedValues: z
    .record(label, z.array(accepted).min(1))
    .optional()
    .meta({ description: "Allowed values by label; each item of a list must be one of them." }),
  relationships: z
    .record(label, z.strictObject(relatedRows).meta({ description: "The rows of another table that have the values." }))
    .optional()
    .meta({ description: "Labels whose values stand in rows of another table: label → {table, key}." }),
  rowCount: z
    .strictObject({
      min: z.int().min(0).optional().meta({ description: "Smallest number of rows." }),
      max: z.int().min(0).optional().meta({ description: "Largest number of rows." }),
    })
    .optional()
    .meta({ description: "Number of rows of the table, including those of others." }),
});

/** Another seed of the program, as far as known in advance: rows hold their natural keys alone. */
const sibling = z.object({
  urn: z.string(),
  table: id,
  key: z.array(label),
  rows: z.array(row).optional(),
  source: z.string().optional(),
  types: z.record(label, z.enum(cellTypes)).optional(),
  delimiter: z.enum(delimiters).optional(),
  additions: z.array(row).optional(),
  removals: z.array(removal).optional(),
  mode: z.enum(modes).optional(),
});

/** A seed of the program that refers to rows of this one: its rows hold keys and links alone. */
const referrer = sibling.omit({ urn: true }).extend({
  name: z.string(),
  references: z.record(label, z.object({ table: id, key: label })),
});

const lookup = {
  table: id.meta({ description: "Data table ID of the rows that are linked to." }),
  key: label.meta({ description: "Label there that has the keys." }),
};

/** The inputs of a seed: all that a program says of it. */
export const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) that the rows go into.", replaces: true }),
  key: z.union([label.transform((one) => [one]).pipe(z.array(label)), z.array(label).min(1)]).meta({
    description:
      "The natural key: the label that identifies a row, or a list of labels. With another key, the same rows keep their IDs.",
  }),
  rows: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "The rows themselves, by label. Either this or source.",
    ignoredInDiff: true, // their digest counts
    writeOnly: true,
    secretIf: "sensitive",
    keyedBy: "keys",
  }),
  source: z.string().min(1).optional().meta({
    description: "File with the rows, relative to the project: .csv, .json, .ndjson or .yaml. Either this or rows.",
    ignoredInDiff: true, // its content counts
  }),
  additions: z.array(row).optional().meta({
    description: "Rows in addition to those of rows or source, by label.",
    ignoredInDiff: true, // the digest of the rows counts
    secretIf: "sensitive",
  }),
  changes: z.array(row).optional().meta({
    description: "Changed fields of rows in rows or source, each with the natural key of its row.",
    ignoredInDiff: true,
    secretIf: "sensitive",
  }),
  removals: z.array(removal).optional().meta({
    description:
      "Natural keys of rows in rows or source that the seed leaves out; for several labels a list of their values.",
    ignoredInDiff: true,
    secretIf: "sensitive",
  }),
  types: z.record(label, z.enum(cellTypes)).optional().meta({
    description:
      "Types of values by label. The cells of a CSV are read by them; text by default. A date is ISO 8601 text, a checkbox a JSON list of texts. An empty cell is no value. Values that mean the same in such a field are equal: a day and its midnight UTC, a number and its text.",
  }),
  delimiter: z.enum(delimiters).optional().meta({
    description:
      "Separator of the cells of a CSV. By default a comma, or a semicolon or tab if the first line has these and no comma, or what a first line `sep=;` says.",
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
      "exact: also removes owned rows that left the source, and clears labels that left an owned row. upsert: does neither. insertOnly: does not change existing rows either. updateOnly: only changes existing rows, whoever created them; a key that the table lacks is an error.",
  }),
  ignoreLabels: z.array(label).optional().meta({
    description:
      "Labels that others write: not compared, changed or cleared in existing rows. A value in the source goes into new rows. Not part of the natural key.",
  }),
  expect: expectations.optional().meta({
    description:
      "Requirements of the table. The declared rows are tested before anything is sent, all rows of the table before and after a run writes. A run fails if a requirement does, and names the rows.",
  }),
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
      "Effect of a changed viewers, teamViewers or userID on existing rows: none (newRows), or an error. Viewers under the label of their field change like any cell.",
    ignoredInDiff: true,
  }),
  ignoreActionRules: z.boolean().optional().meta({
    description: "Do not run the table's action rules. For controlled administration and migrations.",
    ignoredInDiff: true,
  }),
  onConflict: z.enum(["overwrite", "keepLive", "error"]).default("overwrite").meta({
    description: "Effect of an edit by hand on an owned row: it is repaired, kept, or an error.",
  }),
  maxRemovals: fraction.default(0.25).meta({
    description:
      "Largest part of the owned rows (from 10 on) that one run may remove, or find gone from the platform, as a fraction of 1.",
  }),
  onDestroy: z.enum(["delete", "retain"]).default("delete").meta({
    description: "Whether a destroy deletes the owned rows or leaves them.",
  }),
  sensitive: z
    .boolean()
    .optional()
    .meta({
      description:
        "The rows are secret: messages and diffs have counts, but no keys or values. Set automatically if rows are a secret.",
      marksSecret: ["rows", "additions", "changes", "removals"],
    }),
  secretLabels: z
    .array(label)
    .optional()
    .meta({
      description:
        "Labels whose values are secret: previews, drift and messages say that they change, but not what they are. The rest of the rows is shown. Not part of the natural key.",
      hidesIn: ["rows", "additions", "changes"],
    }),
  salt: z.string().optional().meta({
    description: "Key of every digest of rows, so that nobody can guess rows from them. Computed.",
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
      "Digest of the source's file and of how it is read, with its number of rows: if it is the same, the file is not read again. Computed.",
    ignoredInDiff: true,
    computed: true,
  }),
  keys: z.array(z.string()).optional().meta({
    description: "Natural keys of the rows in the program, or in a small file: a preview names rows by them. Computed.",
    ignoredInDiff: true,
    computed: true,
  }),
  linkRenewals: z.record(label, z.int()).optional().meta({
    description: "How often the rows that references lead to were created again, by label. Set by the SDK.",
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
  // What is there is taken over by the next run, not with the next change.
  adopt: adopt.meta({ ...adopt.meta(), ignoredInDiff: false }),
});

/** Outputs of a seed in a state, beside its inputs. */
export const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Number of owned rows.", foreseen: true }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied.", opaque: true }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare.", secretIf: "sensitive" }),
  labelled: z.record(z.string(), z.int()).optional().meta({
    description: "Number of rows with a value, by label: a preview uses it to tell what a removed label clears.",
    opaque: true,
    secretIf: "sensitive",
  }),
  labelSets: z.array(z.array(z.string())).optional().meta({
    description: "In modes other than exact: the labels that single rows declare, if not all declare the same.",
    opaque: true,
    secretIf: "sensitive",
  }),
  renewals: z.int().optional().meta({
    description: "How often missing rows were created again, with other IDs. What refers to them follows.",
  }),
  unproven: z.array(id).optional().meta({
    description: "IDs of inserted rows whose natural key was not seen yet. The next run, or a destroy, decides.",
    opaque: true,
  }),
  existing: z.string().optional().meta({
    description:
      "Digests of the keys of rows that others created exactly as declared: they are kept, whatever happens to the seed.",
    opaque: true,
  }),
  unseen: z.string().optional().meta({
    description: "Digests of the keys of rows that were sent and not seen: they are owned once the table shows them.",
    opaque: true,
  }),
  unfinished: z.boolean().optional().meta({
    description: "True if the last run left something undone, which the next one does.",
    diffedAs: "rows",
    internal: true,
  }),
  viewerIDs: z.record(z.string(), id).optional().meta({
    description: "User IDs of the addresses that viewers and userID name, as the last run found them.",
  }),
  unmet: z.array(z.string()).optional().meta({
    description: "Requirements that failed when the table was last read, with the first rows that break them.",
    diffedAs: "expect",
    secretIf: "sensitive",
  }),
  drift: z
    .object({
      changed: z.number().int().meta({ description: "Rows that were edited." }),
      missing: z.number().int().meta({ description: "Rows that are gone." }),
      changedKeys: z.array(z.string()).meta({ description: "The first keys of changed rows." }),
      missingKeys: z.array(z.string()).meta({ description: "The first keys of rows that are gone." }),
      found: z
        .record(z.string(), z.record(z.string(), z.unknown()))
        .optional()
        .meta({ description: "Values of the first edited rows, by key and label." }),
      unlinked: z.number().int().optional().meta({
        description: "Those of the edited rows that only lost the row they were linked to.",
      }),
      unlinkedKeys: z.array(z.string()).optional().meta({ description: "The first keys of these." }),
    })
    .optional()
    .meta({
      description:
        "Owned rows that were edited or removed on the platform, as seen by the last refresh, with the first keys and values.",
      diffedAs: "rows",
    }),
  foundSecrets: z.record(z.string(), z.record(z.string(), z.string())).optional().meta({
    description: "Digests of the values of secret labels of the first edited rows.",
    opaque: true,
    secret: true,
  }),
});

/** The inputs of a seed, checked and completed. */
export type SeedInputs = z.output<typeof inputs>;

/** What a seed declares of its rows, as far as it is known: of another seed of the program, or of the last run. */
export type Seed = Partial<SeedInputs> & Pick<SeedInputs, "table" | "key">;

/**
 * Inputs that do not decide which rows a source has, nor how these are read, judged and digested. By a change of any other one
 * the source is read again.
 */
const besideRows: ReadonlySet<string> = new Set<keyof SeedInputs>([
  ...(["table", "mode", "adopt", "onConflict", "maxRemovals", "onDestroy", "ignoreActionRules"] as const),
  ...(["viewers", "teamViewers", "userID", "onViewersChange"] as const),
  ...([
    "digest",
    "fingerprint",
    "keys",
    "linkRenewals",
    "linkedSeeds",
    "siblings",
    "referrers",
    "resourceUrn",
  ] as const),
]);

/** The values of inputs by whose change the source is read again. */
export const listReread = (seed: Seed): unknown[] =>
  Object.keys(inputs.shape).flatMap(
    (name) => (besideRows.has(name) ? [] : [seed[name as keyof SeedInputs] ?? null]), // a name of the shape
  );

/** The state that a run leaves: all inputs but the rows, and the outputs. */
export type SeedState = SeedInputs & KeptState;

/** What a run adds to the inputs. */
export type KeptState = z.output<typeof outputs> & {
  /** What is called existing now, in states of versions that did not ask who made a row. */
  found?: string | undefined;
};

export type Expectations = z.output<typeof expectations>;

/** Changes by hand of our rows, as a refresh saw them. */
export type Drift = NonNullable<KeptState["drift"]>;

/** True for a seed whose rows are its own. In mode updateOnly it changes those of others, and gives up none. */
export const isOwning = ({ mode }: Pick<Seed, "mode">): boolean => mode !== "updateOnly";

/** Viewers and author of a seed's rows. */
export const viewersOf = ({ viewers, teamViewers, userID }: Partial<SeedInputs>) => ({ viewers, teamViewers, userID });
const sortedViewers = ({ viewers = [], teamViewers = [], userID = "" }: Seed): string =>
  JSON.stringify([viewers.toSorted(), teamViewers.toSorted(), userID]);

/** True if who may see the rows, or who made them, is declared otherwise than in the last run. */
export const viewersChanged = (old: Seed, inputs: Seed): boolean => sortedViewers(old) !== sortedViewers(inputs);

/** All links of a seed, by the label that holds the key; the parent's is among them. */
export const linksOf = ({ references = {}, parent }: Pick<SeedInputs, "references" | "parent">) => [
  ...Object.entries(references).map(([label, { table, key }]) => ({ label, table, key, property: "references" })),
  ...(parent ? [{ label: parent.by, table: parent.table, key: parent.key, property: "parent" }] : []),
];

/** Labels whose values are expected in rows of other tables, as links are listed. */
export const listRelationships = ({ expect }: Pick<SeedInputs, "expect">) =>
  Object.entries(expect?.relationships ?? {}).map(([label, { table, key }]) => ({
    ...{ label, table, key },
    property: "expect",
  }));

/** Labels that expectations are about. */
export const listExpectedLabels = ({ expect }: Pick<SeedInputs, "expect">): string[] => [
  ...new Set([
    ...(expect?.unique ?? []),
    ...(expect?.notNull ?? []),
    ...Object.keys(expect?.acceptedValues ?? {}),
    ...Object.keys(expect?.relationships ?? {}),
  ]),
];

/** A setting of a seed that contradicts another one: the property, the place below it, and the reason. */
interface SettingProblem {
  property: "viewers" | "teamViewers" | "userID" | "ignoreLabels" | "expect" | "secretLabels";
  below: readonly PropertyKey[];
  reason: string;
}

/** Settings that contradict each other, whatever the rows are. */
export function findSettingProblems(seed: Partial<SeedInputs>): SettingProblem[] {
  const { key = [], secretLabels = [], ignoreLabels = [], references = {}, parent, fields, expect, mode } = seed;
  const problems: SettingProblem[] = [];
  const add = (property: SettingProblem["property"], below: readonly PropertyKey[], reason: string): number =>
    problems.push({ property, below, reason });
  for (const [at, label] of secretLabels.entries()) {
    if (!key.includes(label)) continue;
    const reason = `${quote(label)} is part of the natural key, by which previews and states name rows: leave it out, or set sensitive to hide the rows as a whole`;
    add("secretLabels", [at], reason);
  }
  for (const property of ["viewers", "teamViewers", "userID"] as const) {
    if (mode !== "updateOnly" || seed[property] === undefined) continue;
    const reason = `${property} acts when a row is inserted, and mode updateOnly inserts none: leave it out, or set another mode`;
    add(property, [], reason);
  }
  for (const [at, label] of ignoreLabels.entries()) {
    if (key.includes(label))
      add("ignoreLabels", [at], `${quote(label)} is part of the natural key, by which rows are known: leave it out`);
    else if (label === parent?.by)
      add("ignoreLabels", [at], `${quote(label)} names the parent row, and no field: leave it out`);
    else if (fields && !Object.hasOwn(fields, label))
      add("ignoreLabels", [at], `table has no field ${quote(label)} under platform: correct it, or leave it out`);
  }
  const { min = 0, max = Infinity } = expect?.rowCount ?? {};
  if (min > max) {
    const reason = `expect.rowCount takes at least ${min} rows and at most ${max}: correct one of them`;
    add("expect", ["rowCount", "min"], reason);
  }
  for (const label of Object.keys(expect?.relationships ?? {})) {
    if ((!Object.hasOwn(references, label) && label !== parent?.by) || ignoreLabels.includes(label)) continue;
    const reason = `${quote(label)} is a link already, whose rows have to be there: leave it out of expect.relationships`;
    add("expect", ["relationships", label], reason);
  }
  return problems;
}
