import { z } from "zod";
import { orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { digesterFor } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import type { Links } from "./links.ts";
import type { RowContext } from "./table.ts";
import { rowByID, type Unproven } from "./verify.ts";

/** Rows of a run that was killed before it knew whether their table keeps the natural key. */
const trying = z.object({ rowIDs: z.array(z.string()) });
const thing = "SeedRows first rows";

/** The rows of a seed whose natural key was not seen yet: in the state, and on disk before a state knows them. */
export class UnprovenRows implements Unproven {
  readonly ids: Set<string>;
  /** Rows of earlier runs that have their key, by the index of the wanted row: they are ours, whatever else they say. */
  readonly ours = new Map<number, boolean>();
  readonly #context: RowContext;
  readonly #urn: string | undefined;

  private constructor(context: RowContext, urn: string | undefined, ids: Iterable<string>) {
    this.ids = new Set(ids);
    this.#context = context;
    this.#urn = urn;
  }

  /** Those of earlier runs, which the state or this working copy knows. */
  static of(
    context: RowContext,
    { resourceUrn: urn }: Seed,
    old: { unproven?: readonly string[] | undefined; rowCount?: number } = {},
  ): UnprovenRows {
    const { unproven = [], rowCount = 0 } = old;
    const begun = rowCount > 0 ? undefined : trying.safeParse(context.journal.find(urn, thing)).data;
    return new UnprovenRows(context, urn, [...unproven, ...(begun?.rowIDs ?? [])]);
  }

  /** For the state; nothing where there are none. */
  get kept(): { unproven?: string[] } {
    return this.ids.size === 0 ? {} : { unproven: [...this.ids] };
  }

  add(rowID: string): void {
    this.ids.add(rowID);
    this.#note();
  }

  delete(rowID: string): void {
    this.ids.delete(rowID);
    this.#note();
  }

  /** Those of earlier runs that have a key are ours; takes the others away. */
  static async decided(
    context: RowContext,
    target: Seed,
    old: Parameters<typeof UnprovenRows.of>[2],
    { rows, links }: { rows: RowSet; links: Links },
  ): Promise<UnprovenRows> {
    const unproven = UnprovenRows.of(context, target, old);
    await unproven.#decide(target, rows, links);
    return unproven;
  }

  async #decide(target: Seed, wanted: RowSet, links: Links): Promise<void> {
    const { table } = target;
    const digester = digesterFor(target);
    for (const rowID of this.ids) {
      const row = await rowByID(this.#context, table, rowID);
      const digest = row && digester.key(links.inSourceTerms(row));
      const index = digest && wanted.find(digest);
      if (row && digest === undefined) await this.#remove(rowID);
      if (index !== undefined) this.ours.set(index, false);
      this.delete(rowID);
    }
  }

  /** Takes all of them away. */
  async removeAll(): Promise<void> {
    for (const rowID of this.ids) {
      await this.#remove(rowID);
      this.delete(rowID);
    }
  }

  async #remove(rowID: string): Promise<void> {
    const { client, ...call } = this.#context;
    await orUndefinedIfNotFound(client.removemicroapprow({ rowID }, call));
  }

  #note(): void {
    const { journal, now } = this.#context;
    if (this.ids.size === 0) journal.settle(this.#urn, thing);
    else journal.begin(this.#urn, thing, new Date(now()).toISOString(), { rowIDs: [...this.ids] });
  }
}
