import type { Json } from "../../provider/contract/wire.ts";
import type { Table } from "../data/tables.ts";
import { toStoredForm } from "./forms.ts";
import { matcher } from "./matching.ts";
import type { KeptRow } from "./records.ts";
import { embedding, similarity, textOf } from "./vectorSearch.ts";

/** Terms of a text search. */
export interface TextSearch {
  table: Table;
  /** Filters that all must match. */
  rest: readonly Json[];
  /** Text that rows are to be near to; all are equally near without it. */
  wanted: string | undefined;
}

/** How near each row is to what is searched, 0 for one that does not match. */
export function scorer({ table, rest, wanted }: TextSearch): (rows: readonly KeptRow[]) => number[] {
  const matches = matcher(rest);
  const vector = wanted === undefined ? undefined : embedding(wanted);
  return (rows) =>
    rows.map((row) => {
      const document = toStoredForm(row, table);
      if (!matches(document)) return 0;
      return vector ? similarity(vector, embedding(textOf(document, table.fields.keys()))) : 1;
    });
}
