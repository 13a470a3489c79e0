import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RowData } from "../../platform/contract/values.ts";
import { cellOf, labelOf } from "../../provider/seedRows/source/csv.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { DumpError, isNothing, linkOf, parentColumn, stableJson, type TableRows } from "./tables.ts";

/** A seed as an environment file declares it. */
interface DumpedDeclaration {
  table: string;
  key: string | string[];
  source: string;
  types?: Record<string, "number" | "boolean" | "json">;
  references?: Record<string, { seed: string }>;
  parent?: { seed: string; by: string };
  mode?: "updateOnly";
}

/** A dumped table: its declaration, and the table that each of its links leads to. */
export interface DumpedSeed {
  /** Logical name. */
  name: string;
  rows: TableRows;
  /** Labels in its file beside those of the key and of the parent. */
  labels: string[];
  declaration: DumpedDeclaration;
  references: ReadonlyMap<string, TableRows>;
  parent: { rows: TableRows; by: string } | undefined;
}

/** The file of the links of a table that stand in a circle, beside the files of all tables. */
export function nameLinksFile(file: string, all: readonly string[]): string {
  let name = file;
  for (let mark = "-links"; name === file || all.includes(name); mark += "_")
    name = file.replace(/(\.\w+)$/, `${mark}$1`);
  return name;
}

/** The file of rows that no CSV holds. */
export const inJson = (file: string): string => file.replace(/\.csv$/, ".ndjson");

/** True for a seed that has the links of another one, which has the rows. */
export const isOfLinks = ({ declaration }: DumpedSeed): boolean => declaration.mode === "updateOnly";

/**
 * Finds out where links lead, and declares each table as a seed. Links in a circle get seeds of their own, which set them once
 * all rows are there; a circle without such a link is refused. Calls `warn` for what a seed can't declare.
 */
export function seedsOf(tables: readonly TableRows[], warn: (text: string) => void): DumpedSeed[] {
  const seeds = tables.map((rows) => seedOf(rows, tables, warn));
  const done = new Set<DumpedSeed>();
  const late = new Map<DumpedSeed, string[]>();
  const visit = (seed: DumpedSeed, chain: readonly Step[]): void => {
    if (done.has(seed)) return;
    const next = (target: TableRows, label?: string): void => {
      const other = seeds.find(({ rows }) => rows === target);
      if (!other) return;
      const way = [...chain, { seed, label }];
      const from = way.findIndex((step) => step.seed === other);
      if (from < 0) visit(other, way);
      else openCircle(way.slice(from), late);
    };
    for (const [label, target] of seed.references) next(target, label);
    if (seed.parent) next(seed.parent.rows);
    done.add(seed);
  };
  for (const seed of seeds) visit(seed, []);
  return [...seeds, ...[...late].map(([seed, labels]) => splitLinks(seed, labels, seeds))];
}

/** A seed on the way through the tables, with the link by which the way goes on: none for its parent rows. */
interface Step {
  seed: DumpedSeed;
  label: string | undefined;
}

/** Chooses a link of a circle that is set once all rows are there. Throws where all of it are parent rows. */
function openCircle(circle: readonly Step[], late: Map<DumpedSeed, string[]>): void {
  const labelsOf = (seed: DumpedSeed): string[] => late.get(seed) ?? [];
  if (circle.some(({ seed, label = "" }) => labelsOf(seed).includes(label))) return;
  const chosen = circle.findLast(({ label }) => label !== undefined);
  if (chosen?.label !== undefined) {
    late.set(chosen.seed, [...labelsOf(chosen.seed), chosen.label]);
    return;
  }
  const through = circle.map(({ seed, label }) => `${seed.rows.option.table} (${label ?? "its parent rows"})`);
  throw new DumpError(
    `tables refer to each other in a circle of parent rows, which no empty platform can take: ${through.join(", ")}. Leave one of the tables out`,
  );
}

/** Takes links out of a seed, into another one that sets them in the rows of the first. */
function splitLinks(seed: DumpedSeed, labels: string[], all: readonly DumpedSeed[]): DumpedSeed {
  const { declaration } = seed;
  const { table, key, source, references = {}, types = {} } = declaration;
  const isLate = ([label]: readonly [string, unknown]): boolean => labels.includes(label);
  const links = Object.entries(references);
  const left = links.filter((one) => !isLate(one));
  delete declaration.references;
  if (left.length > 0) declaration.references = Object.fromEntries(left);
  seed.labels = seed.labels.filter((label) => !labels.includes(label));
  const typed = Object.entries(types).filter(([label]) => [key].flat().includes(label));
  let name = `${seed.name}-links`;
  while (all.some((one) => one.name === name)) name += "_";
  const file = nameLinksFile(
    source,
    all.map((one) => one.declaration.source),
  );
  return {
    ...{ name, rows: seed.rows, labels, references: seed.references, parent: undefined },
    declaration: {
      ...{ table, key, source: file, mode: "updateOnly" },
      ...(typed.length > 0 ? { types: Object.fromEntries(typed) } : {}),
      references: Object.fromEntries(links.filter(isLate)),
    },
  };
}

