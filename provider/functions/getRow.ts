import { z } from "zod";
import { id, type Row } from "../../platform/contract/values.ts";
import { InputError, platformFunction } from "./function.ts";
import { requireFound } from "./missing.ts";
import { readMatching, rowShape, toOutput } from "./tableRows.ts";

export const getRow = platformFunction({
  name: "getRow",
  summary: "One row of a data table, by its ID or by its natural key.",
  example: { inputs: { table: "countries", key: { Code: "PT" } }, output: "values" },
  inputs: z.object({
    rowID: id.optional().meta({ description: "ID of the row. Either this, or table and key." }),
    table: id.optional().meta({ description: "Data table ID (microAppID). With key." }),
    key: z.record(z.string().min(1), z.unknown()).optional().meta({
      description: "Values by label that one row of the table has, and no other.",
    }),
  }),
  outputs: z.object(rowShape),

  check: ({ rowID, table, key }) => {
    if (rowID !== undefined) {
      const both = table !== undefined ? "table" : "key";
      return table === undefined && key === undefined
        ? []
        : [{ property: both, reason: "set either rowID, or table and key, not both" }];
    }
    if (table === undefined) return [{ property: "table", reason: "set rowID, or table and key" }];
    const labels = Object.keys(key ?? {});
    return labels.length > 0 ? [] : [{ property: "key", reason: "name the values that tell the row: label → value" }];
  },

  invoke: async (context, { rowID, table = "", key = {} }) => {
    if (rowID !== undefined) {
      const read = context.client.microappdataRow({ rowID }, context).then(({ currentRow }) => currentRow);
      return toOutput(await requireFound("rowID", "row", read));
    }
    let first: Row | undefined;
    let count = 0;
    for await (const row of readMatching(context, { table, where: key })) {
      first ??= row;
      count++;
    }
    if (first && count === 1) return toOutput(first);
    if (!first) throw new InputError("key", "there is no such row in the table");
    throw new InputError("key", `there is not one such row in the table but ${count}: name more labels`);
  },
});
