import { randomBytes } from "node:crypto";
import { withoutUndefined, declarable, type RowData } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { canonical, saltOf } from "../reconcile/digests.ts";
import { decodeLedger, ledgerOf } from "../reconcile/ledger.ts";
import { planRows } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { ResourceError, type Observed, type OfflineContext } from "../resources/model/resource.ts";
import { comparing, formsOf } from "./cells.ts";
import { keyOf, keysOf, summarize } from "./declaration.ts";
import { TableCheck } from "./expected.ts";
import type { Seed, SeedInputs, SeedState, KeptState, Drift } from "./inputs.ts";
import { scopeOfState } from "./labels.ts";
import { Links, rowByKey } from "./links.ts";
import { liveRows, type ObserveRow } from "./live.ts";
import { maxShown } from "./preview.ts";
import { EditedRows, type FoundSecrets } from "./report.ts";
import { lastSource, withLastSource, optionsOf, keysIn, outputsOf } from "./state.ts";
import type { RowContext } from "./table.ts";

/** The first keys of missing rows: from the state, or from the source that was applied. */
async function missingKeys(
  context: RowContext,
  state: SeedState,
  wanted: RowSet,
  missing: readonly number[],
): Promise<string[]> {
  const first = context.watch ? missing : missing.slice(0, maxShown);
  if (state.keys) return first.flatMap((index) => state.keys?.[index] ?? []);
  const keys = await withLastSource(context, state, ({ rows }, seed, directory) => {
    const indices = first.flatMap((index) => rows.find(wanted.key(index)) ?? []);
    return keysOf(seed, directory, new Set(indices));
  });
  return keys ?? [];
}

/** Additions of an observation to a state. */
interface Observation {
  drift?: Drift | undefined;
  foundSecrets?: FoundSecrets | undefined;
  /** Expectations that do not hold. */
  unmet?: string[] | undefined;
}

/**
 * Reads the state with the drift of our rows, and the rows of the program as they are on the platform; undefined when
 * there is no such table.
 */
export async function observe<Applied extends SeedState & Observation>(
  platform: RowContext,
  state: Applied,
): Promise<Omit<Observed<Omit<Applied, keyof Observation | "rows"> & Observation>, "id"> | undefined> {
  const context = { ...platform, fromCache: true };
  const { drift: before, foundSecrets: secretsBefore, unmet, rows, ...last } = state;
  const ledger = decodeLedger(state.ledger);
  const links = await Links.of(context, state);
  const wanted = ledger.kind === "list" ? ledger.rows : (await lastSource(context, state))?.rows;
  if (!wanted) {
    const sentence = `the source is not the one that was applied any more, so edits by hand in table ${state.table} show only in the update`;
    if (platform.readsFirst) context.report.info(sentence);
    else context.report.warning(sentence);
    const seen = withoutUndefined({ drift: before, foundSecrets: secretsBefore, unmet });
    return { outputs: { ...last, ...seen } };
  }
  const declared = rows && ledger.kind === "list" && !state.sensitive ? new FoundRows(state, rows) : undefined;
  const edited = new EditedRows(state);
  const unlinked: string[] = [];
  const expected = state.expect && (await TableCheck.of(context, state));
  const see: ObserveRow = ({ index, content, values, dangling }) => {
    expected?.add(values);
    if (index === undefined) {
      platform.watch?.foreign(values);
      return;
    }
    declared?.observe(values);
    if (wanted.hasContent(index, content)) return;
    edited.observe(keyOf(state.key, values), values);
    platform.watch?.changed(keyOf(state.key, values), values);
    if (dangling) unlinked.push(keyOf(state.key, values));
  };
  const reading = liveRows(context, state, scopeOfState(state), links, wanted, ledger, see);
  const live = await orUndefinedIfNotFound(reading);
  if (!live) {
    context.report.warning(`table ${state.table} is not on the platform any more, nor are the rows in it`);
    return undefined;
  }
  const inputs = declared ? { inputs: declared.inputs() } : {};
  const broken = expected?.sentences(live.total) ?? [];
  const rest = broken.length > 0 ? { ...last, unmet: broken } : last;
  const { drift, vanished } = planRows(wanted, ledger, live, {
    ...optionsOf(state),
    lostData: context.lostData,
  });
  const judgedLater = platform.readsFirst && drift.missing.length > 0;
  if (vanished !== undefined && !judgedLater) throw new ResourceError(`table ${state.table}: ${vanished}`);
  const [changed, missing] = [drift.edited.length, drift.missing.length];
  if (changed + missing === 0) return { outputs: rest, ...inputs };
  const removed = missing === 0 || state.sensitive ? [] : await missingKeys(context, state, wanted, drift.missing);
  platform.watch?.missing(removed);
  const first = (keys: string[]): string[] => (state.sensitive ? [] : keys.slice(0, maxShown));
  const tellsCells = !state.sensitive && changed > 0;
  const found = tellsCells ? { found: edited.found } : {};
  const lost = unlinked.length === 0 ? {} : { unlinked: unlinked.length, unlinkedKeys: first(unlinked) };
  const seen = { changed, missing, changedKeys: first(edited.keys), missingKeys: first(removed), ...found, ...lost };
  const secrets = withoutUndefined({ foundSecrets: tellsCells ? edited.secrets : undefined });
  return { outputs: { ...rest, drift: seen, ...secrets }, ...inputs };
}

