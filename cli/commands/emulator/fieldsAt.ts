import { existsSync, statSync } from "node:fs";
import { fieldTypesIn } from "../../../emulator/data/fieldTypes.ts";
import { parseEmulatorEndpoint, fieldTypesOf, type FieldTypes } from "../../../platform/seed/schema.ts";
import { readSeed } from "./seedFile.ts";

/**
 * Field types of the platform behind `emulator:<file>?seed=<platform.yaml>`, by table ID, without starting it: of the data
 * file, or of the seed while there is none yet. Empty when the platform takes values of other types as well, and when the
 * file or the seed can't be read: whoever starts the emulator reports why.
 */
export function fieldTypesAt(endpoint: string, directory: string): Readonly<Record<string, FieldTypes>> {
  try {
    const { data, seed } = parseEmulatorEndpoint(endpoint, directory);
    if (data === ":memory:" || !existsSync(data) || statSync(data).size === 0)
      return seed === undefined ? {} : fieldTypesOf(readSeed(seed, directory));
    const kept = fieldTypesIn(data);
    if (seed === undefined || Object.keys(kept).length === 0) return kept;
    // The emulator adds at its start what the seed has got since.
    const added = Object.entries(seedTypes(seed, directory));
    return { ...kept, ...Object.fromEntries(added.map(([id, fields]) => [id, { ...fields, ...kept[id] }])) };
  } catch {
    return {};
  }
}

/** Types in a seed; none in one that can't be read. */
function seedTypes(seed: string, directory: string): Readonly<Record<string, FieldTypes>> {
  try {
    return fieldTypesOf(readSeed(seed, directory));
  } catch {
    return {};
  }
}
