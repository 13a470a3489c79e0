import { randomUUID } from "node:crypto";
import { z } from "zod";
import { CallCounter } from "../client/calls.ts";
import { id } from "../contract/values.ts";
import { massDisappearance, tooManyRemovals } from "../reconcile/guards.ts";
import {
  decodeLedger,
  emptyLedger,
  encodeLedger,
  ledgerInFailure,
  ledgerOf,
  type Ledger,
} from "../reconcile/ledger.ts";
import { fewestRemovals, oursAfter, planOffline, planRows, type RowOptions, type RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { NumberedKeys, refuseNumbered } from "./numberedKeys.ts";
import {
  adopt,
  common,
  PartialFailure,
  resource,
  ResourceError,
  type Context,
  type Observed,
  type State,
} from "./resource.ts";
import { applyPlan } from "./rowApply.ts";
import { driftSaid, repairsOf } from "./rowDrift.ts";
import { as, firstNames, forecast, mostShown, type Part } from "./rowForecast.ts";
import { Links } from "./rowLookups.ts";
import { liveRows } from "./rowReads.ts";
import { outcome, tellFindings } from "./rowReports.ts";
import { FoundRows } from "./rowsFound.ts";
import { fingerprintOf, keyOf, keysOf, quoted, summarize, type Summary } from "./rowSource.ts";
import { given, gone, some } from "./settling.ts";

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
    description:
      "Largest part of the owned rows (from 10 on) that one run may remove, or find gone from the platform, as a fraction of 1.",
  }),
  onDestroy: z.enum(["delete", "retain"]).default("delete").meta({
    description: "Whether a destroy deletes the rows that we own or leaves them.",
  }),
  sensitive: z.boolean().optional().meta({
    description: "The rows are secret: messages tell counts and no keys. Set by itself when rows are a secret.",
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
  adopt,
});

