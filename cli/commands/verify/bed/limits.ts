import type { Door } from "../../../../provider/conformance/door.ts";
import { maxRowsPerInsert } from "../../../../provider/contract/rows.ts";
import { at } from "../../../../provider/contract/wire.ts";
import type { Profile } from "../../../../provider/habits/profile.ts";

/** Finds limits below a number of rows, which it inserts into an empty table: those that are larger are not seen. */
export async function limitsBelow(door: Door, table: string | undefined, most: number): Promise<Profile["limits"]> {
  if (table === undefined || most === 0) return {};
  const maximumBatch = await largestBatch(door, table, Math.min(most, maxRowsPerInsert));
  const { length: unasked } = await rowsOf(door, { microAppID: table });
  const filter = { resourceID: table, skip: 0, limit: most };
  const { length: asked } = await rowsOf(door, { microAppID: table, searchFilter: [filter], optLimit: most });
  const held = maximumBatch ?? Math.min(most, maxRowsPerInsert);
  return {
    ...(unasked > 0 && unasked < held ? { defaultLimit: unasked } : {}),
    ...(asked > 0 && asked < held ? { maximumLimit: asked } : {}),
    ...(maximumBatch === undefined ? {} : { maximumBatch }),
  };
}

async function rowsOf(door: Door, request: Record<string, unknown>): Promise<unknown[]> {
  const reply = await door.call({ name: "microappdata", request, as: "admin" });
  const rows = reply.kind === "answer" ? at(reply.answer, "microAppRows") : undefined;
  return Array.isArray(rows) ? (rows as unknown[]) : [];
}

/** The most rows that one insert takes; undefined when it takes all. */
async function largestBatch(door: Door, table: string, most: number): Promise<number | undefined> {
  if (await takes(door, table, most)) return undefined;
  let [taken, refused] = [0, most];
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (await takes(door, table, middle)) taken = middle;
    else refused = middle;
  }
  return taken === 0 ? undefined : taken;
}

async function takes(door: Door, microAppID: string, count: number): Promise<boolean> {
  const rows = Array.from({ length: count }, (_, index) => ({ Code: `L${index}` }));
  const reply = await door.call({ name: "insertmicroapprows", request: { microAppID, rows }, as: "admin" });
  return reply.kind !== "refused";
}
