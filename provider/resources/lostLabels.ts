import { ApiError } from "../contract/errors.ts";
import type { Row, RowData } from "../contract/values.ts";
import { canonical, keyText, rowDigester } from "../reconcile/digests.ts";
import type { RowIndices } from "../reconcile/rowIndices.ts";
import type { RowTarget } from "./rowApply.ts";
import type { RowContext } from "./rowContext.ts";
import { isJudged } from "./rowInserts.ts";
import type { Links } from "./rowLookups.ts";
import { linkedLabels, type Summary } from "./rowSource.ts";
import { placeOf, read } from "./sources.ts";

/** Rows that are looked at: a table loses a label of all rows or of none. */
const looked = { inserted: 10_000, changed: 1_000 };

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
}

/**
 * Labels whose values did not arrive, in sentences: the platform ignores labels that a table lacks, and may give back
 * another type. One page of the newest rows is looked at, and one of those that were changed.
 */
export async function lostLabels(
  context: RowContext,
  target: RowTarget,
  { rows: wanted, labels }: Pick<Summary, "rows" | "labels">,
  links: Links,
  { written, inserted, changed }: WrittenRows,
): Promise<string[]> {
  const { table, key, salt } = target;
  const found = await rowsByID(context, table, changed.slice(0, looked.changed));
  // A platform that finds no rows by their IDs may have some of them among the newest.
  if (inserted > 0 || (changed.length > 0 && found.length === 0)) found.push(...(await newest(context, table)));
  const digester = rowDigester({ key, labels, references: linkedLabels(target), salt });
  const differing = new Map<number, RowData>();
  let met = 0;
  let keyless = 0;
  for (const row of found) {
    const values = links.inSourceTerms(row);
    const digest = digester.key(values);
    if (digest === undefined) keyless++;
    const index = digest && wanted.find(digest);
    if (index === undefined || !written.has(index)) continue;
    met++;
    if (!wanted.says(index, digester.content(values))) differing.set(index, values);
  }
  if (met === 0 && keyless > 0) {
    const missing = key.map((label) => `"${label}"`).join(" or ");
    return [
      `table ${table} did not keep ${missing}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`,
    ];
  }
  return told(target, await losses(context, target, differing));
}

async function rowsByID(context: RowContext, table: string, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return [];
  const limit = ids.length;
  const query = {
    microAppID: table,
    searchFilter: [{ resourceID: table, skip: 0, limit }],
    optLimit: limit,
    optViewFilters: [{ _id: { $in: [...ids] } }],
  };
  try {
    return (await context.client.microappdata(query, context)).microAppRows;
  } catch (error) {
    if (error instanceof ApiError && isJudged(error)) return [];
    throw error;
  }
}

async function newest(context: RowContext, table: string): Promise<Row[]> {
  const limit = looked.inserted;
  const query = {
    microAppID: table,
    searchFilter: [{ resourceID: table, skip: 0, limit }],
    optLimit: limit,
    optViewSort: { _id: -1 },
  };
  return (await context.client.microappdata(query, context)).microAppRows;
}

async function losses(
  { directory }: RowContext,
  target: RowTarget,
  differing: ReadonlyMap<number, RowData>,
): Promise<Map<string, Loss>> {
  const lost = new Map<string, Loss>();
  const linked = new Set(linkedLabels(target));
  let index = -1;
  let left = differing.size;
  for await (const block of left === 0 ? [] : read(target, directory)) {
    for (const { line, values } of block) {
      const found = differing.get(++index);
      if (!found) continue;
      left--;
      for (const [label, wrote] of Object.entries(values)) {
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

const told = (target: RowTarget, lost: ReadonlyMap<string, Loss>): string[] =>
  [...lost].map(([label, { wrote, found, line, count }]) => {
    const place = `${placeOf(target, line)}${count > 1 ? ` and ${count - 1} more` : ""}`;
    return canonical(found) === undefined
      ? `${place}: table ${target.table} did not keep the label "${label}": add the field to the table, or remove the label from the source (labels are case sensitive)`
      : `${place}: table ${target.table} gave back the ${typeof wrote} in "${label}" as another value (${typeof found}): declare its type in types, or write it as the table has it`;
  });
