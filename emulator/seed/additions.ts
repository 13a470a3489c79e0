import type { Database } from "../data/database.ts";
import { findTable, indexSorts } from "../data/tables.ts";
import { digestOfSeed, readSeed } from "./file.ts";
import { plantField, plantRows, plantTable, readPlantedSeed } from "./planting.ts";
import type { Seed, SeedInput } from "./schema.ts";

/**
 * Adds the tables and fields to a data file that its seed has got since the file was made, and returns a sentence about
 * each. Nothing is taken away or changed, and what was deleted by hand stays so. A seed that can't be read stops nobody
 * whose data file is there.
 * @param directory as in readSeed
 */
export function addFromSeed(
  database: Database,
  source: string | SeedInput | undefined,
  directory: string | undefined,
  now: number,
): string[] {
  if (source === undefined) return [];
  try {
    const digest = digestOfSeed(source, directory);
    if (digest !== undefined && digest === keptDigest(database)) return [];
    const seed = readSeed(source, directory);
    return database.transaction(() => {
      const added = addMissing(database, seed, now);
      if (digest !== undefined) database.run("INSERT OR REPLACE INTO meta VALUES ('seedText', ?)", digest);
      return added;
    });
  } catch (error) {
    return [`the seed was not compared with the data file: ${(error as Error).message}`];
  }
}

const keptDigest = (database: Database): string | undefined =>
  database.one<{ value: string }>("SELECT value FROM meta WHERE key = 'seedText'")?.value;

function addMissing(database: Database, seed: Seed, now: number): string[] {
  const planted = readPlantedSeed(database);
  const known = new Map(Object.entries(planted.tables).map(([key, table]) => [table.id ?? key, table]));
  const added: string[] = [];
  const tables = { ...planted.tables };
  for (const [key, table] of Object.entries(seed.tables)) {
    const id = table.id ?? key;
    const before = known.get(id);
    const fields = Object.keys(table.fields).filter((label) => before?.fields[label] === undefined);
    const live = findTable(database, id);
    if (before && (!live || fields.length === 0)) continue;
    if (!live) plantTable(database, seed.tables, key);
    for (const label of fields) {
      if (live?.fields.has(label)) continue;
      plantField(database, seed.tables, key, label);
      if (live) added.push(`field ${label} of table ${id}`);
    }
    if (!live) added.push(`table ${id}`);
    tables[key] = before ? { ...before, fields: { ...before.fields, ...table.fields } } : table;
    if (!live) plantRows(database, { tables: { [key]: table }, administrator: planted.administrator }, now);
  }
  if (added.length === 0) return [];
  indexSorts(database);
  database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify({ ...planted, tables }));
  return added.map((what) => `the emulator's data file got ${what}, which its seed has now`);
}
