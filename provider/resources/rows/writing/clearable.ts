import { ApiError } from "../../../contract/errors.ts";
import type { RowData } from "../../../contract/values.ts";
import { isObject } from "../../../contract/wire.ts";
import type { RowContext } from "../live/context.ts";

/** Throws where a link is to be cleared that the platform would keep. */
export async function assertClearable(context: RowContext, rowID: string, data: RowData): Promise<void> {
  const { client, dialect } = context;
  const cleared = Object.keys(data).filter((label) => data[label] === null);
  if (dialect.habits.linkNull === "clears" || cleared.length === 0) return;
  const { currentRow = {} } = await client.microappdataRow({ rowID }, context);
  const isLink = (value: unknown): boolean => isObject(value) && "crossAppRowID" in value;
  const kept = cleared.filter((label) => isLink((currentRow as RowData)[label]));
  if (kept.length === 0) return;
  const message =
    `this platform keeps a link that is set to nothing (linkNull): ${kept.join(", ")} would go on linking, and each ` +
    `up would try again. Link another row, or remove this one`;
  throw new ApiError({ code: "invalidRequest", endpoint: "updatemicroapprow", message });
}
