import type { Row, RowData } from "../../../platform/contract/values.ts";
import { another, type RowDigests } from "../../reconcile/digests.ts";
import type { Ledger } from "../../reconcile/ledger.ts";
import { LiveRows } from "../../reconcile/liveRows.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { ResourceError } from "../../resources/model/resource.ts";
import { digesterFor } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { contentIn, type Scope } from "../kept/scope.ts";
import { rowsOf, type RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { ProgressRate } from "./progressRate.ts";

/**
 * Answers whether the account of this run made a row: a row's `userID` is its creator. Never of a seed that names another
 * creator, nor where the platform shows none.
 */
export async function makerOf({ client }: RowContext, { userID }: RowTarget): Promise<(row: Row) => boolean> {
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
  { table, ...declaration }: RowTarget,
  scope: Scope,
  links: Links,
  wanted: RowSet,
  ledger: Ledger,
  observe: ObserveRow = () => undefined,
): Promise<LiveRows> {
  const digester = digesterFor(declaration);
  const contentOf = contentIn(scope, declaration, wanted);
  const live = new LiveRows(wanted, ledger);
  const isMine = await makerOf(context, { table, ...declaration });
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
