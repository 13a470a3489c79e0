import type { Row, RowData } from "../../../contract/values.ts";
import { another, type RowDigests } from "../../../reconcile/digests.ts";
import type { Ledger } from "../../../reconcile/ledger.ts";
import { LiveRows } from "../../../reconcile/liveRows.ts";
import type { RowSet } from "../../../reconcile/rowSet.ts";
import { digesterFor } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { contentIn, type Scope } from "../kept/scope.ts";
import type { RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { ProgressRate } from "./progressRate.ts";
import { seedRowsOf } from "./subTables/shownParents.ts";

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
  // A seed without rows looks below no parent: its first row shows what is hidden.
  for await (const page of seedRowsOf(context, table, expected, links, ledger.count === 0 ? [] : undefined)) {
    if (live.total === 0) for (const row of page.slice(0, 100)) for (const label in row) live.labels.add(label);
    live.showsMakers ||= page.some(({ userID }) => userID !== undefined);
    for (const row of page) {
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
  return live;
}
