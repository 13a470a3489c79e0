import type { CallContext } from "../data/callContext.ts";
import { invalid } from "../data/platformError.ts";
import type { TableField, Table } from "../data/tables.ts";

/**
 * The field of an ID; undefined when the table has none. Its label is what people take for it: a strict platform refuses
 * it, another one takes it, and the call log has a remark.
 */
export function fieldByID(
  { settings, remark }: Pick<CallContext, "settings" | "remark">,
  table: Table,
  fieldID: string,
  where: string,
): TableField | undefined {
  const found = [...table.fields.values()].find(({ id }) => id === fieldID);
  if (found) return found;
  const labelled = table.fields.get(fieldID);
  if (!labelled) return undefined;
  const words = `${where}: ${fieldID} is a label; the ID of this field is ${labelled.id}`;
  remark(words);
  if (settings.strict) throw invalid(words);
  return labelled;
}
