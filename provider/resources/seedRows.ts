import { messageOf } from "../../machine/failures.ts";
import { withoutUndefined } from "../../platform/contract/values.ts";
import { removeOwned, apply, lookAhead } from "../seedRows/apply.ts";
import { formsOf } from "../seedRows/cells.ts";
import { saltOf } from "../seedRows/digests.ts";
import { findSettingProblems, inputs, outputs, type SeedInputs, type SeedState } from "../seedRows/inputs.ts";
import { decodeLedger, emptyLedger } from "../seedRows/ledger.ts";
import { importRow, observe } from "../seedRows/observation.ts";
import { departure, leaveLate, problemsWith, type ComparedSeed } from "../seedRows/otherSeeds.ts";
import { previewUpdate, sourceOf } from "../seedRows/preview.ts";
import { SourceError } from "../seedRows/source/read.ts";
import { predecessorOf } from "../seedRows/state.ts";
import { type InputProblem, ResourceError } from "./common.ts";
import { resource } from "./lifecycle.ts";
import type { OfflineContext, Diff } from "./resource.ts";

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
    if (old.table === undefined) {
      // An engine that replaces a tainted resource compares it with nothing.
      const last = context.recall?.("SeedRows").find(({ urn }) => urn === asked.resourceUrn);
      if (last && !rowClaims.replaced(last.urn)) rowClaims.had(last.urn, last.outputs);
      rowClaims.begin(asked.resourceUrn);
    } else rowClaims.had(asked.resourceUrn, old);
    const last: Partial<SeedInputs> = old.table === undefined ? { ...rowClaims.replaced(asked.resourceUrn) } : old;
    const salt = last.salt ?? saltOf(context.seed());
    // A preview can't know a random value of the next up.
    const isPreview = unknown.has("salt");
    const isPassing = isPreview && salt !== last.salt;
    const inputs = { ...asked, ...withoutUndefined({ salt, forms: formsOf(asked) }) };
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
      const replaced = await predecessorOf(context, inputs as SeedInputs);
      await leaveLate(context, inputs.resourceUrn, inputs as SeedInputs);
      const read = await sourceOf(context, inputs as SeedInputs, replaced ? { table: replaced.table } : old);
      const declared = { urn: inputs.resourceUrn, target: inputs as SeedInputs, digest: read.digest, linkedSeeds };
      if (inputs.resourceUrn !== undefined) rowClaims.claim(inputs.resourceUrn, declared.target, read.digest);
      const problems = await verify(context, declared);
      const { rowCount, ...computed } = read;
      const checked: Partial<SeedInputs> = { ...inputs, ...withoutUndefined(computed) };
      if (replaced && problems.length === 0) await previewUpdate(context, asUpdate, replaced, checked as SeedInputs);
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
    const whole = { ...inputs, ...withoutUndefined({ salt, digest }) } as SeedInputs; // nothing that matters is unknown
    return previewUpdate(context, known, old, whole);
  },

  departs: departure,

  foresee: async (context, { inputs: { resourceUrn } }, look) => {
    const claim = context.rowClaims.find(resourceUrn);
    if (claim?.digest === undefined || context.rowClaims.last(claim.urn)) return;
    const declared = { ...claim.target, digest: claim.digest } as SeedInputs; // all of them: it was checked
    const online = declared.adopt || declared.mode === "updateOnly" ? undefined : await look();
    if (!online) return;
    try {
      return await lookAhead(online, declared);
    } catch (error) {
      if (error instanceof ResourceError) throw error;
      context.report.info(`whether others made rows with these keys is seen by up alone: ${messageOf(error)}`);
    }
  },

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
    const observed = await observe(context, state as SeedState); // it has a ledger: it is whole
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
async function verify({ rowClaims, directory }: OfflineContext, declared: ComparedSeed): Promise<InputProblem[]> {
  const problems = await problemsWith(rowClaims, declared, directory);
  // One for all of them: an engine prints the value of the property with each.
  return problems.length === 0 ? [] : [problemOf(declared.target, problems.join("\n"))];
}
