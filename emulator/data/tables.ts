import type { FieldType } from "../../platform/contract/values.ts";
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
  fields: ReadonlyMap<string, TableField>;
  /** Fields whose sort values are stored, each in a column of its own. */
  sorted: readonly (TableField & { sort: number })[];
}

const fieldColumns = `id, label, type, sort, target_table AS targetTable, target_field AS targetField`;

export function findTable(database: Database, tableID: string): Table | undefined {
  const table = database.one<Pick<Table, "id" | "name" | "parent">>(
    "SELECT id, name, parent FROM tables WHERE id = ?",
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

/** Name of a stored sort value: `sortVal` for the first, `sortVal2` for the second. */
export const sortName = (sort: number): string => (sort === 1 ? "sortVal" : `sortVal${sort}`);

/** Label of the field that stands for a row where it is linked: the named one, or the first text. */
export function findShownField(table: Table, label: string | null): TableField | undefined {
  if (label !== null) return table.fields.get(label);
  return [...table.fields.values()].find(({ type }) => type === "text");
}

/** Name of the index over all rows in the order of a sort number. */
export const sortIndex = (sort: number): string => `rows:sort${sort}`;

/**
 * A page in the order of a sort field must not read the whole table: each sort number gets a column and an index. The
 * tables share it, since each insert looks at every index there is.
 */
export function indexSorts(database: Database): void {
  const indexes =
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'rows' AND name GLOB 'rows:sort*'";
  for (const { name } of database.all<{ name: string }>(indexes)) database.execute(`DROP INDEX "${name}"`);
  const sorts = "SELECT DISTINCT sort FROM fields WHERE sort IS NOT NULL ORDER BY sort";
  for (const { sort } of database.all<{ sort: number }>(sorts)) {
    const column = "SELECT 1 FROM pragma_table_info('rows') WHERE name = ?";
    if (!database.one(column, `sort${sort}`)) database.execute(`ALTER TABLE rows ADD COLUMN sort${sort}`);
    database.execute(`CREATE INDEX "${sortIndex(sort)}" ON rows (table_id, sort${sort}, id)`);
  }
}
