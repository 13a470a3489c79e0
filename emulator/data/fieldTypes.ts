import type { FieldType } from "../../platform/contract/values.ts";
import type { FieldTypes } from "../../platform/seed/schema.ts";
import { DatabaseSync } from "./database.ts";

/** Field types of a data file by table ID; none where the platform takes values of other types as well. */
export function fieldTypesIn(file: string): Readonly<Record<string, FieldTypes>> {
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
