import type { FieldType } from "../../provider/contract/fields.ts";
import type { RowData } from "../../provider/contract/values.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { Known } from "./known.ts";
import type { Replacer } from "./privacy/replacer.ts";
import type { RowValues } from "./shapes.ts";
import { lookAt, type KnownTable } from "./tables.ts";

/** Highest number of a sort field. */
const maxSorts = 50;

interface Fields {
  fields: Json;
  /** The values of a row as a seed has them. */
  write: (values: RowData) => Json;
}

/** Fields of a table in a seed's form, inferred from their values and their order. */
export function fieldsOf(known: Known, table: KnownTable, replacer: Replacer, values: RowValues): Fields {
  const looked = table.labels.size > 0 ? table : lookedAt(table);
  const sorts = sortsOf(table);
  const ids = idsOf(table);
  const targets = new Map<string, KnownTable>();
  const fields: Json = {};
  for (const [label, types] of looked.labels) {
    const sort = sorts.get(label);
    const id = ids.get(label);
    const type = typeOf(types);
    const link = type === "linked" ? targetOf(known, looked, label) : undefined;
    if (link) targets.set(label, link.table);
    const more = {
      ...(sort === undefined ? {} : { sort }),
      ...(id === undefined ? {} : { id }),
      ...(link
        ? {
            table: replacer.text(link.table.id),
            ...(link.shown === undefined ? {} : { field: replacer.text(link.shown) }),
          }
        : {}),
    };
    // Links to a table that nothing was seen of are kept as they are.
    const declared = type === "linked" && !link ? "file" : type;
    fields[replacer.text(label)] = Object.keys(more).length > 0 ? { type: declared, ...more } : declared;
  }
  const nameless = [...table.fieldIDs].filter(([id, labels]) => labels.size === 0 && isID(id));
  for (const [index, [id]] of nameless.entries()) fields[`File ${index + 1}`] = { type: "file", id };
  const write = (row: RowData): Json =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([label]) => looked.labels.has(label))
        .map(([label, value]) => [
          replacer.text(label),
          values.written(label, targets.has(label) ? linkIn(value) : value),
        ]),
    );
  return { fields, write };
}

const isID = (text: string): boolean => /^[\w.-]{1,100}$/.test(text);

/** Labels and links learned from written rows alone: a platform may have ignored some of their labels. */
function lookedAt(table: KnownTable): Pick<KnownTable, "labels" | "links"> {
  const looked: Pick<KnownTable, "labels" | "links"> = { labels: new Map(), links: new Map() };
  for (const { values } of table.rows)
    for (const [label, value] of Object.entries(values)) lookAt(looked, label, value);
  return looked;
}

/** One type for all values of a label; that of files takes any. */
function typeOf(types: ReadonlySet<FieldType | "other">): FieldType {
  const [type = "text", ...others] = types;
  if (others.length > 0) return [...types].every((one) => one === "text" || one === "date") ? "text" : "file";
  return type === "other" ? "file" : type;
}

/** The table that most rows lead to which a label links, and the label that is shown of them. */
function targetOf(known: Known, looked: Pick<KnownTable, "links">, label: string) {
  const link = looked.links.get(label);
  for (const rowID of link?.rows ?? []) {
    const table = known.tables.find(rowID)?.table;
    if (table) return { table, shown: table.labels.has(link?.shown ?? "") ? link?.shown : undefined };
  }
  return undefined;
}

/** The written part of a link; the platform finds out the rest. */
function linkIn(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { crossAppRowID, value: shown } = value;
  return { crossAppRowID, ...(shown === undefined ? {} : { value: shown }) };
}

/** The number of the sort field of labels: each number has the label that fits it best. */
function sortsOf({ sorts }: KnownTable): Map<string, number> {
  const found = new Map<string, number>();
  const numbers = [...sorts].filter(([sort]) => sort >= 1 && sort <= maxSorts);
  for (const [sort, labels] of numbers.toSorted(([, a], [, b]) => a.size - b.size)) {
    const best = [...labels].filter(([label]) => !found.has(label)).toSorted(([, a], [, b]) => b - a)[0];
    if (best) found.set(best[0], sort);
  }
  return found;
}

/** IDs of the fields of labels, the surest first. */
function idsOf({ fieldIDs }: KnownTable): Map<string, string> {
  const found = new Map<string, string>();
  for (const [id, labels] of [...fieldIDs].toSorted(([, a], [, b]) => a.size - b.size)) {
    const label = [...labels].find((one) => !found.has(one));
    if (label !== undefined && isID(id)) found.set(label, id);
  }
  return found;
}
