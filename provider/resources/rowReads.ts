import { pages } from "../client/pages.ts";
import type { RowData } from "../contract/values.ts";
import { rowDigester, type RowDigests } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import { LiveRows } from "../reconcile/liveRows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import type { RowTarget } from "./rowApply.ts";
import type { Links } from "./rowLookups.ts";
import { Pace } from "./rowPace.ts";
import { linkedLabels } from "./rowSource.ts";
import type { RowContext } from "./rowContext.ts";

/** Reads the rows of a table into digests; `see` is shown each one in the words of the source. */
export async function liveRows(
  context: RowContext,
  { table, ...declaration }: RowTarget,
  labels: readonly string[],
  links: Links,
  wanted: RowSet,
  ledger: Ledger,
  see: (digests: RowDigests, values: RowData) => void = () => undefined,
): Promise<LiveRows> {
  const digester = rowDigester({ key: declaration.key, labels, references: linkedLabels(declaration) });
  const live = new LiveRows(wanted, ledger);
  const pace = new Pace("rows read", context.now);
  const { client, signal, onCall } = context;
  for await (const page of pages(client, { microAppID: table, signal, onCall })) {
    for (const row of page) {
      const values = links.inSourceTerms(row);
      const key = digester.key(values);
      const digests = key && { key, content: digester.content(values) };
      live.add(row._id, digests);
      if (digests) see(digests, values);
    }
    context.report.status(`${table}: ${pace.add(page.length)}`);
  }
  return live;
}
