import { setImmediate as others } from "node:timers/promises";
import type { FieldType } from "../../provider/contract/fields.ts";
import type { Database } from "./database.ts";
import { notFound } from "./platformError.ts";

export interface TableField {
  id: string;
  label: string;
  type: FieldType;
  /** Number of the sort field, null when the field is none. */
  sort: number | null;
  /** The linked table and the label of its field that is shown. */
  targetTable: string | null;
  targetField: string | null;
}

export interface Table {
  id: string;
  name: string;
  /** Table whose rows carry this one's rows; null unless it is a sub-table. */
  parent: string | null;
  /** Generation of all rows; part of the names of their indexes. */
  generation: string;
  fields: ReadonlyMap<string, TableField>;
  /** Fields whose sort values are stored, each in a column of its own. */
  sorted: readonly (TableField & { sort: number })[];
}

const fieldColumns = `id, label, type, sort, target_table AS targetTable, target_field AS targetField`;

const generation = "SELECT value FROM meta WHERE key = 'generation'";

/** Changes whenever all contents are exchanged at once. */
export const generationOf = (database: Database): string => database.one<{ value: string }>(generation)?.value ?? "";

export function findTable(database: Database, tableID: string): Table | undefined {
  const table = database.one<Pick<Table, "id" | "name" | "parent" | "generation">>(
    `SELECT id, name, parent, coalesce((${generation}), '') AS generation FROM tables WHERE id = ?`,
    tableID,
  );
  if (!table) return undefined;
  const fields = database.all<TableField>(
    `SELECT ${fieldColumns} FROM fields WHERE table_id = ? ORDER BY position`,
    tableID,
  );
  const sorted = fields.filter((field): field is TableField & { sort: number } => field.sort !== null);
  return { ...table, fields: new Map(fields.map((field) => [field.label, field])), sorted };
}

export function requireTable(database: Database, tableID: string): Table {
  const table = findTable(database, tableID);
  if (!table) throw notFound("Data table", tableID);
  return table;
}

/** Rows that are counted at once; others would feel more. */
const countedAtOnce = 20_000;

/** Number of a table's rows, null when there are too many to count them at once. */
export function countFew(database: Database, tableID: string): number | null {
  const some = "SELECT count(*) AS count FROM (SELECT 1 FROM rows WHERE table_id = ? LIMIT ?)";
  const count = database.one<{ count: number }>(some, tableID, countedAtOnce + 1)?.count ?? 0;
  return count > countedAtOnce ? null : count;
}

/** Number of a table's rows. Others are answered meanwhile, and may change it. */
export async function countAll(database: Database, tableID: string): Promise<number> {
  const behind = "FROM rows WHERE table_id = ? AND id > ?";
  let counted = 0;
  for (let after = ""; ; counted += countedAtOnce) {
    const end = `SELECT id ${behind} ORDER BY id LIMIT 1 OFFSET ?`;
    const last = database.one<{ id: string }>(end, tableID, after, countedAtOnce - 1);
    if (!last) {
      const rest = database.one<{ count: number }>(`SELECT count(*) AS count ${behind}`, tableID, after);
      return counted + (rest?.count ?? 0);
    }
    after = last.id;
    await others();
  }
}

/** Name of a stored sort value: `sortVal` for the first, `sortVal2` for the second. */
export const sortName = (sort: number): string => (sort === 1 ? "sortVal" : `sortVal${sort}`);

/** Label of the field that stands for a row where it is linked: the named one, or the first text. */
export function findShownField(table: Table, label: string | null): TableField | undefined {
  if (label !== null) return table.fields.get(label);
  return [...table.fields.values()].find(({ type }) => type === "text");
}

/** Name of the index over all rows in the order of a sort number. */
export const sortIndex = (sort: number, generation: string): string => `rows${generation}:sort${sort}`;

/**
 * A page in the order of a sort field must not read the whole table: each sort number gets a column and an index. The
 * tables share it, since each insert looks at every index there is.
 */
export function indexSorts(database: Database): void {
  const indexes =
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'rows' AND name GLOB 'rows*:sort*'";
  for (const { name } of database.all<{ name: string }>(indexes)) database.execute(`DROP INDEX "${name}"`);
  const sorts = addSorts(database, { rows: "rows", fields: "fields", generation: generationOf(database) });
  for (const index of sorts) database.execute(index);
}

/** Adds columns to a table like `rows`, for the sort fields in one like `fields`; returns what makes their indexes. */
export function addSorts(
  database: Database,
  { rows, fields, generation }: { rows: string; fields: string; generation: string },
): string[] {
  const sorts = `SELECT DISTINCT sort FROM "${fields}" WHERE sort IS NOT NULL ORDER BY sort`;
  return database.all<{ sort: number }>(sorts).map(({ sort }) => {
    if (!database.one("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", rows, `sort${sort}`)) {
      database.execute(`ALTER TABLE "${rows}" ADD COLUMN sort${sort}`);
    }
    return `CREATE INDEX "${sortIndex(sort, generation)}" ON "${rows}" (table_id, sort${sort}, id)`;
  });
}