const outputs = z.object({
  rowCount: z.number().int().meta({ description: "Rows that we own." }),
  ledger: z.string().meta({ description: "Digests of the rows as they were last applied." }),
  labels: z.array(z.string()).meta({ description: "Labels that the rows declare." }),
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

/** A file's natural keys are kept in the state within these bounds. */
const mostKeys = { rows: 1_000, characters: 16_000 };

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

  check: async ({ directory, report }, { inputs: { salt: _, ...asked }, unknown }, old) => {
    const inputs = { ...asked, ...given({ salt: saltOf(asked, old) }) };
    if (["rows", "source", "key", "types", "references", "parent"].some((name) => unknown.has(name))) {
      report.info("the rows are known only once other resources exist");
      return { inputs, problems: [] };
    }
    const sources = [inputs.rows, inputs.source].filter((one) => one !== undefined).length;
    if (sources !== 1) {
      const reason = sources === 0 ? "set rows or source" : "set either rows or source, not both";
      return { inputs, problems: [{ property: "source", reason }] };
    }
    // Nothing else is needed to read the source, and all of it was just seen to be known.
    const declaration = inputs as Inputs;
    try {
      const fingerprint = await fingerprintOf(declaration, directory);
      if (fingerprint !== undefined && fingerprint === old.fingerprint && old.digest !== undefined) {
        const { digest, keys } = old;
        return { inputs: { ...inputs, digest, fingerprint, ...given({ keys }) }, problems: [] };
      }
      const summary = await summarize(declaration, directory);
      if (inputs.resourceUrn !== undefined) recent.set(inputs.resourceUrn, summary);
      if (old.table === undefined) {
        const plan = planOffline(summary.rows, emptyLedger(), declaration.mode);
        const names = await firstNames(declaration, plan, emptyLedger(), [], directory);
        report.info(forecast(declaration, plan, names, 0));
      }
      const keys = await keysIn(declaration, summary, directory);
      return { inputs: { ...inputs, digest: summary.digest, ...given({ fingerprint, keys }) }, problems: [] };
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
    const { changed } = change;
    const parts: Part[] = [];
    let total = 0;
    // A refresh takes from the engine what it knew of the failure.
    if (old.unfinished) changed.push("unfinished");
    const repairs = repairsOf(declaration, old.drift);
    if (changed.length > 0) {
      const summary = await summaryOf(declaration, directory);
      const ledger = decodeLedger(old.ledger);
      const planned = planOffline(summary.rows, ledger, declaration.mode);
      const names = await firstNames(declaration, planned, ledger, old.keys ?? [], directory);
      report.info(forecast(declaration, planned, names, ledger.count, repairs));
      const leaving = declaration.mode === "exact" ? fewestRemovals(planned) : 0;
      const refusal = tooManyRemovals("rows", leaving, ledger.count, declaration.maxRemovals);
      if (refusal) throw new ResourceError(refusal);
      if (planned.exact) {
        parts.push(...names.added.map(as("add")), ...names.changed.map(as("update")));
        parts.push(...names.removed.slice(0, mostShown).map(as("delete")));
        total += planned.insert + planned.update + planned.remove;
      }
    }
    if (repairs) {
      const { changedKeys, missingKeys } = repairs;
      const vanished = massDisappearance("rows", repairs.missing, old.rowCount, declaration.maxRemovals);
      if (vanished !== undefined) throw new ResourceError(`table ${declaration.table}: ${vanished}`);
      report.info(driftSaid(declaration, repairs, { owned: old.rowCount, alone: changed.length === 0 }));
      changed.push("drift");
      parts.push(...changedKeys.map(as("update")), ...missingKeys.map(as("add")));
      total += repairs.changed + repairs.missing;
    }
    return declaration.sensitive || parts.length === 0
      ? change
      : { ...change, parts: { rows: { first: parts, total } } };
  },

  create: async (context, inputs) => {
    const id = `${inputs.table}/${inputs.key.join("+")}`;
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

  update: (context, id, old, inputs) => apply(context, id, inputs, decodeLedger(old.ledger)),

  delete: async (context, _id, state) => {
    if (state.onDestroy === "retain") {
      context.report.info(`onDestroy is "retain": ${state.rowCount} rows stay in table ${state.table}`);
      return;
    }
    const ledger = decodeLedger(state.ledger);
    const none = { rows: new RowSet(), labels: state.labels, digest: "" };
    const links = await Links.of(context, state);
    const live = await ifThere(liveRows(context, state, state.labels, links, none.rows, ledger));
    if (!live) return; // the rows went with their table
    const source = ledger.kind === "sketch" ? (await lastSource(context, state))?.rows : undefined;
    const options = { ...optionsOf(state), mode: "exact" as const, maxRemovals: 1, source };
    const plan = planRows(none.rows, ledger, live, options);
    if (!plan.proven)
      context.report.warning(`it can't be proven which rows of table ${state.table} are ours: none is removed`);
    const { failures } = await applyPlan(context, state, none, links, plan);
    if (failures.length > 0) throw new ResourceError(failures.join("\n"));
  },
});

/** The digests in a state stay comparable: what they were salted with stays. */
const saltOf = ({ sensitive }: Partial<Inputs>, old: Partial<Inputs>): string | undefined =>
  sensitive && old.digest === undefined ? randomUUID() : old.salt;

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
  if (state.source === undefined && state.rows === undefined) return undefined;
  try {
    const summary = await summarize(state, context.directory);
    return summary.digest === state.digest ? summary : undefined;
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** Natural keys by which engines and people tell the rows apart: of all that the program has, of a small file's. */
async function keysIn(inputs: Inputs, { rows }: Summary, directory: string): Promise<string[] | undefined> {
  if (inputs.sensitive || (inputs.rows === undefined && rows.length > mostKeys.rows)) return undefined;
  const keys = await keysOf(inputs, directory);
  return inputs.rows !== undefined || isSmall(keys) ? keys : undefined;
}

const isSmall = (keys: readonly string[]): boolean =>
  keys.length <= mostKeys.rows && keys.join().length <= mostKeys.characters;

/** Brings the table to what the source says and tells what is ours then. */
async function apply(given: Context, id: string, inputs: Inputs, ledger: Ledger): Promise<Applied> {
  const calls = new CallCounter();
  const context = { ...given, onCall: calls.onCall };
  const began = context.now();
  const summary = await summaryOf(inputs, context.directory);
  const links = await Links.of(context, inputs);
  const numbered = new NumberedKeys(inputs.key);
  const live = await liveRows(context, inputs, summary.labels, links, summary.rows, ledger, ({ index, values }) => {
    if (index === undefined) numbered.see(values);
  });
  const plan = planRows(summary.rows, ledger, live, optionsOf(inputs));
  await refuse(inputs, plan, context.directory);
  await refuseNumbered(inputs, plan, numbered, context.directory);
  tellFindings(context.report, inputs.table, plan);
  const { undone, failures } = await applyPlan(context, inputs, summary, links, plan);
  const ours = oursAfter(summary.rows, plan, undone);
  if (failures.length > 0) {
    const done = summary.rows.length - undone.wanted.size - plan.kept;
    const message = `${done} rows of table ${inputs.table} are as declared, but:\n${failures.join("\n")}`;
    const outputs = outputsOf(inputs, summary, ledgerInFailure(ours));
    throw new PartialFailure(message, id, { ...outputs, unfinished: true });
  }
  const outputs = outputsOf(inputs, summary, ledgerOf(ours));
  context.report.info(outcome(plan, calls, context.now() - began));
  return outputs;
}

/** Ends when a plan must not be carried out, naming the rows. */
async function refuse(inputs: Inputs, plan: RowPlan, directory: string): Promise<void> {
  const keys = async (indices: number[]): Promise<string> =>
    inputs.sensitive
      ? `${indices.length} rows`
      : some((await keysOf(inputs, directory, new Set(indices))).map(quoted), 20);
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

function outputsOf({ rows: inline, keys, ...inputs }: Inputs, summary: Summary, ledger: Ledger): Applied {
  const outputs: Applied = { ...inputs, rowCount: ledger.count, ledger: encodeLedger(ledger), labels: summary.labels };
  // Those of a ledger that has other rows would name the wrong ones.
  return keys && isSmall(keys) && ledger.count === keys.length ? { ...outputs, keys } : outputs;
}

/** Undefined when the table is gone. */
const ifThere = <Answer>(reading: Promise<Answer>): Promise<Answer | undefined> =>
  reading.catch((error: unknown) => {
    if (!gone(error)) throw error;
    return undefined;
  });

/** The first keys of rows that are gone: of those in the state, or of the source that was applied. */
async function missingKeys(
  context: Context,
  state: Applied,
  wanted: RowSet,
  missing: readonly number[],
): Promise<string[]> {
  const first = missing.slice(0, mostShown);
  if (state.keys) return first.flatMap((index) => state.keys?.[index] ?? []);
  const source = await lastSource(context, state);
  const indices = first.flatMap((index) => source?.rows.find(wanted.key(index)) ?? []);
  return indices.length === 0 ? [] : keysOf(state, context.directory, new Set(indices));
}

/**
 * The state with what was done to our rows by hand, and the rows of the program as they are on the platform; undefined
 * when the table is gone.
 */
async function observe(platform: Context, state: Applied): Promise<Omit<Observed<Applied>, "id"> | undefined> {
  const context = { ...platform, looking: true };
  const { drift: before, rows, ...rest } = state;
  const ledger = decodeLedger(state.ledger);
  const links = await Links.of(context, state);
  const wanted = ledger.kind === "list" ? ledger.rows : (await lastSource(context, state))?.rows;
  if (!wanted) {
    const said = `the source is not the one that was applied any more, so edits by hand in table ${state.table} show only in the update`;
    if (platform.readsFirst) context.report.info(said);
    else context.report.warning(said);
    return { outputs: before ? { ...rest, drift: before } : rest };
  }
  const found = rows && ledger.kind === "list" && !state.sensitive ? new FoundRows(state, rows) : undefined;
  const edited: string[] = [];
  const reading = liveRows(context, state, state.labels, links, wanted, ledger, ({ index, content, values }) => {
    if (index === undefined) return;
    found?.see(values);
    if (!wanted.says(index, content)) edited.push(keyOf(state.key, values));
  });
  const live = await ifThere(reading);
  if (!live) {
    context.report.warning(`table ${state.table} is not on the platform any more, nor are the rows in it`);
    return undefined;
  }
  const inputs = found ? { inputs: found.inputs() } : {};
  const { drift, vanished } = planRows(wanted, ledger, live, optionsOf(state));
  const judgedLater = platform.readsFirst && drift.missing.length > 0;
  if (vanished !== undefined && !judgedLater) throw new ResourceError(`table ${state.table}: ${vanished}`);
  const [changed, missing] = [drift.edited.length, drift.missing.length];
  if (changed + missing === 0) return { outputs: rest, ...inputs };
  const gone = missing === 0 || state.sensitive ? [] : await missingKeys(context, state, wanted, drift.missing);
  const first = (keys: string[]): string[] => (state.sensitive ? [] : keys.slice(0, mostShown));
  const seen = { changed, missing, changedKeys: first(edited), missingKeys: first(gone) };
  return { outputs: { ...rest, drift: seen }, ...inputs };
}
