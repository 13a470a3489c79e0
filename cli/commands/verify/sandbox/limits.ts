import type { PlatformClient } from "../../../../provider/conformance/platformClient.ts";
import { maxRowsPerInsert } from "../../../../provider/contract/rows.ts";
import { at, isObject } from "../../../../provider/contract/wire.ts";
import type { Profile } from "../../../../provider/habits/profile.ts";
import { wrongly } from "../options.ts";

/**
 * Finds limits below a number of rows, which it inserts into an empty table: larger limits are not seen. Every number is
 * one of rows that are there: an answer of fewer rows is a limit only where another page has more.
 */
export async function limitsBelow(
  client: PlatformClient,
  table: string | undefined,
  most: number,
): Promise<Profile["limits"]> {
  if (table === undefined || most === 0) return {};
  const rows = new SandboxRows(client, table);
  const maximumBatch = await rows.largestBatch(Math.min(most, maxRowsPerInsert));
  const held = (await rows.ids()).size;
  const unasked = (await rows.read({})).length;
  const asked = (await rows.read({ limit: most, skip: 0 })).length;
  return {
    ...(unasked > 0 && unasked < held ? { defaultLimit: unasked } : {}),
    ...(asked > 0 && asked < Math.min(held, most) ? { maximumLimit: asked } : {}),
    ...(maximumBatch === undefined ? {} : { maximumBatch }),
  };
}

/** Rows that may be in a table beside those that were sent to it, such as those that the tables are examined with. */
const ofOthers = 100;

/** Rows that are inserted into a table and counted there. */
class SandboxRows {
  readonly #client: PlatformClient;
  readonly #table: string;
  #sent = 0;

  constructor(client: PlatformClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async read(page: Readonly<Record<string, number>>): Promise<unknown[]> {
    const { limit } = page;
    const searchFilter = [{ resourceID: this.#table, ...page }];
    const paging = limit === undefined ? {} : { searchFilter, optLimit: limit };
    const request = { microAppID: this.#table, ...paging };
    const reply = await this.#client.call({ name: "microappdata", request, as: "admin" });
    const rows = reply.kind === "answer" ? at(reply.answer, "microAppRows") : undefined;
    return Array.isArray(rows) ? (rows as unknown[]) : [];
  }

  /** IDs of the rows, page by page, until a page has no other ones. Refuses a table with more rows than it was sent. */
  async ids(): Promise<Set<string>> {
    const ids = new Set<string>();
    for (;;) {
      const before = ids.size;
      for (const row of await this.read({ limit: maxRowsPerInsert, skip: before })) {
        if (isObject(row) && typeof row["_id"] === "string") ids.add(row["_id"]);
      }
      if (ids.size === before) return ids;
      if (ids.size > this.#sent + ofOthers) {
        throw wrongly(`table ${this.#table} gives more rows than it was sent: a sandbox is nobody else's`);
      }
    }
  }

  /** The most rows that one insert takes whole; undefined when it takes all of them, or does not keep any number. */
  async largestBatch(most: number): Promise<number | undefined> {
    if (await this.#takes(most)) return undefined;
    let [taken, refused] = [0, most];
    while (refused - taken > 1) {
      const middle = Math.floor((taken + refused) / 2);
      if (await this.#takes(middle)) taken = middle;
      else refused = middle;
    }
    return taken === 0 ? undefined : taken;
  }

  /** True when a batch of so many rows arrives whole, whatever the answer: a platform may keep a part. */
  async #takes(count: number): Promise<boolean> {
    const before = (await this.ids()).size;
    const rows = Array.from({ length: count }, (_, index) => ({ Code: `L${index}` }));
    const request = { microAppID: this.#table, rows };
    this.#sent += count;
    await this.#client.call({ name: "insertmicroapprows", request, as: "admin" });
    return (await this.ids()).size - before >= count;
  }
}
