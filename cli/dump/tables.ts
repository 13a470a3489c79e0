import { declarable, type RowData } from "../../platform/contract/values.ts";
import { isNotFound, isObject } from "../../platform/contract/wire.ts";
import { formatCount, some } from "../../platform/messages/text.ts";
import type { Context } from "../../provider/resources/resource.ts";
import { canonical, digestOf, keyText } from "../../provider/seedRows/digests.ts";
import { parentsAreHidden } from "../../provider/seedRows/live.ts";
import { aTable, rowsOf } from "../../provider/seedRows/table.ts";

/** Why there is no dump, in one sentence with its remedy. */
export class DumpError extends Error {
  override readonly name = "DumpError";
}

/** A table that is dumped. */
export interface TableOption {
  /** Data table ID (microAppID). */
  table: string;
  /** Labels of the natural key. */
  key: string[];
  /** Logical name of the seed. */
  seed: string;
  /** Its parent rows as a state knows them; null where it knows that there are none. */
  parent?: { table: string; by: string } | null;
  /** File of the rows below the folder of the dump, with `/`. */
  file: string;
}

/** Reads `<table>:<label>[+<label>…][:<file>]`; the file is called by the table when it is not given. */
export function tableOption(text: string): TableOption {
  const [table = "", labels = "", file, ...rest] = text.split(":");
  const key = labels.split("+");
  if (table === "" || key.includes("") || file === "" || rest.length > 0) {
    throw new DumpError(
      `--table ${text} must have the form <table ID>:<label>[+<label>…][:<file>], as in countries:Code or offices:City+Name:offices.csv`,
    );
  }
  const seed = (file ?? table).replace(/^.*\//, "").replace(/\.\w+$/, "");
  if (!/^[A-Za-z0-9][\w.-]*$/.test(seed)) {
    throw new DumpError(
      `--table ${text}: a seed can't be called "${seed}": name a file of letters, digits, _, . and - after the key`,
    );
  }
  const path = file ?? `${seed}.csv`;
  if (!/\.(csv|ndjson)$/.test(path) || path.startsWith("/") || path.split("/").includes("..")) {
    throw new DumpError(`--table ${text}: the file must lie in the folder of the dump and end in .csv or .ndjson`);
  }
  return { table, key, seed, file: path.includes("/") ? path : `data/${path}` };
}

type Kind = "text" | "number" | "boolean" | "linked" | "json";

const kindOf = (value: unknown): Kind => {
  if (typeof value === "string") return "text";
  if (typeof value === "number" || typeof value === "boolean") return typeof value as "number" | "boolean"; // just seen
  return linkOf(value) === undefined ? "json" : "linked";
};

/** ID of the row that a value leads to. */
export const linkOf = (value: unknown): string | undefined =>
  isObject(value) && typeof value["crossAppRowID"] === "string" ? value["crossAppRowID"] : undefined;

/** Nothing, null, empty text and empty list are the same to a seed. */
export const isNothing = (value: unknown): boolean => canonical(value) === undefined;

const isPlainText = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** Contents of a table's rows, by label. */
export class Columns {
  /** True once a label or a text came that no CSV holds: with a NUL character, or half a surrogate pair. */
  needsJson = false;
  readonly #kinds = new Map<string, Set<Kind>>();
  /** By label, the row that the first link found leads to. */
  readonly #links = new Map<string, string>();

  observe(values: RowData): void {
    for (const [label, value] of Object.entries(values)) {
      if (isNothing(value)) continue;
      this.needsJson ||= !isPlainText(label) || (typeof value === "string" && !isPlainText(value));
      const kind = kindOf(value);
      const kinds = this.#kinds.get(label);
      if (kinds) kinds.add(kind);
      else this.#kinds.set(label, new Set([kind]));
      if (kind === "linked" && !this.#links.has(label)) this.#links.set(label, linkOf(value) ?? "");
    }
  }

  /** Labels that have a value in any row, in alphabetical order. */
  get labels(): string[] {
    return [...this.#kinds.keys()].sort();
  }

  /** Labels that hold links and nothing else, each with a row that is linked. */
  get links(): [label: string, rowID: string][] {
    return [...this.#links].filter(([label]) => this.#kinds.get(label)?.size === 1).sort();
  }

  /** Form of a label's values in a CSV; JSON for values of several kinds. */
  typeOf(label: string): "text" | "number" | "boolean" | "json" {
    const [kind = "text", ...others] = this.#kinds.get(label) ?? [];
    return others.length > 0 || kind === "linked" ? "json" : kind;
  }
}

/** A value as JSON, the same for the same value: keys are sorted, and of a link only the row counts. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    const link = linkOf(inner);
    if (link !== undefined) return { crossAppRowID: link };
    return isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner;
  });
}

/** Between the labels of a key. */
const seam = "\u0000";

/** The column of a seed's file that names the parent row, where no state has another name for it. */
export const parentColumn = "Parent";

/** Keys and row IDs that a message names. */
const maxNamed = 10;

/** A row as it was read; of a masked dump as it is written, but for its links and dates. */
interface ReadRow {
  values: RowData;
  /** ID of the parent row. */
  parent: string | undefined;
}

/** What a masked dump makes of the rows of one table. */
interface RowMask {
  apply: (values: RowData) => RowData;
}

/** The rows of a table with their keys. Of a masked dump both are masked. */
export class TableRows {
  readonly option: TableOption;
  readonly columns = new Columns();
  /** A row that one of the rows is a child of. */
  parent: string | undefined;
  /** Rows without a parent row. */
  orphans = 0;
  /** Rows that not everybody may see. */
  restricted = 0;
  readonly #ids: string[] = [];
  readonly #keys: string[] = [];
  readonly #keyless: string[] = [];
  /** 32 bits of each key in clear: two keys may have one mask. */
  readonly #clear: number[] = [];
  readonly #rows: ReadRow[] = [];
  #places: Map<string, number> | undefined;
  readonly #mask: RowMask | undefined;

  private constructor(option: TableOption, mask: RowMask | undefined) {
    this.option = option;
    this.#mask = mask;
  }

  /** Reads a table. */
  static async read(context: Context, option: TableOption, mask?: RowMask): Promise<TableRows> {
    const rows = new TableRows(option, mask);
    await rows.#readAll(context);
    rows.#assertKeyed();
    return rows;
  }

  /** The label that stands for the parent row in a key. */
  get #by(): string {
    return this.option.parent?.by ?? parentColumn;
  }

  get count(): number {
    return this.#ids.length;
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

  row(index: number): ReadRow {
    return this.#rows[index] ?? { values: {}, parent: undefined };
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
        `table ${table}: several rows have the same ${key.join(" and ")}: ${some([...twice], maxNamed)}. Name more labels as its key, or make them differ.`,
      );
    }
    return order;
  }

  #refuseCollision(one: number, other: number): never {
    const { table, key } = this.option;
    throw new DumpError(
      `table ${table}: two rows with different ${key.join(" and ")} have the same mask, as keys do that differ in letter case or Unicode form alone: the rows' IDs are ${this.#ids[one] ?? ""} and ${this.#ids[other] ?? ""}. Make them differ, or write another rule.`,
    );
  }

  async #readAll(context: Context): Promise<void> {
    const { table, key } = this.option;
    try {
      for await (const page of rowsOf(context, table, aTable)) {
        for (const { _id, embeddingRowID, viewers, teamViewers, ...rest } of page) {
          const clear = declarable(rest);
          const partsOf = (values: RowData) =>
            key.map((label) => keyText(values[label] ?? (label === this.#by ? embeddingRowID : undefined)));
          const clearParts = partsOf(clear);
          if (clearParts.includes(undefined)) this.#keyless.push(_id);
          const values = this.#mask?.apply(clear) ?? clear;
          const parts = this.#mask ? partsOf(values) : clearParts;
          if (this.#mask) this.#clear.push(digestOf(clearParts.join(seam)).high);
          this.columns.observe(values);
          if (embeddingRowID) this.parent ??= embeddingRowID;
          else this.orphans++;
          if ((viewers ?? []).length + (teamViewers ?? []).length > 0) this.restricted++;
          this.#ids.push(_id);
          this.#keys.push(parts.join(seam));
          this.#rows.push({ values, parent: embeddingRowID ?? undefined });
        }
        context.report.status(`${table}: ${formatCount(this.count, "row")} read`);
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new DumpError(`there is no table ${table} on the platform: name it by its ID`);
    }
  }

  /** Throws an error that names rows without their natural key, and for a sub-table whose rows name no parent. */
  #assertKeyed(): void {
    const { table, key, parent } = this.option;
    if (parent && this.count > 0 && this.parent === undefined)
      throw new DumpError(`${parentsAreHidden(table, parent.by)}; or leave table ${table} out`);
    const keyless = this.#keyless;
    if (keyless.length > 0) {
      throw new DumpError(
        `table ${table}: ${formatCount(keyless.length, "row")} without ${key.join(" or without ")}, which is to be the natural key: the IDs are ${some(keyless, maxNamed)}. Name other labels as its key, or fill them in.`,
      );
    }
  }
}
