import type { RowData } from "../../provider/contract/values.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { keyText } from "../../provider/reconcile/digests.ts";
import { DumpError } from "./dumpError.ts";
import { isNothing, linkOf } from "./rows/columns.ts";
import type { DumpedSeed } from "./seeds.ts";
import type { TableRows } from "./tableRows.ts";

/** A condition on rows of a table, in clear. */
export interface RowCondition {
  table: string;
  label: string;
  value: string;
}

/** Rows that a dump begins with; what they link to, their parents and their children come along. */
export interface SubsetRequest {
  /** Numbers of rows by table; under "" that of each table. */
  rows: ReadonlyMap<string, number>;
  where: readonly RowCondition[];
}

/** Rows of a table in a subset. */
export interface SubsetCount {
  table: string;
  chosen: number;
  cameAlong: number;
}

/** Reads `--rows <n>` and `--rows <table>=<n>`. Throws a DumpError. */
export function parseRows(texts: readonly string[]): Map<string, number> {
  return new Map(
    texts.map((text) => {
      const [, table = "", count = ""] = /^(?:(.+)=)?(\d{1,9})$/s.exec(text) ?? [];
      if (!(Number(count) > 0))
        throw new DumpError(`--rows ${text}: write a number from 1 on, or <table ID>=<number>, as in orders=100`);
      return [table, Number(count)] as const;
    }),
  );
}

/** Reads `--where <table>:<label>=<value>`. Throws a DumpError that leaves the value out. */
export function parseCondition(text: string): RowCondition {
  const [, table, label, value] = /^([^:]+):([^=]+)=(.+)$/s.exec(text) ?? [];
  if (table !== undefined && label !== undefined && value !== undefined) return { table, label, value };
  throw new DumpError("--where must have the form <table ID>:<label>=<value>, as in orders:Country=PT");
}

/** Throws a DumpError for tables that are not dumped. */
export function refuseStrangeTables({ rows, where }: SubsetRequest, tables: readonly string[]): void {
  for (const table of [...rows.keys(), ...where.map((one) => one.table)]) {
    if (table !== "" && !tables.includes(table))
      throw new DumpError(`table ${table} of --rows or --where is not dumped: name it with --table as well`);
  }
}

/** The condition that rows of a table fulfil: one of the values that are named for each label. Undefined where none is named. */
export function makeCondition({ where }: SubsetRequest, table: string): ((values: RowData) => boolean) | undefined {
  const byLabel = Map.groupBy(
    where.filter((one) => one.table === table),
    ({ label }) => label,
  );
  if (byLabel.size === 0) return undefined;
  const matches = (value: unknown, wanted: string): boolean => {
    if (Array.isArray(value)) return value.some((item) => matches(item, wanted));
    // People know a link by the value that the platform shows.
    const shown = isObject(value) && isObject(value["value"]) ? keyText(value["value"]["value"]) : undefined;
    return keyText(value) === wanted || shown === wanted;
  };
  return (values) => [...byLabel].every(([label, all]) => all.some(({ value }) => matches(values[label], value)));
}

/**
 * Chooses the rows of a subset: those that are asked for, and over and over what they link to, their parent rows and their
 * child rows. Every row's rank is the same in each run with the secret.
 */
export function chooseSubset(
  seeds: readonly DumpedSeed[],
  request: SubsetRequest,
  rank: (key: string) => number,
): SubsetCount[] {
  const waiting: [TableRows, number][] = [];
  const choose = (rows: TableRows, index: number): void => {
    rows.chosen ??= new Uint8Array(rows.count);
    if (rows.chosen[index] === 1) return;
    rows.chosen[index] = 1;
    waiting.push([rows, index]);
  };
  for (const { rows } of seeds) rows.chosen = new Uint8Array(rows.count);
  for (const seed of seeds) for (const index of beginning(seed, request, rank)) choose(seed.rows, index);
  const begun = new Map(seeds.map(({ rows }) => [rows, rows.countChosen]));
  if (waiting.length === 0)
    throw new DumpError("--where matches no row: correct the label or the value; labels are case sensitive");
  const children = new Children(seeds);
  const seedOf = new Map(seeds.map((seed) => [seed.rows, seed]));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [rows, index] = next;
    const seed = seedOf.get(rows);
    if (!seed) continue;
    for (const [target, place] of linked(seed, index)) choose(target, place);
    for (const [child, place] of children.of(rows, index)) choose(child, place);
  }
  return seeds.map(({ rows }) => {
    const chosen = begun.get(rows) ?? 0;
    return { table: rows.option.table, chosen, cameAlong: rows.countChosen - chosen };
  });
}

/** Indices of the rows that a table begins with. */
function beginning(
  { rows, parent }: DumpedSeed,
  request: SubsetRequest,
  rank: (key: string) => number,
): readonly number[] {
  if (request.where.length > 0) return rows.wanted;
  // Child rows come with their parents.
  const count = request.rows.get(rows.option.table) ?? (parent ? undefined : request.rows.get(""));
  if (count === undefined) return [];
  const ranks = Float64Array.from({ length: rows.count }, (_, index) =>
    rank(`${rows.option.table}\0${rows.keyAt(index)}`),
  );
  return Array.from(ranks.keys())
    .sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0))
    .slice(0, count);
}

/** Rows that a row leads to: by its links, and its parent. Rows that are gone are left out. */
function* linked({ rows, references, parent }: DumpedSeed, index: number): Generator<[TableRows, number]> {
  const { values, parent: parentID } = rows.row(index);
  for (const [label, target] of references) {
    if (isNothing(values[label])) continue;
    const place = target.placeOf(linkOf(values[label]) ?? "");
    if (place !== undefined) yield [target, place];
  }
  const above = parent?.rows.placeOf(parentID ?? "");
  if (parent && above !== undefined) yield [parent.rows, above];
}

/** Child rows by their parent row. */
class Children {
  readonly #byParent = new Map<TableRows, [rows: TableRows, byID: Map<string, number[]>][]>();

  constructor(seeds: readonly DumpedSeed[]) {
    for (const { rows, parent } of seeds) {
      if (!parent) continue;
      const byID = new Map<string, number[]>();
      for (let index = 0; index < rows.count; index++) {
        const id = rows.row(index).parent ?? "";
        const known = byID.get(id);
        if (known) known.push(index);
        else byID.set(id, [index]);
      }
      const own = this.#byParent.get(parent.rows) ?? [];
      this.#byParent.set(parent.rows, [...own, [rows, byID]]);
    }
  }

  *of(rows: TableRows, index: number): Generator<[TableRows, number]> {
    const id = rows.idAt(index);
    for (const [child, byID] of this.#byParent.get(rows) ?? [])
      for (const place of byID.get(id) ?? []) yield [child, place];
  }
}
