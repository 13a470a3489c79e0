import { join } from "node:path";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { areParentsShown, noteParentTable } from "../../provider/resources/rows/live/context.ts";
import {
  findParentTable,
  UnknownParents,
  type UndeclaredTable,
} from "../../provider/resources/rows/live/subTables/undeclared.ts";
import type { TableMask } from "./masking.ts";
import { TableRows, type TableOption } from "./tables.ts";

/** Notes which tables are sub-tables of which, as far as a state knows. */
function noteParents(context: ResourceContext, tables: readonly TableOption[]): void {
  for (const { table, parent } of tables) if (parent) noteParentTable(context, table, parent.table);
}

/** A dumped table, below whose rows or not others may stand. */
const toUndeclared = ({ table, parent }: TableOption, tables: readonly TableOption[]): UndeclaredTable => ({
  table,
  parent: parent?.table,
  above: tables.map((other) => other.table),
  advice: `dump the table of its parent rows as well (--table <ID>:<key label>), or leave table ${table} out`,
  isEmptyPresumed: parent === null,
});

/**
 * Reads the tables, each row with its parent. On a platform that does not show parents those below others are read once
 * more, by the rows of the others. Throws where nobody can know which these are. Leaves nothing behind when it throws.
 */
export async function readTables(
  context: ResourceContext,
  tables: readonly TableOption[],
  folder: string,
  maskOf: (option: TableOption) => TableMask | undefined,
): Promise<TableRows[]> {
  const read = new Map<number, TableRows>();
  const readOne = async (option: TableOption, at: number): Promise<void> => {
    read.get(at)?.remove();
    read.delete(at);
    read.set(at, await TableRows.read(context, option, join(folder, `.spool-${at}`), maskOf(option)));
  };
  noteParents(context, tables);
  try {
    for (const [at, option] of tables.entries()) await readOne(option, at);
    for (let open = [...tables.entries()], failed = open; open.length > 0; open = failed) {
      failed = [];
      let [isMore, why]: [boolean, UnknownParents?] = [false];
      for (const [at, option] of open) {
        const { parent, count = 0 } = read.get(at) ?? {};
        if (parent !== undefined) continue;
        try {
          if (!(await findParentTable(context, toUndeclared(option, tables), count === 0))) continue;
          await readOne(option, at);
          isMore = true;
        } catch (error) {
          if (!(error instanceof UnknownParents)) throw error;
          // Its parents may be rows of a table that is found below others only now.
          failed.push([at, option]);
          why ??= error;
        }
      }
      if (why && !isMore && !areParentsShown(context)) throw why;
    }
    for (const rows of read.values()) rows.assertKeyed();
    return tables.flatMap((_, at) => read.get(at) ?? []);
  } catch (error) {
    for (const rows of read.values()) rows.remove();
    throw error;
  }
}
