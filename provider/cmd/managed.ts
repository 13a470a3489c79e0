import path from "node:path";
import { Workspace } from "../../engine/index.ts";
import { type TableOption, tableOption } from "../dump/tableOption.ts";

/** What a stack manages, by ID. */
interface Managed {
  organizations: string[];
  teams: string[];
  tables: TableOption[];
}

/** What the state of a stack knows to be on the platform; nothing outside of a project, or without a stack. */
export async function managedBy(cwd: string, stack: string | undefined): Promise<Managed> {
  const workspace = await Workspace.open({ cwd: path.resolve(cwd), environment: process.env });
  const { resources } = await (await workspace.stack(stack)).read();
  const of = (type: string) => resources.filter((resource) => resource.type.split(":").at(-1) === type);
  const tables = of("SeedRows").flatMap(({ outputs }) => {
    const { table, key } = outputs;
    return typeof table === "string" && Array.isArray(key)
      ? [tableOption(`${table}:${key.map(String).join("+")}`)]
      : [];
  });
  const byTable = new Map(tables.map((option) => [option.table, option]));
  const ids = (type: string): string[] => [...new Set(of(type).map(({ id }) => id))];
  return { organizations: ids("Organization"), teams: ids("Team"), tables: [...byTable.values()] };
}
