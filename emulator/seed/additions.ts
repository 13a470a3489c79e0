import { isObject } from "../../provider/contract/wire.ts";
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

/**
 * Returns a sentence about the parts of a seed that differ from what a data file was made with, none when they are alike.
 * Secrets are left out: the file has them hashed. A seed that can't be read is not compared: addFromSeed has the sentence about it.
 * @param directory as in readSeed
 */
export function compareSeed(
  database: Database,
  source: string | SeedInput | undefined,
  directory: string | undefined,
): string[] {
  if (source === undefined) return [];
  let seed: Seed;
  try {
    seed = readSeed(source, directory);
  } catch {
    return [];
  }
  const planted = readPlantedSeed(database);
  const [now, then] = [partsOf(seed, planted), partsOf(planted, seed)];
  const names = [...new Set([...now.keys(), ...then.keys()])].filter((name) => now.get(name) !== then.get(name));
  if (names.length === 0) return [];
  const shown = names.length > maxShown ? [...names.slice(0, maxShown), `${names.length - maxShown} more`] : names;
  return [
    `the seed differs from the one that the data file was made with (${shown.join(", ")}): --reseed takes it anew`,
  ];
}

const maxShown = 5;

/**
 * Texts of a seed's parts by name. Of the settings those that both have: another version knows others. The order of keys
 * does not count, since fields that were added stand at the end.
 */
function partsOf({ tables, users, organizations, settings }: Seed, other: Seed): Map<string, string> {
  const common = Object.entries(settings).filter(([name]) => name !== "users" && Object.hasOwn(other.settings, name));
  const parts = new Map<string, unknown>([
    ["users", users.map(({ email, id }) => [email, id])],
    ["organizations", organizations],
    ["settings", Object.fromEntries(common)],
  ]);
  for (const [key, table] of Object.entries(tables)) parts.set(`table ${table.id ?? key}`, table);
  return new Map([...parts].map(([name, part]) => [name, JSON.stringify(part, inOrder)]));
}

const inOrder = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
