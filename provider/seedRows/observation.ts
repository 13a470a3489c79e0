import { randomBytes } from "node:crypto";
import { withoutUndefined, declarable, type RowData } from "../../platform/contract/values.ts";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { ResourceError } from "../resources/common.ts";
import type { Observed, Context } from "../resources/resource.ts";
import { brief, comparing } from "./cells.ts";
import { keyOf, keysOf, maxRows, summarize, withoutSecrets } from "./declaration.ts";
import { canonical, saltOf } from "./digests.ts";
import { TableCheck } from "./expected.ts";
import type { SeedInputs, SeedState, KeptState } from "./inputs.ts";
import { decodeLedger, ledgerOf } from "./ledger.ts";
import { Links, rowByKey } from "./links.ts";
import { Comparison, readLiveRows } from "./live.ts";
import { planRows } from "./plan.ts";
import { maxShown } from "./preview.ts";
import type { FoundSecrets } from "./report.ts";
import { RowSet } from "./rowSet.ts";
import { isHidden } from "./source/source.ts";
import { lastSource, withLastSource, optionsOf, keysIn, outputsOf } from "./state.ts";

/** What an observation adds to a state. */
type Observation = Pick<KeptState, "drift" | "foundSecrets" | "unmet">;

/**
 * Reads the state with the drift of our rows, and the rows of the program as they are on the platform; undefined when
 * there is no such table.
 */
export async function observe<Applied extends SeedState & Observation>(
  platform: Context,
  state: Applied,
): Promise<Omit<Observed<Omit<Applied, keyof Observation | "rows"> & Observation>, "id"> | undefined> {
  const context = { ...platform, fromCache: true };
  const { report, watch, lostData, readsFirst, rowClaims } = platform;
  rowClaims.reads(state); // before any other is read
  const { drift: before, foundSecrets: secretsBefore, unmet, rows, ...last } = state;
  const { table, key, sensitive = false } = state;
  const ledger = decodeLedger(state.ledger);
  const links = await Links.of(context, state);
  const wanted = ledger.kind === "list" ? ledger.rows : (await lastSource(context, state))?.rows;
  if (!wanted) {
    const sentence = `the source is not the one that was applied any more, so edits by hand in table ${table} show only in the update`;
    (readsFirst ? report.info : report.warning)(sentence);
    return { outputs: { ...last, ...withoutUndefined({ drift: before, foundSecrets: secretsBefore, unmet }) } };
  }
  const asDeclared = rows && ledger.kind === "list" && !sensitive ? spelledAsIn(state, rows) : undefined;
  const found = new Map<string, RowData>();
  const expected = state.expect && (await TableCheck.of(context, state));
  const [edited, unlinked]: [string[], string[]] = [[], []];
  const firstEdited: [key: string, values: RowData][] = [];
  const compared = { rows: wanted, links, comparison: Comparison.ofState(state, wanted), ledger };
  const reading = readLiveRows(context, state, compared, ({ index, values, isAsWanted, isDangling }) => {
    expected?.add(values);
    if (index === undefined) {
      watch?.foreign(values);
      return;
    }
    const name = keyOf(key, values);
    if (asDeclared) found.set(name, asDeclared(name, values));
    if (isAsWanted) return;
    edited.push(name);
    if (firstEdited.length < maxRows) firstEdited.push([name, withoutSecrets(state, values)]);
    watch?.changed(name, values);
    if (isDangling) unlinked.push(name);
  });
  const live = await orUndefinedIfNotFound(reading);
  if (!live) {
    report.warning(`table ${table} is not on the platform any more, nor are the rows in it`);
    return undefined;
  }
  const inputs = asDeclared ? { inputs: { rows: [...found.values()], keys: [...found.keys()] } } : {};
  const broken = expected?.sentences(live.total) ?? [];
  const rest = broken.length > 0 ? { ...last, unmet: broken } : last;
  const { drift, vanished } = planRows(wanted, ledger, live, { ...optionsOf(state), lostData });
  const judgedLater = rowClaims.isMoving(state.resourceUrn) || (readsFirst && drift.missing.length > 0);
  if (vanished !== undefined && !judgedLater) throw new ResourceError(`table ${table}: ${vanished}`);
  rowClaims.seen.set(state.resourceUrn, {
    edited: RowSet.of(live.rows, ({ key }) => wanted.has(key)),
    missing: RowSet.of(drift.missing.map((index) => ({ key: wanted.key(index), content: wanted.content(index) }))),
  });
  const [changed, missing] = [drift.edited.length, drift.missing.length];
  if (changed + missing === 0) return { outputs: rest, ...inputs };
  const removed = missing === 0 || sensitive ? [] : await missingKeys(context, state, wanted, drift.missing);
  watch?.missing(removed);
  const first = (keys: string[]): string[] => (sensitive ? [] : keys.slice(0, maxShown));
  const tellsCells = !sensitive && changed > 0;
  const seen = {
    ...{ changed, missing, changedKeys: first(edited), missingKeys: first(removed) },
    ...(tellsCells ? { found: cellsOf(state, firstEdited, (label) => !isHidden(state, label)) } : {}),
    ...(unlinked.length === 0 ? {} : { unlinked: unlinked.length, unlinkedKeys: first(unlinked) }),
  };
  const hasSecrets = tellsCells && (state.secretLabels ?? []).length > 0;
  // Sealed values are texts.
  const secrets = hasSecrets
    ? (cellsOf(state, firstEdited, (label) => isHidden(state, label)) as FoundSecrets)
    : undefined;
  return { outputs: { ...rest, drift: seen, ...withoutUndefined({ foundSecrets: secrets }) }, ...inputs };
}

