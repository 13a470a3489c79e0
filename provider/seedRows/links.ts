import { pages } from "../../platform/client/lists.ts";
import type { Row, RowData } from "../../platform/contract/values.ts";
import { isNotFound, isObject } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { keyText } from "../reconcile/digests.ts";
import { ResourceError, type Context } from "../resources/model/resource.ts";
import { holderOf } from "./claims.ts";
import { linksOf, type Seed } from "./inputs.ts";
import { rowsOf, type RowContext } from "./table.ts";

/** A row in its sent form. */
export interface LinkedRow {
  data: RowData;
  embeddingRowID?: string;
}

/** Brings rows of a seed from natural keys to row IDs, and live rows back. */
export class Links {
  readonly #references: References;
  readonly #parent: (Reference & { by: string }) | undefined;
  readonly #orphans: Unresolved[] = [];
  /** Names a seed of the run that declares what is missing. */
  readonly #declaring: (missing: Unresolved) => Promise<string | undefined>;

  private constructor(
    declaring: (missing: Unresolved) => Promise<string | undefined>,
    references: Readonly<Record<string, Reference>>,
    parent?: Reference & { by: string },
  ) {
    this.#declaring = declaring;
    this.#references = new References(references);
    this.#parent = parent;
  }

  /**
   * Reads the tables that a seed refers to, each once.
   * @param absent what stands for a table that is not there; without it that is an error
   */
  static async of(
    context: RowContext,
    declaration: Seed & { table: string; resourceUrn?: string | undefined },
    absent?: () => Lookup,
  ): Promise<Links> {
    const { references = {}, parent } = declaration;
    const read = new Map<string, Promise<Lookup>>();
    const lookup = ({ table, key }: Pick<Reference, "key"> & { table: string }): Promise<Lookup> => {
      const name = JSON.stringify([table, key]);
      const reading = (): Promise<Lookup> =>
        readKeys(context, table, key).catch((error: unknown) => {
          if (absent && isNotFound(error)) return absent();
          throw error;
        });
      const known = read.get(name) ?? reading();
      read.set(name, known);
      return known;
    };
    const found = Object.entries(references).map(async ([label, rows]) => {
      return [label, { lookup: await lookup(rows), key: rows.key }] as const;
    });
    const parents = parent && { lookup: await lookup(parent), key: parent.key, by: parent.by };
    const declaring = (missing: Unresolved) => declaringSeed(context, declaration, missing);
    return new Links(declaring, Object.fromEntries(await Promise.all(found)), parents);
  }

  /** Label of the parent's key, in a sub-table. */
  get by(): string | undefined {
    return this.#parent?.by;
  }

