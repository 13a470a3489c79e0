import { existsSync, statSync } from "node:fs";
import type { FieldType } from "../platform/contract/fields.ts";
import { parseEmulatorEndpoint } from "./address.ts";
import { DatabaseSync } from "./data/database.ts";
import { fieldTypesOf, readSeed, type FieldTypes } from "./seed/file.ts";
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
    const kept = inDataFile(data);
    if (seed === undefined || Object.keys(kept).length === 0) return kept;
    // The emulator adds at its start what the seed has got since.
    const added = Object.entries(seedTypes(seed, directory));
    return { ...kept, ...Object.fromEntries(added.map(([id, fields]) => [id, { ...fields, ...kept[id] }])) };
  } catch {
    return {};
  }
}

/** Types in a seed; none in one that can't be read. */
function seedTypes(seed: string | SeedInput, directory: string): Readonly<Record<string, FieldTypes>> {
  try {
    return fieldTypesOf(readSeed(seed, directory));
  } catch {
    return {};
  }
}

function inDataFile(file: string): Readonly<Record<string, FieldTypes>> {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    const kept = connection.prepare("SELECT value FROM meta WHERE key = 'settings'").get()?.["value"];
    if ((JSON.parse(String(kept ?? "{}")) as { strict?: boolean }).strict === false) return {};
    const types: Record<string, Record<string, FieldType>> = {};
    for (const { id, label, type } of connection.prepare("SELECT table_id AS id, label, type FROM fields").all())
      (types[String(id)] ??= {})[String(label)] = String(type) as FieldType; // as the seed's schema had it
    return types;
  } finally {
    connection.close();
  }
}
