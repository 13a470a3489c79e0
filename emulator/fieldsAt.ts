import { existsSync, statSync } from "node:fs";
import type { FieldType } from "../provider/contract/fields.ts";
import { parseEmulatorEndpoint } from "./address.ts";
import { DatabaseSync } from "./data/database.ts";
import { digestOfSeed, fieldTypesOf, readSeed, type FieldTypes } from "./seed/file.ts";
import type { SeedInput } from "./seed/schema.ts";

/**
 * Field types of the platform behind `emulator:<file>?seed=<platform.yaml>`, by table ID, without starting it: of the data
 * file, or of the seed while there is none yet. Empty when the platform takes values of other types as well, and when the
 * file or the seed can't be read: whoever starts the emulator reports why.
 */
export function fieldTypesAt(endpoint: string, directory: string): Readonly<Record<string, FieldTypes>> {
  try {
    const { data = ":memory:", seed } = parseEmulatorEndpoint(endpoint, directory);
    if (data === ":memory:" || !existsSync(data) || statSync(data).size === 0)
      return fieldTypesOf(readSeed(seed, directory));
    const { types, seedText } = inDataFile(data);
    // The emulator adds at its start what the seed has got since.
    const isNew = seed !== undefined && Object.keys(types).length > 0;
    return isNew ? withSeed(types, seedText, seed, directory) : types;
  } catch {
    return {};
  }
}

function withSeed(
  kept: Record<string, FieldTypes>,
  seedText: unknown,
  seed: string | SeedInput,
  directory: string,
): Record<string, FieldTypes> {
  try {
    if (seedText !== undefined && seedText === digestOfSeed(seed, directory)) return kept;
    const added = Object.entries(fieldTypesOf(readSeed(seed, directory)));
    return { ...kept, ...Object.fromEntries(added.map(([id, fields]) => [id, { ...fields, ...kept[id] }])) };
  } catch {
    return kept;
  }
}

function inDataFile(file: string): { types: Record<string, FieldTypes>; seedText?: unknown } {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    const kept = connection.prepare("SELECT value FROM meta WHERE key = ?");
    const { strict } = JSON.parse(String(kept.get("settings")?.["value"] ?? "{}")) as { strict?: boolean };
    if (strict === false) return { types: {} };
    const types: Record<string, Record<string, FieldType>> = {};
    for (const { id, label, type } of connection.prepare("SELECT table_id AS id, label, type FROM fields").all()) {
      (types[String(id)] ??= {})[String(label)] = String(type) as FieldType;
    }
    return { types, seedText: kept.get("seedText")?.["value"] };
  } finally {
    connection.close();
  }
}
