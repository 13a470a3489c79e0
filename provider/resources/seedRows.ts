import { z } from "zod";
import { id } from "../contract/values.ts";
import { tooManyRemovals } from "../reconcile/guards.ts";
import { decodeLedger, emptyLedger, encodeLedger, type Ledger } from "../reconcile/ledger.ts";
import { ledgerAfter, planOffline, planRows, type RowOptions, type RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { adopt, common, PartialFailure, resource, ResourceError, type Context, type State } from "./resource.ts";
import { applyPlan, liveRows } from "./rowApply.ts";
import { Links } from "./rowLookups.ts";
import { fingerprintOf, keyOf, keysOf, summarize, type Summary } from "./rowSource.ts";

const label = z.string().min(1);
const lookup = { table: id, key: label };

const inputs = z.object({
  ...common,
  table: id.meta({ description: "Data table ID (microAppID) that the rows go into.", replaces: true }),
  key: z
    .union([label.transform((one) => [one]).pipe(z.array(label)), z.array(label).min(1)])
    .meta({ description: "Label or labels that tell one row from another: the natural key.", replaces: true }),
  rows: z.array(z.record(z.string(), z.unknown())).optional().meta({
    description: "The rows by label, in the program. Either this or source.",
    settles: "silently", // their digest counts
    inputOnly: true,
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
    description: "The rows are secret: messages tell counts and no keys. Set by itself when rows are a secret.",
    settles: "silently",
    secrecyOf: "rows",
  }),
  digest: z.string().optional().meta({ description: "Digest of the source's content. Computed.", computed: true }),
  fingerprint: z.string().optional().meta({
    description: "Digest of the source's file and of how it is read: with the same one nothing is read anew. Computed.",
    settles: "silently",
    computed: true,
  }),
  adopt,
});

const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Rows that we own." }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied." }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare." }),
  keys: z.array(z.string()).optional().meta({
    description: "Natural keys of the rows, of a small seed that is not secret: a preview names removed rows by them.",
  }),
  drift: z
    .object({ changed: z.number().int(), missing: z.number().int(), keys: z.array(z.string()) })
    .optional()
    .meta({ description: "Rows of ours that were edited or removed on the platform, as the last refresh saw it." }),
});

type Inputs = z.output<typeof inputs>;
type Applied = State<typeof inputs, typeof outputs>;

/** A small seed's natural keys are kept in the state, within these bounds. */
const mostKeys = { rows: 1_000, characters: 16_000 };

/** Keys that a message names of each kind. */
const mostNamed = 5;

