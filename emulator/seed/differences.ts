import { isObject } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { readSeed } from "./file.ts";
import { readPlantedSeed } from "./planting.ts";
import type { Seed, SeedInput } from "./schema.ts";

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
