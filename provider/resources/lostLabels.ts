import type { Row, RowData } from "../contract/values.ts";
import { canonical, keyText, rowDigester } from "../reconcile/digests.ts";
import { RowIndices } from "../reconcile/rowIndices.ts";
import type { RowTarget } from "./rowApply.ts";
import { rowsOf, type RowContext } from "./rowContext.ts";
import type { Links } from "./rowLookups.ts";
import { keyOf, linkedLabels, type Summary } from "./rowSource.ts";
import { placeOf, read } from "./sources.ts";

/** Rows that are looked at, at a time and by their IDs: a table loses a label of all rows or of none. */
const looked = { page: 10_000, changed: 10 };

interface Loss {
  wrote: unknown;
  found: unknown;
  line: number;
  count: number;
}

/**
 * Labels whose values did not arrive, in sentences: the platform ignores labels that a table lacks, and may give back
 * another type. One page with rows that were written is looked at: the newest, or the first that has any.
 * @param changed IDs of the written rows that were there before, by index
 */
export async function lostLabels(
  context: RowContext,
  target: RowTarget,
  { rows: wanted, labels }: Pick<Summary, "rows" | "labels">,
  links: Links,
  written: RowIndices,
  changed: ReadonlyMap<number, string>,
): Promise<string[]> {
  if (written.size === 0) return [];
  const { table, key, salt } = target;
  const digester = rowDigester({ key, labels, references: linkedLabels(target), salt });
  const differing = new Map<number, RowData>();
  const numbered = new Map<string, RowData>();
  const met = new RowIndices(wanted.length);
  let keyless = 0;
  for await (const page of lookedAt(context, table, written.size, [...changed.values()])) {
    for (const row of page) {
      const values = links.inSourceTerms(row);
      const digest = digester.key(values);
      if (digest === undefined) keyless++;
      const index = digest && wanted.find(digest);
      if (index === undefined && key.some((label) => typeof values[label] === "number")) {
        numbered.set(keyOf(key, values), values);
      }
      if (index === undefined || !written.has(index)) continue;
      met.add(index);
      if (!wanted.says(index, digester.content(values))) differing.set(index, values);
    }
    if (met.size > 0) break;
  }
  if (met.size === 0 && numbered.size === 0 && keyless > 0) {
    const missing = key.map((label) => `"${label}"`).join(" or ");
    return [
      `table ${table} did not keep ${missing}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`,
    ];
  }
  const missing = (index: number): boolean => written.has(index) && !met.has(index);
  return told(target, await losses(context, target, { differing, numbered, missing }));
}

/** What was seen of rows that are not as they were written. */
interface Seen {
  differing: ReadonlyMap<number, RowData>;
  /** Rows of no wanted key whose key has numbers: of what was written as "007" a server may have made 7. */
  numbered: ReadonlyMap<string, RowData>;
  /** Whether a row was written and not seen. */
  missing: (index: number) => boolean;
}

/** A page of the newest rows, some that were changed and may be old, and then all: a server may ignore the order. */
async function* lookedAt(
  context: RowContext,
  table: string,
  written: number,
  changed: readonly string[],
): AsyncGenerator<Row[]> {
  const { microAppRows } = await context.client.microappdata(
    {
      microAppID: table,
      searchFilter: [{ resourceID: table, skip: 0, limit: looked.page }],
      optLimit: looked.page,
      optViewSort: { _id: -1 },
    },
    context,
  );
  yield microAppRows;
  const read = changed.slice(0, looked.changed).map((rowID) => context.client.microappdataRow({ rowID }, context));
  yield (await Promise.all(read)).flatMap(({ currentRow }) => currentRow ?? []);
  if (written > changed.length) yield* rowsOf(context, table);
}

async function losses(
  { directory }: RowContext,
  target: RowTarget,
  { differing, numbered, missing }: Seen,
): Promise<Map<string, Loss>> {
  const lost = new Map<string, Loss>();
  const linked = new Set(linkedLabels(target));
  let index = -1;
  let left = differing.size + numbered.size;
  for await (const block of left === 0 ? [] : read(target, directory)) {
    for (const { line, values } of block) {
      index++;
      const twin = numbered.size > 0 && missing(index) ? numbered.get(keyOf(target.key, asNumbers(values))) : undefined;
      const found = differing.get(index) ?? twin;
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

const asNumbers = (values: RowData): RowData =>
  Object.fromEntries(
    Object.entries(values).map(([label, value]) => {
      const number = typeof value === "string" ? Number(value) : Number.NaN;
      return [label, Number.isNaN(number) ? value : number];
    }),
  );

const told = (target: RowTarget, lost: ReadonlyMap<string, Loss>): string[] =>
  [...lost].map(([label, { wrote, found, line, count }]) => {
    const place = `${placeOf(target, line)}${count > 1 ? ` and ${count - 1} more` : ""}`;
    return canonical(found) === undefined
      ? `${place}: table ${target.table} did not keep the label "${label}": add the field to the table, or remove the label from the source (labels are case sensitive)`
      : `${place}: table ${target.table} gave back the ${typeof wrote} in "${label}" as another value (${typeof found}): declare its type in types, or write it as the table has it`;
  });