// What check has read, diff and apply need as well. One for each resource; the digest says whether it still holds.
const recent = new Map<string, Summary>();

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
  deleteBeforeReplace: true,

  check: async ({ directory, report }, { inputs, unknown }, old) => {
    if (["rows", "source", "key", "types", "references", "parent"].some((name) => unknown.has(name))) {
      report.info("the rows are known only once other resources exist");
      return { inputs, problems: [] };
    }
    const given = [inputs.rows, inputs.source].filter((one) => one !== undefined).length;
    if (given !== 1) {
      return {
        inputs,
        problems: [
          { property: "source", reason: given === 0 ? "set rows or source" : "set either rows or source, not both" },
        ],
      };
    }
    // Nothing else is needed to read the source, and all of it was just seen to be known.
    const declaration = inputs as Inputs;
    try {
      const fingerprint = await fingerprintOf(declaration, directory);
      if (fingerprint !== undefined && fingerprint === old.fingerprint && old.digest !== undefined) {
        return { inputs: { ...inputs, digest: old.digest, fingerprint }, problems: [] };
      }
      const summary = await summarize(declaration, directory);
      if (inputs.resourceUrn !== undefined) recent.set(inputs.resourceUrn, summary);
      if (old.table === undefined) report.info(await forecast(declaration, summary, emptyLedger(), [], directory));
      return { inputs: { ...inputs, digest: summary.digest, ...(fingerprint ? { fingerprint } : {}) }, problems: [] };
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      return {
        inputs,
        problems: [{ property: inputs.source === undefined ? "rows" : "source", reason: error.message }],
      };
    }
  },

  diff: async ({ directory, report }, change, old, { inputs, unknown }) => {
    if (change.replaces.length > 0 || inputs.digest === undefined || unknown.size > 0) return change;
    const declaration = inputs as Inputs; // nothing is unknown
    if (change.changed.length > 0) {
      const summary = await summaryOf(declaration, directory);
      const ledger = decodeLedger(old.ledger);
      report.info(await forecast(declaration, summary, ledger, old.keys ?? [], directory));
      const planned = planOffline(summary.rows, ledger, declaration.mode);
      const refusal = planned.exact && tooManyRemovals("rows", planned.remove, ledger.count, declaration.maxRemovals);
      if (refusal) throw new ResourceError(refusal);
    }
    const { drift } = old;
    if (!drift || declaration.onConflict === "keepLive" || declaration.mode === "insertOnly") return change;
    const named = drift.keys.length > 0 ? `: ${drift.keys.join(", ")}` : "";
    report.info(`rows edited by hand: ${drift.changed} changed, ${drift.missing} removed${named}`);
    return { ...change, changed: [...change.changed, "drift"] };
  },

  create: async (context, inputs) => {
    const id = `${inputs.table}/${inputs.key.join("+")}`;
    return { id, outputs: await apply(context, id, inputs, emptyLedger()) };
  },

  read: async (context, id, state) => {
    if (state.ledger === undefined) {
      throw new ResourceError(
        `${id} can't be imported: declare the SeedRows with adopt: true instead, and up takes over the rows that are there`,
      );
    }
    return { id, outputs: await observe(context, state as Applied) }; // a state with a ledger is whole
  },

  update: (context, id, old, inputs) => apply(context, id, inputs, decodeLedger(old.ledger)),

  delete: async (context, _id, state) => {
    if (state.onDestroy === "retain") {
      context.report.info(`onDestroy is "retain": ${state.rowCount} rows stay in table ${state.table}`);
      return;
    }
    const ledger = decodeLedger(state.ledger);
    const none = { rows: new RowSet(), labels: state.labels, digest: "" };
    const links = await Links.of(context, state);
    const live = await liveRows(context, state, state.labels, links, none.rows, ledger);
    const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
    const options = { ...optionsOf(state), mode: "exact" as const, maxRemovals: 1, source };
    const plan = planRows(none.rows, ledger, live, options);
    if (!plan.proven)
      context.report.warning(`it can't be proven which rows of table ${state.table} are ours: none is removed`);
    const { failures } = await applyPlan(context, state, none, links, plan);
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
  },
});

const optionsOf = ({ mode, onConflict, adopt = false, maxRemovals }: Inputs): RowOptions => ({
  mode,
  onConflict,
  adopt,
  maxRemovals,
});

async function summaryOf(inputs: Inputs, directory: string): Promise<Summary> {
  const known = recent.get(inputs.resourceUrn ?? "");
  return known?.digest === inputs.digest && known ? known : summarize(inputs, directory);
}

