import { z } from "zod";
import { id, type Row } from "../../platform/contract/values.ts";
import { keyText } from "../reconcile/digests.ts";
import { InputError, platformFunction } from "./function.ts";
import { readMatching, row, toOutput } from "./tableRows.ts";

/** Highest number of rows without a limit in the arguments: all of them are held in memory. */
const maxRows = 10_000;

const sort = z.object({
  label: z.string().min(1).meta({ description: "Label to sort by." }),
  order: z.enum(["ascending", "descending"]).optional().meta({ description: "Ascending when unset." }),
});

export const getRows = platformFunction({
  name: "getRows",
  summary: "Rows of a data table, by the values of their labels.",
  example: {
    inputs: {
      table: "countries",
      where: { Continent: "Europe" },
      sort: [{ label: "Code", order: "ascending" }],
      limit: 100,
    },
    output: "rows",
  },
  inputs: z.object({
    table: id.meta({ description: "Data table ID (microAppID)." }),
    where: z.record(z.string().min(1), z.unknown()).optional().meta({
      description: "Values that the rows have, by label. Of a linked-table label, the ID of the row that it leads to.",
    }),
    filters: z.array(z.record(z.string(), z.unknown())).optional().meta({
      description: "Filters on stored row keys that the platform applies itself, such as {sortVal: {$gte: 10}}.",
    }),
    parentRowID: id.optional().meta({ description: "Limits the rows of a sub-table to those of this parent row." }),
    sort: z.array(sort).optional().meta({ description: "The order of the rows; that of their IDs when unset." }),
    limit: z
      .number()
      .int()
      .min(1)
      .optional()
      .meta({
        description: `Most rows to get. When unset, more than ${maxRows} rows are an error.`,
      }),
  }),
  outputs: z.object({ rows: z.array(row).meta({ description: "The rows." }) }),

  invoke: async (context, { filters = [], sort = [], limit, ...query }) => {
    const named = filters.map(({ embeddingRowID }) => embeddingRowID).find((one) => typeof one === "string");
    const { parentRowID = named } = query;
    // Which rows are the first ones is known only once all are there.
    const enough = sort.length > 0 ? Infinity : (limit ?? maxRows + 1);
    const rows: Row[] = [];
    const asked = { ...query, filters, parentRowID, limit: sort.length > 0 ? undefined : limit };
    for await (const row of readMatching(context, asked)) {
      rows.push(row);
      if (rows.length >= enough) break;
    }
    if (limit === undefined && rows.length > maxRows) {
      throw new InputError("limit", `the table has more than ${maxRows} such rows: set limit, or say more in where`);
    }
    const ordered = sort.length === 0 ? rows : rows.toSorted(by(sort));
    return { rows: ordered.slice(0, limit).map(toOutput) };
  },
});

function by(labels: readonly z.output<typeof sort>[]) {
  return (a: Row, b: Row): number => {
    for (const { label, order } of labels) {
      const compared = compare(a[label], b[label]);
      if (compared !== 0) return order === "descending" ? -compared : compared;
    }
    return 0;
  };
}

/** Numbers by size, everything else by its text; what has no value comes last. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [keyText(a), keyText(b)];
  if (one === other) return 0;
  if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
  return one < other ? -1 : 1;
}
