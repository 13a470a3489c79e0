import { pages } from "../../platform/client/lists.ts";
import type { Row, RowData } from "../../platform/contract/values.ts";
import { isNotFound, isObject } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import type { Context } from "../resources/resource.ts";
import { holderOf } from "./claims.ts";
import { keyText } from "./digests.ts";
import { linksOf, type Seed } from "./inputs.ts";
import { placeOf, isHidden } from "./source/source.ts";
import { aTable, rowsOf } from "./table.ts";

/** A row in its sent form. */
export interface LinkedRow {
  data: RowData;
  embeddingRowID?: string;
}

/** A reference that leads nowhere, or to several rows. */
export interface Unresolved {
  /** Line of the source. */
  line: number;
  label: string;
  key: string;
  reason: "missing" | "ambiguous";
}

/** Rows of one table by one label, in both directions: what a reference to that table is looked up in. */
class Lookup {
  /** IDs by key; undefined for a key that several rows have. */
  readonly #ids = new Map<string, string | undefined>();
  readonly #keys = new Map<string, string>();

  add(key: unknown, rowID: string): void {
    const text = keyText(key);
    if (text === undefined) return;
    this.#ids.set(text, this.#ids.has(text) ? undefined : rowID);
    this.#keys.set(rowID, text);
  }

  /** ID of the row with this key, or why there is none. */
  find(key: unknown): { id: string } | { reason: "missing" | "ambiguous" } {
    const text = keyText(key) ?? "";
    const id = this.#ids.get(text);
    return id === undefined ? { reason: this.#ids.has(text) ? "ambiguous" : "missing" } : { id };
  }

  keyOf(rowID: string): string | undefined {
    return this.#keys.get(rowID);
  }
}

/**
 * Brings rows of a seed from natural keys to row IDs, and live rows back. In the source a reference is the natural key of a row
 * of another table; on the platform it is a linked value with that row's ID. Digests are taken of natural keys, so that they
 * can be compared offline.
 */
export class Links {
  readonly #context: Context;
  readonly #seed: Seed;
  /** Where each label leads, and the label there that holds the key. */
  readonly #references: ReadonlyMap<string, { lookup: Lookup; key: string }>;
  readonly #parents: Lookup | undefined;
  readonly #unresolved: Unresolved[] = [];

  private constructor(context: Context, seed: Seed, lookups: ReadonlyMap<string, Lookup>) {
    this.#context = context;
    this.#seed = seed;
    const lookup = (to: { table: string; key: string }): Lookup => lookups.get(nameOf(to)) ?? new Lookup();
    const references = Object.entries(seed.references ?? {});
    this.#references = new Map(references.map(([label, to]) => [label, { lookup: lookup(to), key: to.key }]));
    this.#parents = seed.parent && lookup(seed.parent);
  }

  /**
   * Reads the tables that a seed refers to, each once.
   * @param mayLack true where a table that is not there stands for one without rows, and is no error
   */
  static async of(context: Context, seed: Seed, mayLack = false): Promise<Links> {
    const tables = new Map(linksOf(seed).map((link) => [nameOf(link), link]));
    const reading = [...tables].map(async ([name, { table, key }]) => {
      const lookup = new Lookup();
      try {
        for await (const rows of rowsOf(context, table, aTable)) for (const row of rows) lookup.add(row[key], row._id);
      } catch (error) {
        if (!mayLack || !isNotFound(error)) throw error;
      }
      return [name, lookup] as const;
    });
    return new Links(context, seed, new Map(await Promise.all(reading)));
  }

  /** Label of the parent's key, in a sub-table. */
  get by(): string | undefined {
    return this.#seed.parent?.by;
  }

