import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RowData } from "../../provider/contract/values.ts";
import { DumpError } from "./dumpError.ts";
import { isNothing, linkOf } from "./rows/columns.ts";
import { linesOf, type Types } from "./rows/seedFile.ts";
import type { TableRows } from "./tableRows.ts";

/** Rows of another dumped table, or of one that a circle of references keeps from being named. */
type RowsOf = { seed: string } | { table: string; key: string };

/** A seed as an environment file declares it. */
export interface DumpedDeclaration {
  table: string;
  key: string | string[];
  source: string;
  types?: Record<string, "number" | "boolean" | "json">;
  references?: Record<string, RowsOf>;
  parent?: RowsOf & { by: string };
}

/** A dumped table: its declaration, and the table that each of its links leads to. */
export interface DumpedSeed {
  rows: TableRows;
  declaration: DumpedDeclaration;
  references: ReadonlyMap<string, TableRows>;
  parent: { rows: TableRows; by: string } | undefined;
}

/** Work on rows on their way into a file. */
export interface RowFinish {
  /** Changes the values of a row, links still as they are. */
  change?: ((values: RowData, index: number) => void) | undefined;
  /** Takes the values that are written. */
  note?: ((values: RowData) => void) | undefined;
}

/** Finds out where links lead, and declares each table as a seed. Calls `warn` for what a seed can't declare. */
export function seedsOf(tables: readonly TableRows[], warn: (text: string) => void): DumpedSeed[] {
  const seeds = tables.map((rows) => seedOf(rows, tables, warn));
  const done = new Set<DumpedSeed>();
  const visit = (seed: DumpedSeed, chain: readonly DumpedSeed[]): void => {
    if (done.has(seed)) return;
    const way = [...chain, seed];
    const next = (target: TableRows, byTable: (rows: RowsOf) => void): void => {
      const other = seeds.find(({ rows }) => rows === target);
      if (!other) return;
      if (!way.includes(other)) {
        visit(other, way);
        return;
      }
      // Seeds in a circle have no order: this one refers to rows that must be there already.
      byTable({ table: target.option.table, key: target.option.key[0] ?? "" });
      warn(
        `table ${seed.rows.option.table} refers to ${target.option.table} in a circle: that reference finds rows that are on the platform already, so it can't fill an empty one`,
      );
    };
    const { references, parent } = seed.declaration;
    for (const [label, target] of seed.references) next(target, (rows) => references && (references[label] = rows));
    if (seed.parent && parent) {
      const { by } = parent;
      next(seed.parent.rows, (rows) => (seed.declaration.parent = { ...rows, by }));
    }
    done.add(seed);
  };
  for (const seed of seeds) visit(seed, []);
  return seeds;
}

function seedOf(rows: TableRows, tables: readonly TableRows[], warn: (text: string) => void): DumpedSeed {
  const { table, key, file } = rows.option;
  const { columns } = rows;
  const references = new Map<string, TableRows>();
  for (const [label, rowID] of columns.links) {
    const target = tables.find((other) => other.isReferable && other.keyOf(rowID) !== undefined);
    if (target) references.set(label, target);
    else
      warn(
        `table ${table}: "${label}" leads to rows of a table that is not dumped, or that has no key of one label: it is written with row IDs, which hold on this platform alone`,
      );
  }
  const parent = parentOf(rows, tables);
  if (rows.restricted > 0)
    warn(`table ${table}: who may see its rows (${rows.restricted} of ${rows.count}) is not dumped`);
  const types = Object.fromEntries(
    columns.labels.flatMap((label) => {
      const type = columns.typeOf(label);
      return type === "text" || references.has(label) || file.endsWith(".ndjson") ? [] : [[label, type] as const];
    }),
  );
  const linked = [...references].map(([label, { option }]) => [label, { seed: option.seed }] as const);
  const [one = "", ...more] = key;
  const declaration: DumpedDeclaration = {
    table,
    key: more.length > 0 ? key : one,
    source: file,
    ...(Object.keys(types).length > 0 ? { types } : {}),
    ...(linked.length > 0 ? { references: Object.fromEntries(linked) } : {}),
    ...(parent ? { parent: { seed: parent.rows.option.seed, by: parent.by } } : {}),
  };
  return { rows, declaration, references, parent };
}

function parentOf(rows: TableRows, tables: readonly TableRows[]): DumpedSeed["parent"] {
  const { table } = rows.option;
  const rowID = rows.parent;
  if (rowID === undefined) return undefined;
  const parent = tables.find((other) => other.isReferable && other.keyOf(rowID) !== undefined);
  if (!parent) {
    throw new DumpError(
      `table ${table} is a sub-table: dump the table of its parent rows as well, with a key of one label`,
    );
  }
  if (rows.orphans > 0) {
    throw new DumpError(
      `table ${table} is a sub-table, but ${rows.orphans} of its rows have no parent row: a seed can't say that`,
    );
  }
  let by = "Parent";
  while (rows.columns.labels.includes(by)) by += "_";
  return { rows: parent, by };
}

/**
 * Writes the rows of a seed in the order of their keys; the same rows give the same bytes. Returns true when the file
 * is complete: links to deleted rows are left empty.
 */
export async function writeSeed(
  seed: DumpedSeed,
  folder: string,
  warn: (text: string) => void,
  finish: RowFinish = {},
): Promise<boolean> {
  const { rows, references, parent, declaration } = seed;
  const { table, file } = rows.option;
  // The columns of the key come first, in the order of the key.
  const { key } = rows.option;
  const others = [...rows.columns.labels, ...(parent ? [parent.by] : [])]
    .filter((label) => !key.includes(label))
    .sort();
  const labels = [...key, ...others];
  const types: Types = { ...declaration.types };
  const { head, line } = linesOf(file, labels, types);
  const dangling = new Map<string, number>();
  const keyAt = (label: string, rowID: string): string | undefined => {
    const key = references.get(label)?.keyOf(rowID);
    if (key === undefined) dangling.set(label, (dangling.get(label) ?? 0) + 1);
    return key;
  };
  const order = rows.sorted((label, part) => references.get(label)?.keyOf(part) ?? part);
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  const output = createWriteStream(path, { mode: 0o600 });
  let text = head;
  for (const index of order) {
    const { values, parent: parentID } = rows.row(index);
    finish.change?.(values, index);
    for (const label of references.keys()) {
      if (!isNothing(values[label])) values[label] = keyAt(label, linkOf(values[label]) ?? "");
    }
    if (parent) {
      const key = parent.rows.keyOf(parentID ?? "");
      if (key === undefined)
        throw new DumpError(`table ${table}: the parent row ${parentID ?? ""} of a row is gone: remove that row`);
      values[parent.by] = key;
    }
    finish.note?.(values);
    text += line(values);
    if (text.length < 1 << 16) continue;
    if (!output.write(text)) await once(output, "drain");
    text = "";
  }
  output.end(text);
  await once(output, "close");
  for (const [label, count] of dangling) {
    warn(`table ${table}: ${count} values of "${label}" lead to rows that are gone: they are left empty`);
  }
  return dangling.size === 0;
}
