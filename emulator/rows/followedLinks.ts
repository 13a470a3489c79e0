import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { findShownField, requireTable, type Table } from "../data/tables.ts";
import { columnsOf, storedPartsOf, updateRow, type KeptRow } from "./records.ts";

/** A row before and after a change of its values. */
export interface Change {
  rowID: string;
  before: Json;
  after: Json;
}

/**
 * Renews what links to a row show of it, and so their sort values and what filters find: a read shows the row as it is
 * now. Looks at all rows of the tables that link to it, and only when what they show has changed (assumed).
 */
export function renewLinks(database: Database, table: Table, { rowID, before, after }: Change): void {
  const links = database.all<{ tableID: string; label: string; targetField: string | null }>(
    "SELECT table_id AS tableID, label, target_field AS targetField FROM fields WHERE target_table = ?",
    table.id,
  );
  for (const { tableID, label, targetField } of links) {
    const shown = findShownField(table, targetField)?.label;
    if (shown === undefined || JSON.stringify(before[shown]) === JSON.stringify(after[shown])) continue;
    const linking = requireTable(database, tableID);
    const rows = database.all<KeptRow>(
      `SELECT ${columnsOf(linking)} FROM rows WHERE table_id = ? AND EXISTS (SELECT 1 FROM json_each(data) f
         WHERE f.key = ? AND f.type = 'object' AND json_extract(f.value, '$.crossAppRowID') = ?)`,
      ...[tableID, label, rowID],
    );
    for (const row of rows) {
      const data = JSON.parse(row.data) as Json;
      const link = data[label];
      if (!isObject(link)) continue;
      const value = { label: shown, value: after[shown] ?? null };
      updateRow(database, linking, row.id, { ...storedPartsOf(row), data: { ...data, [label]: { ...link, value } } });
    }
  }
}