  /** The row in its sent form; links without a target are kept for `check`. A reference without a value clears it. */
  link(values: RowData, line: number): LinkedRow {
    if (this.#references.size === 0 && !this.#parents) return { data: values };
    const data = { ...values };
    const find = (lookup: Lookup, label: string): string | undefined => {
      const found = lookup.find(values[label]);
      if ("id" in found) return found.id;
      this.#unresolved.push({ line, label, key: keyText(values[label]) ?? "", reason: found.reason });
      return undefined;
    };
    for (const [label, { lookup, key }] of this.#references) {
      if (!Object.hasOwn(values, label)) continue;
      const isEmpty = keyText(values[label]) === undefined;
      const crossAppRowID = isEmpty ? undefined : find(lookup, label);
      if (isEmpty) data[label] = null;
      else if (crossAppRowID !== undefined)
        data[label] = { crossAppRowID, value: { label: key, value: values[label] } };
    }
    if (this.by === undefined || !this.#parents) return { data };
    Reflect.deleteProperty(data, this.by);
    const embeddingRowID = find(this.#parents, this.by);
    return embeddingRowID === undefined ? { data } : { data, embeddingRowID };
  }

  /**
   * A live row in the words of the source: references and parent by key. For a deleted row the platform's copy holds the key,
   * if there is one; else the link is left unchanged.
   */
  inSourceTerms(row: Row): RowData {
    if (this.#references.size === 0 && !this.#parents) return row;
    const values: RowData = { ...row };
    for (const [label, { lookup, key }] of this.#references) {
      const value = row[label];
      // Some platforms read a link as the row's ID alone.
      if (typeof value === "string") values[label] = lookup.keyOf(value) ?? value;
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      const copy = value["value"];
      const copied = isObject(copy) && copy["label"] === key ? keyText(copy["value"]) : undefined;
      values[label] = lookup.keyOf(value["crossAppRowID"]) ?? copied ?? value;
    }
    if (this.by !== undefined) values[this.by] = this.#parents?.keyOf(row.embeddingRowID ?? "") ?? row.embeddingRowID;
    return values;
  }

  /** True for a live row that links to a row, or stands below one, that is not there. */
  isDangling(row: Row): boolean {
    for (const [label, { lookup }] of this.#references) {
      const value = row[label];
      const id = isObject(value) ? value["crossAppRowID"] : undefined;
      if (typeof id === "string" && lookup.keyOf(id) === undefined) return true;
    }
    return !!row.embeddingRowID && this.#parents !== undefined && this.#parents.keyOf(row.embeddingRowID) === undefined;
  }

  /** Throws when something that rows refer to is not there, naming all of it by line. */
  async check(): Promise<void> {
    const wrong = describeUnresolved(this.#unresolved, this.#seed);
    if (wrong.length === 0) return;
    const missing = this.#unresolved.find(({ reason }) => reason === "missing");
    const declaring = missing && (await this.#declaring(missing));
    const advice =
      declaring === undefined
        ? "Add those rows to the seed that is referred to, or correct the references."
        : `${declaring} declares them, and this seed did not wait for it. Let it depend on that one: name the table by its output (table: <seed>.table), or set dependsOn. If it depends on it already, run up again: the table may show rows late. If they stay away, the platform has lost them: --refresh adds them again.`;
    throw new ResourceError(
      `${wrong.slice(0, 20).join("\n")}\n${wrong.length > 20 ? `and ${wrong.length - 20} more. ` : ""}${advice}`,
    );
  }

  /** A seed of the run, other than the one that links, whose declaration has what a link leads to. */
  async #declaring({ label, key }: Unresolved): Promise<string | undefined> {
    const { rowClaims, directory } = this.#context;
    for (const link of linksOf(this.#seed).filter((one) => one.label === label)) {
      for (const claim of rowClaims.on(link.table, this.#seed.resourceUrn)) {
        const holds = await holderOf(rowClaims, claim, link.key, directory);
        if (holds(key)) return claim.name;
      }
    }
    return undefined;
  }
}

const nameOf = ({ table, key }: { table: string; key: string }): string => JSON.stringify([table, key]);

/** Problems of references, one sentence for each key, with every line that has it; in the order of the source. */
export function describeUnresolved(unresolved: readonly Unresolved[], seed: Seed): string[] {
  const grouped = Map.groupBy(unresolved, ({ label, key, reason }) => JSON.stringify([label, key, reason]));
  return [...grouped.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const places = same.slice(0, 5).map(({ line }) => placeOf(seed, line));
    const more = same.length > places.length ? ` and ${same.length - places.length} more lines` : "";
    const what = first.reason === "missing" ? "there is no row" : "there is more than one row";
    const which = isHidden(seed, first.label) ? "a row" : quote(first.key);
    return `${places.join(", ")}${more}: ${first.label} refers to ${which}, but ${what} with that key`;
  });
}

/**
 * ID of the row with these values, undefined when there is none. Tries a filter first, then looks through the table:
 * the stored form of a linked value differs from the visible one.
 */
export async function rowByKey(
  context: Context,
  table: string,
  key: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const shown = (value: unknown): string | undefined =>
    keyText(isObject(value) && isObject(value["value"]) ? value["value"]["value"] : value);
  const matches = (row: Row): boolean =>
    Object.entries(key).every(([label, value]) => shown(row[label]) === keyText(value));
  for (const optViewFilters of [[{ ...key }], []]) {
    const found: string[] = [];
    for await (const rows of pages(context.client, { microAppID: table, signal: context.signal, optViewFilters })) {
      found.push(...rows.filter(matches).map(({ _id }) => _id));
    }
    if (found.length > 1) {
      throw new ResourceError(`table ${table} has ${found.length} rows with ${JSON.stringify(key)}. Name more labels.`);
    }
    if (found[0] !== undefined) return found[0];
  }
  return undefined;
}
