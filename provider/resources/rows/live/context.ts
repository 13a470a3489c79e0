import type { CallOptions } from "../../../client/http/call.ts";
import { pages } from "../../../client/lists/pages.ts";
import type { Row } from "../../../contract/values.ts";
import type { Context } from "../../model/resource.ts";
import type { RowClaims } from "../declared/claims.ts";

/** What rows are read and written with. */
export interface RowContext extends Context, Pick<CallOptions, "onCall"> {
  rowClaims: RowClaims;
  /** Whether rows that were read a moment ago do: nothing is planned by them. */
  fromCache?: boolean;
}

/** All rows of a table, page by page. */
export function rowsOf({ client, tables, signal, onCall, fromCache }: RowContext, table: string): AsyncIterable<Row[]> {
  return fromCache ? tables.read(table, { signal, onCall }) : pages(client, { microAppID: table, signal, onCall });
}
