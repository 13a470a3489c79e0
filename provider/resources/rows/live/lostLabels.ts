import type { Row, RowData } from "../../../contract/values.ts";
import { quoted } from "../../../messages/text.ts";
import { canonical, keyText, rowDigester } from "../../../reconcile/digests.ts";
import { RowIndices } from "../../../reconcile/rowIndices.ts";
import { read } from "../../../sources/read.ts";
import { linkedLabels, placeOf } from "../../../sources/source.ts";
import type { Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { Clearing } from "../kept/clearing.ts";
import { room, rowsOf, type RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { NumberedKeys } from "./numberedKeys.ts";
import { oneByOne, page, rowsByID } from "./queries.ts";

/** Rows that are looked at: a table loses a label of all rows or of none. */
const looked = { inserted: 10_000, changed: 1_000, oneByOne: 10 };

interface Loss {
  wrote: unknown;
  found: unknown;
  line: number;
  count: number;
}

/** Rows that a run wrote. */
interface WrittenRows {
  /** Indices of the wanted rows. */
  written: RowIndices;
  inserted: number;
  /** IDs of those that were there before. */
  changed: readonly string[];
  /** Labels that were set to nothing, by the index of the row. */
  cleared: Clearing;
}

/**
 * Labels whose values did not arrive, in sentences: the platform ignores labels that a table lacks, and may give back
 * another type. Some of the rows that were written are looked at: those that were changed, and the newest ones.
 */
export async function lostLabels(
  context: RowContext,
  target: RowTarget,
  { rows: wanted, labels }: Pick<Summary, "rows" | "labels">,
  links: Links,
  { written, inserted, changed, cleared }: WrittenRows,
): Promise<string[]> {
  if (inserted + changed.length === 0) return [];
  const { table, key, salt } = target;
  const digester = rowDigester({ key, labels, references: linkedLabels(target), salt });
  const differing = new Map<number, RowData>();
  const numbered = new NumberedKeys(key);
  const met = new RowIndices(wanted.length);
  let keyless = 0;
  /** Whether any of the rows is one that was written. */
  const look = (rows: readonly Row[]): boolean => {
    const before = met.size;
    for (const row of rows) {
      const values = links.inSourceTerms(row);
      const digest = digester.key(values);
      if (digest === undefined) keyless++;
      const index = digest && wanted.find(digest);
      if (index === undefined) numbered.observe(values);
      if (index === undefined || !written.has(index)) continue;
      met.add(index);
      if (!wanted.hasContent(index, digester.content(values))) differing.set(index, values);
    }
    return met.size > before;
  };
  let seen = changed.length > 0 && look(await rowsByID(context, table, changed.slice(0, looked.changed)));
  if (inserted > 0 || !seen) {
    const leave = await room.reading.enter(Math.min(wanted.length, looked.inserted), context.signal);
    try {
      seen = look(await newest(context, table));
    } finally {
      leave();
    }
  }
  // Servers may ignore filter and order.
  if (!seen) seen = look(await oneByOne(context, changed.slice(0, looked.oneByOne)));
  if (!seen && inserted > 0) for await (const page of rowsOf(context, table, wanted.length)) if (look(page)) break;
  if (met.size === 0 && numbered.size === 0 && keyless > 0) {
    const missing = key.map((label) => quoted(label)).join(" or ");
    return [
      `table ${table} did not keep ${missing}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`,
    ];
  }
  const missing = (index: number): boolean => written.has(index) && !met.has(index);
  return describeLosses(target, await losses(context, target, { differing, numbered, missing, cleared }));
}

/** What was seen of rows that are not as they were written. */
interface Seen {
  differing: ReadonlyMap<number, RowData>;
  numbered: NumberedKeys;
  /** Whether a row was written and not seen. */
  missing: (index: number) => boolean;
  cleared: Clearing;
}

const newest = (context: RowContext, table: string): Promise<Row[]> =>
  page(context, table, looked.inserted, { optViewSort: { _id: -1 } });

async function losses(
  { directory }: RowContext,
  target: RowTarget,
  { differing, numbered, missing, cleared }: Seen,
): Promise<Map<string, Loss>> {
  const lost = new Map<string, Loss>();
  const linked = new Set(linkedLabels(target));
  let index = -1;
  let left = differing.size + numbered.size;
  for await (const block of left === 0 ? [] : read(target, directory)) {
    for (const { line, values } of block) {
      index++;
      const found = differing.get(index) ?? (missing(index) ? numbered.madeOf(values) : undefined);
      if (!found) continue;
      left--;
      const nothing = (cleared.get(index) ?? []).map((label) => [label, null] as const);
      for (const [label, wrote] of [...Object.entries(values), ...nothing]) {
        const form = linked.has(label) ? keyText : canonical;
        if (form(wrote) === form(found[label])) continue;
        const before = lost.get(label);
        if (before) before.count++;
        else lost.set(label, { wrote, found: found[label], line, count: 1 });
      }
    }
    if (left === 0) break;
  }
  return lost;
}

const describeLosses = (target: RowTarget, lost: ReadonlyMap<string, Loss>): string[] =>
  [...lost].map(([label, { wrote, found, line, count }]) => {
    const place = `${placeOf(target, line)}${count > 1 ? ` and ${count - 1} more` : ""}`;
    if (canonical(wrote) === undefined && canonical(found) !== undefined)
      return `${place}: table ${target.table} kept a value under ${quoted(label)}, which was set to nothing: clear it by hand, or declare the label again`;
    return canonical(found) === undefined
      ? `${place}: table ${target.table} did not keep the label ${quoted(label)}: add the field to the table, or remove the label from the source (labels are case sensitive)`
      : `${place}: table ${target.table} gave back the ${typeof wrote} in ${quoted(label)} as another value (${typeof found}): declare its type in types, or write it as the table has it`;
  });
