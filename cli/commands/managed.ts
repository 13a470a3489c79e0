import path from "node:path";
import { type Stack, Workspace } from "../../engine/index.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { type TableOption, tableOption } from "../dump/tables.ts";

/** Things that a stack manages, by ID. */
interface Managed {
  organizations: string[];
  teams: string[];
  tables: TableOption[];
}

export type StateResources = Awaited<ReturnType<Stack["read"]>>["resources"];

/** The resources of one of our types, of both kinds of provider. */
export const ofType = (resources: StateResources, type: string): StateResources =>
  resources.filter((resource) => resource.type.split(":").at(-1) === type);

/** Seeds whose table and key are known, with their outputs. */
export const seedsIn = (
  resources: StateResources,
): {
  table: string;
  key: string[];
  parent: { table: string; by: string } | undefined;
  outputs: StateResources[number]["outputs"];
}[] =>
  ofType(resources, "SeedRows").flatMap(({ outputs }) => {
    const { table, key } = outputs;
    const { parent } = outputs as Pick<Seed, "parent">; // as the seed wrote it
    return typeof table === "string" && Array.isArray(key) ? [{ table, key: key.map(String), parent, outputs }] : [];
  });

/** The things in a stack's state; empty outside of a project, or without a stack. */
export async function readManaged(cwd: string, stack: string | undefined): Promise<Managed> {
  const workspace = await Workspace.open({ cwd: path.resolve(cwd), environment: process.env });
  const { resources } = await (await workspace.stack(stack)).read();
  const tables = seedsIn(resources).map(({ table, key, parent }) => ({
    ...tableOption(`${table}:${key.join("+")}`),
    parent: parent ?? null,
  }));
  const byTable = new Map(tables.map((option) => [option.table, option]));
  const ids = (type: string): string[] => [...new Set(ofType(resources, type).map(({ id }) => id))];
  return { organizations: ids("Organization"), teams: ids("Team"), tables: [...byTable.values()] };
}
