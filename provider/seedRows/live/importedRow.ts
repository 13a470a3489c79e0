import { randomBytes } from "node:crypto";
import { declarable, withoutUndefined, type RowData } from "../../../platform/contract/values.ts";
import { saltOf } from "../../reconcile/digests.ts";
import { ledgerOf } from "../../reconcile/ledger.ts";
import { type OfflineContext, ResourceError } from "../../resources/model/resource.ts";
import { summarize } from "../declared/declaration.ts";
import { formsOf } from "../declared/forms.ts";
import { keysIn } from "../declared/summaries.ts";
import { outputsOf, type KeptState, type SeedInputs } from "../kept/state.ts";
import type { RowContext } from "./context.ts";
import { rowByKey } from "./links.ts";

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