/** The first keys of missing rows: from the state, or from the source that was applied. */
async function missingKeys(
  context: Context,
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

/** Cells of rows by key and label, of long values what a state keeps of them. */
function cellsOf(
  state: SeedState,
  rows: readonly (readonly [key: string, values: RowData])[],
  isMeant: (label: string) => boolean,
): Record<string, RowData> {
  const form = comparing(state);
  const labels = state.labels.filter(isMeant);
  const cells = (values: RowData): RowData =>
    Object.fromEntries(
      labels.flatMap((label) => {
        const value = values[label];
        return value === undefined || value === null ? [] : [[label, brief(value, form(label, value))] as const];
      }),
    );
  return Object.fromEntries(rows.map(([key, values]) => [key, cells(values)]));
}

/** Rows of the platform as an engine compares them with those of a program: a value that is the same keeps its spelling there. */
function spelledAsIn(state: SeedState, rows: readonly RowData[]): (key: string, values: RowData) => RowData {
  const form = comparing(state);
  const all = new Map(rows.map((values) => [keyOf(state.key, values), values]));
  return (key, values) => {
    const declared = all.get(key) ?? {};
    const labels = new Set([...Object.keys(declared), ...state.labels.filter((label) => canonical(values[label]))]);
    const cells = [...labels].map((label) => {
      // What others write is theirs.
      const isSame = state.ignoreLabels?.includes(label) || form(label, values[label]) === form(label, declared[label]);
      return [label, isSame ? declared[label] : values[label]] as const;
    });
    return Object.fromEntries(cells);
  };
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

/**
 * Reads the one row that an ID `<table>/<Label>=<value>[&…]` names, as a seed of this row that owns it. Nothing is
 * changed. Cells that have more than a value are left out, and named: they stay as they are.
 * @param parse completes inputs by their schema
 */
export async function importRow<Inputs extends SeedInputs>(
  context: Context,
  id: string,
  parse: (declared: object) => Inputs,
): Promise<{ id: string; outputs: Inputs & KeptState; inputs: { rows: RowData[] } } | undefined> {
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
  const salt = saltOf(randomBytes(32));
  const labels = Object.keys(key);
  const inputs = parse({ table, key: labels, rows: [row], salt });
  const summary = await summarize(inputs, context.directory);
  const keys = await keysIn(inputs, summary, context.directory);
  const whole = { ...inputs, digest: summary.digest, ...withoutUndefined({ keys }) };
  const kept = { labelled: summary.rowLabels.counts() };
  const outputs = outputsOf(whole, summary.labels, ledgerOf(summary.rows), kept);
  return { id: context.publicID(`${table}/${labels.join("+")}`), outputs, inputs: { rows: [row] } };
}
