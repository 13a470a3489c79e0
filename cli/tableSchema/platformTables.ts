import { readSeed } from "../../emulator/seed/file.ts";
import type { Seed } from "../../emulator/seed/schema.ts";
import { find, toPlainValue, type Value } from "../../provider/layers/document.ts";
import type { FieldModel, Kind, TableModel } from "./model.ts";

/** Kinds of the fields that rows have; files and sub-tables have none. */
const kinds: Readonly<Record<string, Kind>> = {
  text: "text",
  number: "number",
  date: "date",
  checkbox: "checkbox",
  location: "location",
  linked: "linked",
  viewers: "checkbox",
  teamViewers: "checkbox",
};

/** The tables of a platform seed, or of the platform of an environment file. Throws with file and line. */
export const readPlatform = (file: string, directory: string): Pick<Seed, "tables"> => readSeed(file, directory);

/**
 * The model of a table that a platform seed describes; undefined where it has none.
 * @param root the environment file that it stands in, whose seeds name keys
 */
export function findDeclaredModel(
  platform: Pick<Seed, "tables">,
  root: Value,
  table: string,
  key: readonly string[],
): TableModel | undefined {
  const [, found] = Object.entries(platform.tables).find(([name, { id }]) => name === table || id === table) ?? [];
  if (!found) return undefined;
  const seeds = toPlainValue(find(root, ["seeds"])?.value ?? { kind: "map", at: root.at, entries: new Map() });
  const seed = Object.values(isMap(seeds) ? seeds : {}).find((one) => isMap(one) && one["table"] === table);
  const stated = isMap(seed) ? [seed["key"]].flat().filter((label) => typeof label === "string") : [];
  const fields = Object.entries(found.fields).flatMap(([label, { type, table: to, field }]): FieldModel[] => {
    const kind = kinds[type];
    if (kind === undefined) return [];
    const link = kind === "linked" && to !== undefined && field !== undefined;
    return [
      {
        ...{ label, kind, sure: "declared", filled: 0, unique: false, exceptions: [], isWhole: false },
        ...(link ? { link: { table: platform.tables[to]?.id ?? to, key: field } } : {}),
      },
    ];
  });
  return { table, rows: 0, key: key.length > 0 ? [...key] : stated, fields };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
