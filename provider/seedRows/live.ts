import type { RowData, Row } from "../../platform/contract/values.ts";
import { another, canonical, type RowDigests } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import { recogniseRows, type Recognised, type SeenRow, LiveRows } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { ResourceError } from "../resources/model/errors.ts";
import { digesterFor, summarize, type Summary } from "./declaration.ts";
import type { Seed, SeedState } from "./inputs.ts";
import { type LeftLabels, type Scope, contentIn } from "./labels.ts";
import { Links } from "./links.ts";
import { SourceError } from "./source/read.ts";
import { lastSource } from "./state.ts";
import { rowsOf, ProgressRate, type RowContext } from "./table.ts";

/**
 * Answers whether the account of this run made a row: a row's `userID` is its creator. Never of a seed that names another
 * creator, nor where the platform shows none.
 */
export async function makerOf({ client }: RowContext, { userID }: Seed): Promise<(row: Row) => boolean> {
  if (userID !== undefined) return () => false;
  const account = await client.callerID();
  return (row) => row.userID !== undefined && row.userID === account;
}

/** Gets each live row with a key: its values in the terms of the source, and the index of the wanted row that it matches. */
export type ObserveRow = (
  row: RowDigests & { id: string; index: number | undefined; values: RowData; dangling: boolean },
) => void;

/** Reads the rows of a table into digests; `observe` gets each one that has a key. */
export async function liveRows(
  context: RowContext,
  seed: Seed,
  scope: Scope,
  links: Links,
  wanted: RowSet,
  ledger: Ledger,
  observe: ObserveRow = () => undefined,
): Promise<LiveRows> {
  const { table } = seed;
  const digester = digesterFor(seed);
  const contentOf = contentIn(scope, seed, wanted);
  const live = new LiveRows(wanted, ledger);
  const isMine = await makerOf(context, seed);
  const rate = new ProgressRate("rows read", context.now);
  const expected = Math.max(wanted.length, ledger.count);
  for await (const page of rowsOf(context, table, expected)) {
    if (live.total === 0) for (const row of page.slice(0, 100)) for (const label in row) live.labels.add(label);
    live.showsMakers ||= page.some(({ userID }) => userID !== undefined);
    for (const row of page) {
      live.namesParents ||= !!row.embeddingRowID;
      const values = links.inSourceTerms(row);
      const known = digester.key(values);
      const dangling = links.isDangling(row);
      const content = known && contentOf(known, values);
      // It may say the same, and still leads nowhere.
      const digests = known && content && { key: known, content: dangling ? another(content) : content };
      const index = live.add(row._id, digests, dangling, isMine(row));
      if (digests) observe({ ...digests, id: row._id, index, values, dangling });
    }
    context.report.status(`${table}: ${rate.add(page.length)}`);
  }
  const isOurs = ledger.count > 0 && live.total > 0;
  if (links.by !== undefined && isOurs && !live.namesParents)
    throw new ResourceError(parentsAreHidden(table, links.by));
  return live;
}

/** The reason why no seed can keep rows below others on a platform that does not name these. */
export const parentsAreHidden = (table: string, by: string): string =>
  `table ${table} does not show below which row each of its rows stands (embeddingRowID): rows with a parent (by ${by}) can't be compared there, and none is sent, changed or removed. ` +
  `Ask the platform's operator to show it in the table's rows; or declare no parent, and link the rows to a row of the other table (references) instead`;

const linking = ({ references, parent }: Seed): string | undefined => canonical([references ?? {}, parent ?? null]);

const shape = (target: Seed): string | undefined => canonical([target.key, linking(target) ?? null]);

/** True when links are named by other labels than in the last run. */
export const isRelinked = (old: Seed, inputs: Seed): boolean => linking(old) !== linking(inputs);

/** True when the key labels, the links, or the keys of linked rows differ from those of the last run. */
export const isReshaped = (old: Seed, inputs: Seed): boolean => shape(old) !== shape(inputs);

/** The declaration of this run with the key labels and links of the last one. */
export const inOldTerms = <One extends Seed>(old: Seed, inputs: One): One => ({
  ...inputs,
  key: old.key,
  references: old.references,
  parent: old.parent,
});

/** The rows of this run by the key of the last one; undefined when that key is no longer unique. */
export async function byOldKey(old: Seed, inputs: Seed, directory: string): Promise<Summary | undefined> {
  try {
    // A link that is no more need not be among the labels.
    return await summarize(inOldTerms(old, inputs), directory, false);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Reads the table and recognises our rows by the key of the last run. */
export async function readReshapedRows(
  context: RowContext,
  inputs: Seed,
  old: SeedState,
  seed: {
    ledger: Ledger;
    summary: Summary;
    links: Links;
    scope: Scope;
    left: LeftLabels;
    projection: { observe: (row: { id: string; index: number | undefined; values: RowData }) => void } | undefined;
  },
): Promise<Recognised | undefined> {
  const { ledger, summary, links, scope, left, projection } = seed;
  // Rows that the last run linked to may have been removed.
  const oldLinks = await Links.of(context, old, true);
  const before = digesterFor(old, old.labels);
  const now = digesterFor(inputs, scope.labels);
  const rate = new ProgressRate("rows read", context.now);
  const seen: SeenRow[] = [];
  const isMine = await makerOf(context, inputs);
  for await (const page of rowsOf(context, inputs.table, ledger.count)) {
    for (const row of page) {
      const [was, is] = [oldLinks.inSourceTerms(row), links.inSourceTerms(row)];
      const key = before.key(was);
      const content = now.content(is);
      left.observe(row._id, is);
      const wanted = now.key(is);
      if (wanted) projection?.observe({ id: row._id, index: summary.rows.find(wanted), values: is });
      seen.push({
        id: row._id,
        before: key && { key, content: before.content(was) },
        dangling: oldLinks.isDangling(row),
        isMine: isMine(row),
        now: { key: wanted, content: links.isDangling(row) ? another(content) : content },
      });
    }
    context.report.status(`${inputs.table}: ${rate.add(page.length)}`);
  }
  const sameRows = await byOldKey(old, inputs, context.directory);
  const near: RowSet[] =
    ledger.kind === "list"
      ? []
      : [(await lastSource(context, old))?.rows, sameRows?.rows].filter((rows) => rows !== undefined);
  return recogniseRows(seen, summary.rows, sameRows?.rows, ledger, near);
}

/** Rows of a preview, and if only the platform shows how many of them change. */
interface Compared {
  summary: Summary;
  isVague: boolean;
}

const toText = ({ ignoreLabels = [] }: Seed): string => JSON.stringify(ignoreLabels.toSorted());

/**
 * The rows with the labels that the last run compared, where more of them are left to others now: their record is of
 * those. A label that is taken back is compared on the platform alone.
 */
export async function inLastLabels(old: Seed, inputs: Seed, summary: Summary, directory: string): Promise<Compared> {
  if (toText(old) === toText(inputs)) return { summary, isVague: false };
  const { ignoreLabels = [] } = old;
  if (ignoreLabels.some((label) => !inputs.ignoreLabels?.includes(label))) return { summary, isVague: true };
  return {
    summary: await summarize({ ...inputs, ignoreLabels, expect: undefined }, directory),
    isVague: true,
  };
}
