import { pages } from "../client/pages.ts";
import type { Row, RowData } from "../contract/values.ts";
import { isObject } from "../contract/wire.ts";
import { keyText } from "../reconcile/digests.ts";
import { ResourceError, type Context } from "./resource.ts";

/** A table whose rows are referred to, and the label by which. */
export interface Lookup {
  table: string;
  key: string;
}

/** Rows of a table by key and by ID. */
export interface Lookups {
  key: string;
  idOf: ReadonlyMap<string, string>;
  keyOf: ReadonlyMap<string, string>;
}

/** Reads the tables that a seed refers to, each once. */
export async function lookUp(
  context: Context,
  references: Readonly<Record<string, Lookup>>,
): Promise<ReadonlyMap<string, Lookups>> {
  const read = new Map<string, Promise<Lookups>>();
  const found = Object.entries(references).map(async ([label, { table, key }]) => {
    const name = JSON.stringify([table, key]);
    const lookups = read.get(name) ?? readKeys(context, table, key);
    read.set(name, lookups);
    return [label, await lookups] as const;
  });
  return new Map(await Promise.all(found));
}

async function readKeys(context: Context, table: string, key: string): Promise<Lookups> {
  const idOf = new Map<string, string>();
  const keyOf = new Map<string, string>();
  const twice = new Set<string>();
  for await (const rows of pages(context.client, { microAppID: table, signal: context.signal })) {
    for (const row of rows) {
      const text = keyText(row[key]);
      if (text === undefined) continue;
      if (idOf.has(text)) twice.add(text);
      else idOf.set(text, row._id);
      keyOf.set(row._id, text);
    }
  }
  // Which of them is meant can't be known, so none is.
  for (const text of twice) idOf.delete(text);
  if (twice.size > 0) {
    context.report.warning(`table ${table} has more than one row with the same ${key}, which can't be referred to: ${some(twice)}`);
  }
  return { key, idOf, keyOf };
}

/** The first few of many, for people. */
export function some(names: Iterable<string>, most = 5): string {
  const all = [...names];
  const more = all.length > most ? ` and ${all.length - most} more` : "";
  return all.slice(0, most).join(", ") + more;
}

/** Puts row IDs in the place of keys, and collects those that lead nowhere. */
export class Linker {
  readonly #references: ReadonlyMap<string, Lookups>;
  readonly #parents: Lookups | undefined;
  readonly #by: string | undefined;
  readonly missing: string[] = [];

  constructor(references: ReadonlyMap<string, Lookups>, parents: Lookups | undefined, by: string | undefined) {
    this.#references = references;
    this.#parents = parents;
    this.#by = by;
  }

  /** The row as it is sent. What it refers to and is not there is noted by `place`. */
  linked(values: RowData, place: string): { data: RowData; embeddingRowID: string | undefined } {
    const data: RowData = { ...values };
    for (const [label, { key, idOf }] of this.#references) {
      const text = keyText(values[label]);
      if (text === undefined) continue;
      const crossAppRowID = idOf.get(text);
      if (crossAppRowID === undefined) this.missing.push(`${place}: ${label} "${text}"`);
      else data[label] = { crossAppRowID, value: { label: key, value: values[label] } };
    }
    if (this.#by === undefined) return { data, embeddingRowID: undefined };
    const text = keyText(values[this.#by]) ?? "";
    const embeddingRowID = this.#parents?.idOf.get(text);
    if (embeddingRowID === undefined) this.missing.push(`${place}: parent "${text}"`);
    Reflect.deleteProperty(data, this.#by);
    return { data, embeddingRowID };
  }

  /** A live row in the words of the source: references and parent by key. */
  worded(row: Row): RowData {
    const values: RowData = { ...row };
    for (const [label, { keyOf }] of this.#references) {
      const value = row[label];
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      const id = value["crossAppRowID"];
      values[label] = keyOf.get(id) ?? `a row that is not in the table: ${id}`;
    }
    if (this.#by !== undefined) values[this.#by] = this.#parents?.keyOf.get(row.embeddingRowID ?? "") ?? row.embeddingRowID;
    return values;
  }

  /** Throws when something that is referred to is not there, naming all of it. */
  check(): void {
    if (this.missing.length === 0) return;
    throw new ResourceError(
      `${this.missing.length} references lead to rows that are not on the platform: ${some(this.missing, 20)}. ` +
        `Add those rows to the seed that is referred to, or correct the references.`,
    );
  }
}