/** Rows that a program declares, as they are found on the platform: an engine compares them with the declared ones. */
class FoundRows {
  readonly #declaration: Seed;
  readonly #labels: readonly string[];
  readonly #form: ReturnType<typeof comparing>;
  readonly #declared: ReadonlyMap<string, RowData>;
  readonly #found = new Map<string, RowData>();

  /** @param rows as they were declared, or found the last time */
  constructor(declaration: Seed & { labels: readonly string[] }, rows: readonly RowData[]) {
    this.#declaration = declaration;
    this.#labels = declaration.labels;
    this.#form = comparing(declaration);
    this.#declared = new Map(rows.map((values) => [keyOf(declaration.key, values), values]));
  }

  /** Takes in a row of the platform, in the words of the source. */
  observe(values: RowData): void {
    const key = keyOf(this.#declaration.key, values);
    const declared = this.#declared.get(key);
    const labels = new Set([
      ...Object.keys(declared ?? {}),
      ...this.#labels.filter((label) => canonical(values[label])),
    ]);
    const conditions = [...labels].map((label) => {
      const form = (value: unknown) => this.#form(label, value);
      // The same value keeps the spelling that it is declared in; what others write is theirs.
      const isSame = this.#declaration.ignoreLabels?.includes(label) || form(values[label]) === form(declared?.[label]);
      return [label, isSame ? declared?.[label] : values[label]] as const;
    });
    this.#found.set(key, Object.fromEntries(conditions));
  }

  /** The rows that were found, with their keys. */
  inputs(): { rows: RowData[]; keys: string[] } {
    return { rows: [...this.#found.values()], keys: [...this.#found.keys()] };
  }
}

/** Reads the key of a row as IDs have it, `Label=value&…`; undefined for a text of another form. */
export const readKey = (text: string): Record<string, string> | undefined =>
  text.includes("=") ? Object.fromEntries(new URLSearchParams(text)) : undefined;

/** Writes the key of a row as IDs have it. */
export const writeKey = (key: Readonly<Record<string, string>>): string => new URLSearchParams(key).toString();

const isText = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value) && value !== "";

/** True for a cell that a seed declares by its value; links, places and files have forms of their own. */
const isPlain = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && (value as unknown[]).every(isText) : isText(value);

type ImportContext = RowContext & Pick<OfflineContext, "fieldTypes">;

interface Imported<Inputs> {
  id: string;
  outputs: Inputs & KeptState;
  inputs: { rows: RowData[] };
}

/**
 * Reads the one row that an ID `<table>/<Label>=<value>[&…]` names, as a seed of this row that owns it. Nothing is
 * changed. Cells that have more than a value are left out, and named: they stay as they are.
 * @param parse completes inputs by their schema
 */
export async function importRow<Inputs extends SeedInputs>(
  context: ImportContext,
  id: string,
  parse: (declared: object) => Inputs,
): Promise<Imported<Inputs> | undefined> {
  const [table = "", named = "", ...rest] = id.split("/");
  const key = rest.length > 0 ? undefined : readKey(named);
  if (!table || !key) {
    throw new ResourceError(
      `the rows of ${id} can't be imported by an ID, which does not tell which of them are meant; one row is imported by <table>/<Label>=<value>. Declare the SeedRows: rows that are there exactly as declared are found at the next up, and with adopt: true those with the same key and other content are owned as well. "microapps dump" writes such a declaration for a table, and an import file.`,
    );
  }
  const rowID = await rowByKey(context, table, key);
  if (rowID === undefined) return undefined;
  const { currentRow } = await context.client.microappdataRow({ rowID }, context);
  if (currentRow === undefined) return undefined;
  if (currentRow.embeddingRowID)
    throw new ResourceError(`${id} is a row below another one: declare it by a SeedRows with parent`);
  const cells = Object.entries(declarable(currentRow)).filter(([, value]) => value !== null && value !== "");
  const row = Object.fromEntries(cells.filter(([, value]) => isPlain(value)));
  const linked = Object.keys(key).find((label) => !(label in row));
  if (linked !== undefined)
    throw new ResourceError(`${linked} of table ${table} has more than a value: no key that an import can declare`);
  const left = cells.filter(([label]) => !(label in row)).map(([label]) => label);
  if (left.length > 0) context.report.info(`left out, and not changed: ${left.join(", ")}`);
  return { ...(await ownedRow(context, table, Object.keys(key), row, parse)), inputs: { rows: [row] } };
}

async function ownedRow<Inputs extends SeedInputs>(
  context: ImportContext,
  table: string,
  key: string[],
  row: RowData,
  parse: (declared: object) => Inputs,
): Promise<{ id: string; outputs: Inputs & KeptState }> {
  const fields = await context.fieldTypes?.(table);
  const salt = saltOf(randomBytes(32));
  const inputs = parse({ table, key, rows: [row], salt, ...withoutUndefined({ fields, forms: formsOf({ fields }) }) });
  const summary = await summarize(inputs, context.directory);
  const keys = await keysIn(inputs, summary, context.directory);
  const whole = { ...inputs, digest: summary.digest, ...withoutUndefined({ keys }) };
  const kept = { labelled: summary.rowLabels.counts() };
  const outputs = outputsOf(whole, summary, ledgerOf(summary.rows), kept);
  return { id: context.publicID(`${table}/${key.join("+")}`), outputs };
}