/** The source that the state was applied from, if it can still be read and says the same. */
async function lastSource(context: Context, state: Applied): Promise<Summary | undefined> {
  if (state.source === undefined) return undefined;
  try {
    const summary = await summarize(state, context.directory);
    return summary.digest === state.digest ? summary : undefined;
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** What a run will do, in one line with the first keys. */
async function forecast(
  inputs: Inputs,
  summary: Summary,
  ledger: Ledger,
  keys: string[],
  directory: string,
): Promise<string> {
  const plan = planOffline(summary.rows, ledger, inputs.mode);
  if (!plan.exact)
    return `more than ${plan.moreThan} rows to add, change or remove (${plan.net >= 0 ? "+" : ""}${plan.net} rows in all)`;
  const { added, changed, removed } = plan.change;
  const named = async (chosen: readonly number[]): Promise<string> => {
    if (inputs.sensitive || chosen.length === 0) return "";
    const first = new Set(chosen.slice(0, mostNamed));
    return ` (${first.size < chosen.length ? `${(await keysOf(inputs, directory, first)).join(", ")}, …` : (await keysOf(inputs, directory, first)).join(", ")})`;
  };
  // The ledger of a small seed keeps the order of its keys.
  const gone =
    ledger.kind === "list" && !inputs.sensitive
      ? removed.flatMap(({ key }) => keys[ledger.rows.find(key) ?? -1] ?? [])
      : [];
  const goneNamed = gone.length === 0 ? "" : ` (${some(gone, mostNamed)})`;
  const parts = [
    plan.insert > 0 ? `${plan.insert} to add${await named(added)}` : "",
    plan.update > 0 ? `${plan.update} to change${await named(changed)}` : "",
    plan.remove > 0 ? `${plan.remove} to remove${goneNamed}` : "",
    `${plan.unchanged} unchanged`,
  ];
  return `rows: ${parts.filter((part) => part !== "").join(", ")}`;
}

/** Brings the table to what the source says and tells what is ours then. */
async function apply(context: Context, id: string, inputs: Inputs, ledger: Ledger): Promise<Applied> {
  const summary = await summaryOf(inputs, context.directory);
  const links = await Links.of(context, inputs);
  const live = await liveRows(context, inputs, summary.labels, links, summary.rows, ledger);
  const plan = planRows(summary.rows, ledger, live, optionsOf(inputs));
  await refuse(inputs, plan, context.directory);
  const { undone, failures } = await applyPlan(context, inputs, summary, links, plan);
  const now = ledgerAfter(summary.rows, plan, undone);
  const outputs = await outputsOf(inputs, summary, now, context.directory);
  if (failures.length > 0) {
    const message = `${now.count} rows of table ${inputs.table} are as declared, but:\n${failures.join("\n")}`;
    throw new PartialFailure(message, id, outputs);
  }
  const { foreign, kept, adopted } = plan;
  const counts = [
    [plan.insert.length, "added"],
    [plan.update.length, "changed"],
    [plan.remove.length, "removed"],
    [plan.unchanged, "unchanged"],
    [adopted, "found there as declared"],
    [kept, "kept as edited by hand"],
    [foreign, "of others left alone"],
  ] as const;
  context.report.info(`rows: ${counts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : [])).join(", ")}`);
  return outputs;
}

/** Ends when a plan must not be carried out, naming the rows. */
async function refuse(inputs: Inputs, plan: RowPlan, directory: string): Promise<void> {
  const keys = async (indices: number[]): Promise<string> =>
    inputs.sensitive ? `${indices.length} rows` : some(await keysOf(inputs, directory, new Set(indices)), 20);
  const reasons = [...plan.refusals];
  if (plan.adoptNeeded.length > 0) {
    const named = await keys(plan.adoptNeeded.map(({ wanted }) => wanted));
    reasons.push(
      `table ${inputs.table} has rows with these keys and other content that are not ours: ${named}. Set adopt: true to take them over, or remove them from the source.`,
    );
  }
  if (plan.conflicts.length > 0) {
    const known = plan.conflicts.flatMap(({ wanted }) => wanted ?? []);
    const named = known.length > 0 ? `: ${await keys(known)}` : "";
    reasons.push(
      `${plan.conflicts.length} rows of table ${inputs.table} were edited or removed by hand and onConflict is "error"${named}. Set onConflict to overwrite or keepLive, or put them back.`,
    );
  }
  if (reasons.length > 0) throw new ResourceError(reasons.join("\n"));
}

async function outputsOf(inputs: Inputs, summary: Summary, ledger: Ledger, directory: string): Promise<Applied> {
  const { rows: inline, ...rest } = inputs;
  const outputs: Applied = { ...rest, rowCount: ledger.count, ledger: encodeLedger(ledger), labels: summary.labels };
  const small = ledger.count <= mostKeys.rows && ledger.count === summary.rows.length && !inputs.sensitive;
  const keys = small ? await keysOf(inputs, directory) : [];
  return small && keys.join().length <= mostKeys.characters ? { ...outputs, keys } : outputs;
}

/** The state with what was done to our rows by hand. */
async function observe(context: Context, state: Applied): Promise<Applied> {
  const { drift: before, ...rest } = state;
  const ledger = decodeLedger(state.ledger);
  const links = await Links.of(context, state);
  const wanted = ledger.kind === "list" ? ledger.rows : (await lastSource(context, state))?.rows;
  if (!wanted) {
    context.report.warning(
      `the source of the last run can't be read any more, so edits by hand in table ${state.table} are not seen`,
    );
    return state;
  }
  const edited: string[] = [];
  const live = await liveRows(context, state, state.labels, links, wanted, ledger, ({ key, content }, values) => {
    const index = wanted.find(key);
    if (index !== undefined && !wanted.says(index, content)) edited.push(keyOf(state.key, values));
  });
  const { drift } = planRows(wanted, ledger, live, optionsOf(state));
  if (drift.edited.length + drift.missing.length === 0) return rest;
  const missing = drift.missing.flatMap((index) => state.keys?.[index] ?? []);
  const keys = state.sensitive ? [] : [...edited, ...missing].slice(0, 2 * mostNamed);
  return { ...rest, drift: { changed: drift.edited.length, missing: drift.missing.length, keys } };
}

/** The first few of many, for people. */
function some(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}
