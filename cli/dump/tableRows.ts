import { isNotFound } from "../../provider/contract/errors.ts";
import { declarable, type RowData } from "../../provider/contract/values.ts";
import { formatCount } from "../../provider/messages/text.ts";
import { keyText } from "../../provider/reconcile/digests.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { aTable, rowsOf } from "../../provider/resources/rows/live/context.ts";
import { DumpError } from "./dumpError.ts";
import { Fingerprint } from "./mask/fingerprints.ts";
import type { TableMask } from "./mask/tableMask.ts";
import { Columns } from "./rows/columns.ts";
import { Spool } from "./rows/spool.ts";
import type { TableOption } from "./tableOption.ts";

/** Between the labels of a key. */
const seam = "\u0000";

/** The column of a seed's file that names the parent row, where no state has another name for it. */
export const parentColumn = "Parent";

/** Keys and row IDs that a message names. */
const maxNamed = 10;

/** A row as it was read. */
export interface SpooledRow {
  values: RowData;
  /** ID of the parent row. */
  parent: string | undefined;
}

/** Treatment of rows while they are read. */
export interface RowReading {
  mask?: TableMask | undefined;
  /** True for a row, in clear, that a subset begins with. */
  isWanted?: ((values: RowData) => boolean) | undefined;
}

/** The rows of a table: keys in memory, content in a file beside the dump. Of a masked one both are masked. */
export class TableRows {
  readonly option: TableOption;
  readonly mask: TableMask | undefined;
  readonly columns = new Columns();
  /** A row that one of the rows is a child of. */
  parent: string | undefined;
  /** Rows without a parent row. */
  orphans = 0;
  /** Rows that not everybody may see. */
  restricted = 0;
  /** Rows that `isWanted` names. */
  readonly wanted: number[] = [];
  /** True for each row of a subset; undefined when all are written. */
  chosen: Uint8Array | undefined;
  readonly #isWanted: RowReading["isWanted"];
  readonly #ids: string[] = [];
  readonly #keys: string[] = [];
  readonly #keyless: string[] = [];
  /** 32 bits of each key in clear: two keys may have one mask. */
  readonly #clear: number[] = [];
  readonly #print = new Fingerprint();
  readonly #spool: Spool;
  #places: Map<string, number> | undefined;

  private constructor(option: TableOption, spool: string, { mask, isWanted }: RowReading) {
    this.option = option;
    this.mask = mask;
    this.#isWanted = isWanted;
    this.#spool = new Spool(spool);
  }

  /** Reads a table. */
  static async read(
    context: ResourceContext,
    option: TableOption,
    spool: string,
    reading: RowReading = {},
  ): Promise<TableRows> {
    const rows = new TableRows(option, spool, reading);
    try {
      await rows.#readAll(context);
      return rows;
    } catch (error) {
      rows.remove();
      throw error;
    }
  }

