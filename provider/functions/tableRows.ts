import { z } from "zod";
import { isNotFound } from "../../platform/contract/errors.ts";
import { declarable, id, type Row, type RowData } from "../../platform/contract/values.ts";
import { keyText } from "../reconcile/digests.ts";
import { aTable, rowsOf, type RowContext } from "../seedRows/live/context.ts";
import { InputError } from "./function.ts";

/** A row as functions answer it. */
export const rowShape = {
  rowID: id.meta({ description: "ID of the row." }),
  values: z.record(z.string(), z.unknown()).meta({ description: "The row's values by label." }),
  parentRowID: id.optional().meta({ description: "The parent row, in a sub-table." }),
};

export const row = z.object(rowShape);

/** The row without what is the platform's own. */
export function toOutput({ _id, embeddingRowID, ...rest }: Row): z.output<typeof row> {
  return { rowID: _id, values: declarable(rest), ...(embeddingRowID ? { parentRowID: embeddingRowID } : {}) };
}

/** Which rows of a table. */
interface Query {
  table: string;
  where?: RowData | undefined;
  /** Filters in the platform's own form, which it applies itself. */
  filters?: RowData[] | undefined;
  /** The parent row, in a sub-table. */
  parentRowID?: string | undefined;
  /** Rows that are wanted at most. */
  limit?: number | undefined;
}

/**
 * The rows whose labels have the wanted values, in the order of their IDs.
 * The platform is asked for them by label; when it finds none it may not know labels in filters, so the whole table is
 * looked through.
 */
export async function* readMatching(
  context: RowContext,
  { table, where = {}, filters = [], limit, parentRowID }: Query,
): AsyncGenerator<Row> {
  const wanted = Object.entries(where);
  const asked = wanted.flatMap(([label, value]) => {
    const forms = formsOf(value);
    return forms ? [{ [label]: forms.length === 1 ? forms[0] : { $in: forms } }] : [];
  });
  const pageSize = wanted.length === 0 ? limit : undefined;
  const read = async function* (optViewFilters: RowData[]): AsyncGenerator<Row> {
    const below = parentRowID === undefined ? [] : [{ embeddingRowID: parentRowID }];
    const isWanted = (row: Row): boolean => wanted.every(([label, value]) => matches(row[label], value));
    const isBelow = ({ embeddingRowID }: Row): boolean => parentRowID === undefined || embeddingRowID === parentRowID;
    try {
      for await (const rows of rowsOf(context, table, aTable, {
        optViewFilters: [...optViewFilters, ...below],
        pageSize,
      })) {
        // Rows that name no parent would be taken for another parent's, or that one's for theirs.
        if (parentRowID !== undefined && rows.some(({ embeddingRowID }) => !embeddingRowID))
          throw new InputError("parentRowID", `table ${table} does not show below which row each of its rows stands`);
        yield* rows.filter((row) => isWanted(row) && isBelow(row));
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new InputError("table", "there is no such table on the platform");
    }
  };
  let any = false;
  for await (const row of read([...filters, ...asked])) {
    any = true;
    yield row;
  }
  if (!any && asked.length > 0) yield* read(filters);
}

/** True when a value is the wanted one, or a list that holds it. Text and number are the same, as in natural keys. */
const matches = (value: unknown, wanted: unknown): boolean =>
  keyText(value) === keyText(wanted) ||
  (Array.isArray(value) && (value as unknown[]).some((item) => keyText(item) === keyText(wanted)));

/** The forms in which the platform may hold a value; undefined when it can't be asked for it. */
function formsOf(value: unknown): unknown[] | undefined {
  if (typeof value === "number" || typeof value === "boolean") return [value, String(value)];
  if (typeof value !== "string" || value === "") return undefined;
  if (value === "true" || value === "false") return [value, value === "true"];
  return String(Number(value)) === value ? [value, Number(value)] : [value];
}