function seedOf(rows: TableRows, tables: readonly TableRows[], warn: (text: string) => void): DumpedSeed {
  const { table, key } = rows.option;
  const { columns } = rows;
  const file = columns.needsJson ? inJson(rows.option.file) : rows.option.file;
  if (file !== rows.option.file)
    warn(`table ${table}: its texts hold what no CSV can, so its rows are written to ${file}`);
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
  const labels = columns.labels.filter((label) => !key.includes(label));
  return { name: rows.option.seed, rows, labels, declaration, references, parent };
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
  let by = rows.option.parent?.by ?? parentColumn;
  while (rows.columns.labels.includes(by)) by += "_";
  return { rows: parent, by };
}

/** Labels in the file of a seed: those of the key first, in its order. */
function listWritten({ rows, labels, parent }: DumpedSeed): string[] {
  const { key } = rows.option;
  const by = parent && !key.includes(parent.by) ? [parent.by] : [];
  return [...key, ...[...labels, ...by].sort()];
}

/**
 * Writes the rows of a seed in the order of their keys; the same rows give the same bytes. Returns how many, and true when
 * the file is complete: links to deleted rows are left empty. Of links alone, rows without one are left out.
 * @param change changes the values of a row, links still as they are
 */
export async function writeSeed(
  seed: DumpedSeed,
  folder: string,
  warn: (text: string) => void,
  change?: (values: RowData, index: number) => void,
): Promise<{ count: number; isWhole: boolean }> {
  const { rows, references, parent, declaration } = seed;
  const { table, source: file } = declaration;
  const labels = listWritten(seed);
  const linked = [...references.keys()].filter((label) => labels.includes(label));
  const types: Types = { ...declaration.types };
  const { head, line } = linesOf(file, labels, types);
  const dangling = new Map<string, number>();
  const keyAt = (label: string, rowID: string): string | undefined => {
    const key = references.get(label)?.keyOf(rowID);
    if (key === undefined) dangling.set(label, (dangling.get(label) ?? 0) + 1);
    return key;
  };
  const targetOf = (label: string) => (label === parent?.by ? parent.rows : references.get(label));
  const order = rows.sorted((label, part) => targetOf(label)?.keyOf(part) ?? part);
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  const output = createWriteStream(path, { mode: 0o600 });
  let text = head;
  let count = 0;
  for (const index of order) {
    const { parent: parentID, ...row } = rows.row(index);
    const values = { ...row.values };
    change?.(values, index);
    for (const label of linked) {
      if (!isNothing(values[label])) values[label] = keyAt(label, linkOf(values[label]) ?? "");
    }
    if (parent) {
      const key = parent.rows.keyOf(parentID ?? "");
      if (key === undefined)
        throw new DumpError(`table ${table}: the parent row ${parentID ?? ""} of a row is gone: remove that row`);
      values[parent.by] = key;
    }
    if (isOfLinks(seed) && seed.labels.every((label) => isNothing(values[label]))) continue;
    count++;
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
  await assertReadable(seed, folder, count);
  return { count, isWhole: dangling.size === 0 };
}

/** Reads a file back as a seed does. Throws a SourceError or a DumpError. */
async function assertReadable({ rows, declaration }: DumpedSeed, folder: string, count: number): Promise<void> {
  const { source, types, references, parent } = declaration;
  let found = 0;
  for await (const block of read({ source, types, references, parent, key: rows.option.key }, folder))
    found += block.length;
  if (found !== count)
    throw new DumpError(
      `table ${rows.option.table}: ${count} rows were written, and ${found} are read: name an .ndjson file`,
    );
}

/** How the values of a label are written. */
type Types = Readonly<Record<string, "text" | "number" | "boolean" | "json">>;

/** The lines of a seed file, as a seed reads them back. */
interface Lines {
  /** The first line, if the format has one. */
  head: string;
  /** @param values by label, references as keys */
  line: (values: RowData) => string;
}

/** CSV, or NDJSON for a file that is called so. */
export function linesOf(file: string, labels: readonly string[], types: Types): Lines {
  if (file.endsWith(".ndjson")) {
    const present = (values: RowData) => labels.filter((label) => !isNothing(values[label]));
    return {
      head: "",
      line: (values) =>
        `{${present(values)
          .map((label) => `${JSON.stringify(label)}:${stableJson(values[label])}`)
          .join(",")}}\n`,
    };
  }
  const cell = (label: string, value: unknown): string => {
    if (isNothing(value)) return "";
    return cellOf(types[label] === "json" ? stableJson(value) : String(value));
  };
  return {
    head: `${labels.map(labelOf).join(",")}\n`,
    line: (values) => `${labels.map((label) => cell(label, values[label])).join(",")}\n`,
  };
}