  /** The row in its sent form; links without a target are kept for `check`. */
  link(values: RowData, line: number): LinkedRow {
    const resolved = this.#references.resolve(values, line);
    if (!this.#parent) return { data: resolved };
    const data = { ...resolved };
    const { by, lookup } = this.#parent;
    Reflect.deleteProperty(data, by);
    const found = lookup.find(values[by]);
    if ("id" in found) return { data, embeddingRowID: found.id };
    this.#orphans.push({ line, label: by, key: keyText(values[by]) ?? "", reason: found.reason });
    return { data };
  }

  /** A live row in the words of the source: references and parent by key. */
  inSourceTerms(row: Row): RowData {
    const values = this.#references.inSourceTerms(row);
    if (!this.#parent) return values;
    const { by, lookup } = this.#parent;
    return { ...values, [by]: lookup.keyOf(row.embeddingRowID ?? "") ?? row.embeddingRowID };
  }

  /** Labels under which a live row links to a row, or stands below one, that is not there. */
  lostLabels(row: Row): string[] {
    const lost = this.#references.lostLabels(row);
    const { embeddingRowID } = row;
    const isOrphan = this.#parent && !!embeddingRowID && this.#parent.lookup.keyOf(embeddingRowID) === undefined;
    return isOrphan ? [...lost, this.#parent.by] : lost;
  }

  isDangling(row: Row): boolean {
    return this.lostLabels(row).length > 0;
  }

  /** Throws when something that rows refer to is not there, naming all of it by line. */
  async check(place: (line: number) => string, isHidden: (label: string) => boolean): Promise<void> {
    const unresolved = [...this.#references.unresolved, ...this.#orphans];
    const wrong = describeUnresolved(unresolved, place, isHidden);
    if (wrong.length === 0) return;
    const missing = unresolved.find(({ reason }) => reason === "missing");
    const declaring = missing && (await this.#declaring(missing));
    const advice =
      declaring === undefined
        ? "Add those rows to the seed that is referred to, or correct the references."
        : `${declaring} declares them, and this seed did not wait for it. Let it depend on that one: name the table by its output (table: <seed>.table), or set dependsOn. If it depends on it already, the platform has lost those rows: run the same command with --refresh, which adds them again.`;
    throw new ResourceError(
      `${wrong.slice(0, 20).join("\n")}\n${wrong.length > 20 ? `and ${wrong.length - 20} more. ` : ""}${advice}`,
    );
  }
}

/** A seed of the run, other than the one that links, whose declaration has what a link leads to. */
async function declaringSeed(
  { rowClaims, directory }: RowContext,
  declaration: Seed & { resourceUrn?: string | undefined },
  { label, key }: Unresolved,
): Promise<string | undefined> {
  for (const link of linksOf(declaration).filter((one) => one.label === label)) {
    for (const claim of rowClaims.on(link.table, declaration.resourceUrn)) {
      const holds = await holderOf(rowClaims, claim, link.key, directory);
      if (holds(key)) return claim.name;
    }
  }
  return undefined;
}

/** Rows that a table is taken to have that is referred to. */
const aTable = 2_500;

async function readKeys(context: RowContext, table: string, key: string): Promise<Lookup> {
  const lookup = new Lookup();
  for await (const rows of rowsOf(context, table, aTable)) {
    for (const row of rows) lookup.add(row[key], row._id);
  }
  return lookup;
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

/** Rows of one table by one label, in both directions: what a reference to that table is looked up in. */
export class Lookup {
  readonly #ids = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #ambiguous = new Set<string>();

  /** Takes in a row of the table; one without a key is left out. */
  add(key: unknown, rowID: string): void {
    const text = keyText(key);
    if (text === undefined) return;
    if (this.#ids.has(text)) this.#ambiguous.add(text);
    else this.#ids.set(text, rowID);
    this.#keys.set(rowID, text);
  }

  /** ID of the row with this key, or why there is none. */
  find(key: unknown): { id: string } | { reason: "missing" | "ambiguous" } {
    const text = keyText(key) ?? "";
    if (this.#ambiguous.has(text)) return { reason: "ambiguous" };
    const id = this.#ids.get(text);
    return id === undefined ? { reason: "missing" } : { id };
  }

  /** Key of the row with this ID. */
  keyOf(rowID: string): string | undefined {
    return this.#keys.get(rowID);
  }
}

/** A reference that leads nowhere, or to several rows. */
export interface Unresolved {
  /** Line of the source. */
  line: number;
  label: string;
  key: string;
  reason: "missing" | "ambiguous";
}

/** Where a label of the source leads. */
interface Reference {
  lookup: Lookup;
  /** Label of the parent table that holds the key. */
  key: string;
}

/**
 * The references of one seed. In the source a reference is the natural key of a row of another table; on the platform
 * it is a linked value with that row's ID. Digests are taken of natural keys, so that they can be compared offline:
 * `inSourceTerms` replaces the IDs of live rows by them, and `rowDigester` gets the labels that are references.
 */
export class References {
  /** Every reference that could not be resolved, in the order of the source. */
  readonly unresolved: Unresolved[] = [];
  readonly #references: ReadonlyMap<string, Reference>;

  constructor(references: Readonly<Record<string, Reference>>) {
    this.#references = new Map(Object.entries(references));
  }

  /** The values as they are sent. A reference without a value is sent as null, which clears it. */
  resolve(values: RowData, line: number): RowData {
    if (this.#references.size === 0) return values;
    const resolved = { ...values };
    for (const [label, { lookup, key }] of this.#references) {
      if (!Object.hasOwn(values, label)) continue;
      const text = keyText(values[label]);
      if (text === undefined) {
        resolved[label] = null;
        continue;
      }
      const found = lookup.find(values[label]);
      if ("id" in found) resolved[label] = { crossAppRowID: found.id, value: { label: key, value: values[label] } };
      else this.unresolved.push({ line, label, key: text, reason: found.reason });
    }
    return resolved;
  }

  /** Labels under which a live row links to a row that is not there. */
  lostLabels(live: RowData): string[] {
    const lost: string[] = [];
    for (const [label, { lookup }] of this.#references) {
      const value = live[label];
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      if (lookup.keyOf(value["crossAppRowID"]) === undefined) lost.push(label);
    }
    return lost;
  }

  /**
   * A live row with keys in place of linked values. For a deleted row the platform's copy holds the key, if there is
   * one; else the link is left unchanged.
   */
  inSourceTerms(live: RowData): RowData {
    if (this.#references.size === 0) return live;
    const values = { ...live };
    for (const [label, { lookup, key }] of this.#references) {
      const value = live[label];
      // Some platforms read a link as the row's ID alone.
      if (typeof value === "string") values[label] = lookup.keyOf(value) ?? value;
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      values[label] = lookup.keyOf(value["crossAppRowID"]) ?? copiedKey(value["value"], key) ?? value;
    }
    return values;
  }
}

const copiedKey = (copy: unknown, key: string): string | undefined =>
  isObject(copy) && copy["label"] === key ? keyText(copy["value"]) : undefined;

/**
 * Problems of the references, one sentence for each key, with every line that has it; in the order of the source.
 * @param place a line of the source for people, e.g. `cities.csv:17`
 * @param isHidden true for labels whose keys are secret
 */
export function describeUnresolved(
  unresolved: readonly Unresolved[],
  place: (line: number) => string,
  isHidden: (label: string) => boolean,
): string[] {
  const grouped = Map.groupBy(unresolved, ({ label, key, reason }) => JSON.stringify([label, key, reason]));
  return [...grouped.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const places = same.slice(0, 5).map(({ line }) => place(line));
    const more = same.length > places.length ? ` and ${same.length - places.length} more lines` : "";
    const what = first.reason === "missing" ? "there is no row" : "there is more than one row";
    const which = isHidden(first.label) ? "a row" : quote(first.key);
    return `${places.join(", ")}${more}: ${first.label} refers to ${which}, but ${what} with that key`;
  });
}
