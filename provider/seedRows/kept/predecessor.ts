import { encodeLedger, ledgerOf } from "../../reconcile/ledger.ts";
import type { OfflineRowContext } from "../declared/claims.ts";
import { lastSource } from "../declared/summaries.ts";
import type { SeedInputs, SeedState } from "./state.ts";

/**
 * The state of the seed that an engine replaces by this one under the same name, whatever the diff found: its rows
 * become the successor's. Where the run has not seen the state, the declaration of the last run's source. Undefined
 * where there is none on this table, or where neither is known.
 */
export async function predecessorOf(
  { rowClaims, directory }: Pick<OfflineRowContext, "rowClaims" | "directory">,
  { resourceUrn, table }: Pick<SeedInputs, "resourceUrn" | "table">,
): Promise<SeedState | undefined> {
  const had: Partial<SeedState> | undefined = rowClaims.replaced(resourceUrn); // as check, read and diff got it
  if (had?.table !== table || had.key === undefined) return undefined;
  if (had.ledger !== undefined) return had as SeedState;
  const inputs = had as SeedInputs;
  const source = await lastSource({ directory }, inputs);
  if (!source) return undefined;
  const { rows, labels, rowLabels } = source;
  const ledger = encodeLedger(ledgerOf(rows));
  return { ...inputs, labels, labelled: rowLabels.counts(), ledger, rowCount: rows.length };
}