  /** The label that stands for the parent row in a key. */
  get #by(): string {
    return this.option.parent?.by ?? parentColumn;
  }

  get count(): number {
    return this.#ids.length;
  }

  /** How many rows are written. */
  get countChosen(): number {
    return this.chosen ? this.chosen.reduce((sum, one) => sum + one, 0) : this.count;
  }

  /** True when the key is one label, and no link: only then can other tables refer to the rows. */
  get isReferable(): boolean {
    const [label = "", ...others] = this.option.key;
    return others.length === 0 && !this.columns.links.some(([linked]) => linked === label);
  }

  /** Natural key of the row with this ID. */
  keyOf(rowID: string): string | undefined {
    const place = this.placeOf(rowID);
    return place === undefined ? undefined : this.#keys[place];
  }

  /** Index of the row with this ID. */
  placeOf(rowID: string): number | undefined {
    this.#places ??= new Map(this.#ids.map((id, index) => [id, index]));
    return this.#places.get(rowID);
  }

  /** Natural key of the row at an index. */
  keyAt(index: number): string {
    return this.#keys[index] ?? "";
  }

  idAt(index: number): string {
    return this.#ids[index] ?? "";
  }

  row(index: number): SpooledRow {
    const [parent, values] = JSON.parse(this.#spool.get(index)) as [string | null, RowData]; // as it was written
    return { values, parent: parent ?? undefined };
  }

  /**
   * The rows' indices in the order of their natural keys. `resolve` brings the part of a key that is a link, or names the
   * parent row, to the key of that row. Ends with an error that names keys which several rows have.
   */
  sorted(resolve: (label: string, part: string) => string): Uint32Array {
    const { table, key } = this.option;
    const linked = key.includes(this.#by) || this.columns.links.some(([label]) => key.includes(label));
    const texts = linked
      ? this.#keys.map((text) =>
          text
            .split(seam)
            .map((part, index) => resolve(key[index] ?? "", part))
            .join(seam),
        )
      : this.#keys;
    const text = (index: number): string => texts[index] ?? "";
    const order = Uint32Array.from(texts.keys()).sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
    const twice = new Set<string>();
    for (let place = 1; place < order.length; place++) {
      const [before = 0, here = 0] = [order[place - 1], order[place]];
      const one = text(here);
      if (one !== text(before)) continue;
      if (this.#clear[here] !== this.#clear[before]) this.#refuseCollision(before, here);
      twice.add(`"${one.replaceAll(seam, '", "')}"`);
    }
    if (twice.size > 0) {
      throw new DumpError(
        `table ${table}: several rows have the same ${key.join(" and ")}: ${named([...twice])}. Name more labels as its key, or make them differ.`,
      );
    }
    const { chosen } = this;
    return chosen ? order.filter((index) => chosen[index] === 1) : order;
  }

  #refuseCollision(one: number, other: number): never {
    const { table, key } = this.option;
    throw new DumpError(
      `table ${table}: two rows with different ${key.join(" and ")} have the same mask, as keys do that differ in letter case or Unicode form alone: the rows' IDs are ${this.idAt(one)} and ${this.idAt(other)}. Make them differ, or write another rule.`,
    );
  }

  remove(): void {
    this.#spool.remove();
  }

  async #readAll(context: ResourceContext): Promise<void> {
    const { table, key } = this.option;
    try {
      for await (const page of rowsOf(context, table, aTable)) {
        for (const { _id, embeddingRowID, viewers, teamViewers, ...rest } of page) {
          const clear = declarable(rest);
          const partsOf = (values: RowData) =>
            key.map((label) => keyText(values[label] ?? (label === this.#by ? embeddingRowID : undefined)));
          const clearParts = partsOf(clear);
          if (clearParts.includes(undefined)) this.#keyless.push(_id);
          if (this.#isWanted?.(clear)) this.wanted.push(this.count);
          const values = this.mask?.apply(clear) ?? clear;
          this.mask?.addIDs([_id, rest.userID, ...(viewers ?? []), ...(teamViewers ?? [])]);
          const parts = this.mask ? partsOf(values) : clearParts;
          if (this.mask) this.#clear.push(this.#print.of(clearParts.join(seam)).high);
          this.columns.observe(values);
          if (embeddingRowID) this.parent ??= embeddingRowID;
          else this.orphans++;
          if ((viewers ?? []).length + (teamViewers ?? []).length > 0) this.restricted++;
          this.#ids.push(_id);
          this.#keys.push(parts.join(seam));
          this.#spool.add(JSON.stringify([embeddingRowID ?? null, values]));
        }
        context.report.status(`${table}: ${formatCount(this.count, "row")} read`);
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new DumpError(`there is no table ${table} on the platform: name it by its ID`);
    }
  }

  /** Throws an error that names rows without their natural key. */
  assertKeyed(): void {
    const { table, key } = this.option;
    const keyless = this.#keyless;
    if (keyless.length > 0) {
      throw new DumpError(
        `table ${table}: ${formatCount(keyless.length, "row")} without ${key.join(" or without ")}, which is to be the natural key: the IDs are ${named(keyless)}. Name other labels as its key, or fill them in.`,
      );
    }
  }
}

const named = (all: readonly string[]): string =>
  all.slice(0, maxNamed).join(", ") + (all.length > maxNamed ? ` and ${all.length - maxNamed} more` : "");
