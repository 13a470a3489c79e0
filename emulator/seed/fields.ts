import type { FieldType } from "../../provider/contract/fields.ts";
import type { Seed } from "./schema.ts";

/** Types of a table's fields by label. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

/** Field types by table ID, of the tables that have any; none where the platform takes values of other types as well. */
export function fieldTypesOf({ settings, tables }: Pick<Seed, "settings" | "tables">): Record<string, FieldTypes> {
  if (!settings.strict) return {};
  const typed = Object.entries(tables).flatMap(([key, { id = key, fields }]) => {
    const types = Object.entries(fields).map(([label, { type }]) => [label, type] as const);
    return types.length === 0 ? [] : [[id, Object.fromEntries(types)] as const];
  });
  return Object.fromEntries(typed);
}
