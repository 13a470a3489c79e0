import { nearest } from "../../machine/spelling.ts";
import { systemLabels } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import type { CallContext } from "../data/callContext.ts";
import { invalid } from "../data/platformError.ts";
import { sortName, type Table, type TableField } from "../data/tables.ts";

// The platform answers what is misspelt, as if nobody had asked for it. The call log has a remark.

type Remarking = Pick<CallContext, "remark">;

const storedKeys = ["parentResourceID", "topLevelParentID", "clientSubmitted"];

/** A hint at the word that was meant, or nothing. */
export function hint(word: string, known: Iterable<string>): string {
  const meant = nearest(word, [...known]);
  return meant === undefined ? "" : ` (${meant}?)`;
}

/** Remarks on keys of filters that no row has, by their first part. */
export function remarkOnFilters(call: Remarking, table: Table, filters: readonly unknown[]): void {
  const known = new Set([...table.fields.keys(), ...systemLabels, ...storedKeys]);
  for (const { sort } of table.sorted) known.add(sortName(sort)).add(`sortVal${sort}`);
  const foreign = new Set(keysIn(filters).filter((key) => !known.has(key) && !known.has(key.split(".")[0] ?? key)));
  for (const key of [...foreign].slice(0, maxRemarks)) {
    call.remark(`optViewFilters: no row of ${table.name} has ${key}${hint(key, known)}`);
  }
}

/** Most keys that one call's remark names. */
const maxRemarks = 5;

function keysIn(filters: readonly unknown[]): string[] {
  return filters.filter(isObject).flatMap((filter) =>
    Object.entries(filter).flatMap(([key, value]) => {
      if (!key.startsWith("$")) return [key];
      return ["$and", "$or", "$nor"].includes(key) && Array.isArray(value) ? keysIn(value as unknown[]) : [];
    }),
  );
}

/** Remarks on labels of written rows that the table lacks; each is named once. */
export function remarkOnLabel(call: Remarking, table: Table, label: string, named: Set<string>): void {
  if (systemLabels.has(label) || named.has(label) || named.size >= maxRemarks) return;
  named.add(label);
  call.remark(`rowData: ${table.name} has no field ${label}${hint(label, table.fields.keys())}, and its value is lost`);
}

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
