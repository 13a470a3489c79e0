import type { SQLInputValue } from "node:sqlite";
import type { CallContext } from "../data/callContext.ts";
import { forbidden } from "../data/platformError.ts";
import { findTable, type Table } from "../data/tables.ts";
import { findRow, type KeptRow } from "./records.ts";

/** Where SQL finds the values of a key, and what they are. */
export interface Column {
  sql: string;
  kind: "text" | "number" | "boolean" | "time";
  /** Number of the sort field whose index has the column. */
  sort?: number;
  /** True if values of another type may stand beside those of `kind`: a range leaves them out. */
  mixed?: boolean;
  /** The value is read out of the row's document, which no index has. */
  inDocument?: boolean;
}

/** A condition in SQL with the values of its question marks. */
export interface Condition {
  sql: string;
  values: SQLInputValue[];
  /** The column that it narrows down; left out when an index on one column can't help. */
  column?: Column;
  /** How it narrows the column down: to one value, to several, or to a range. */
  test?: "equal" | "among" | "range";
}

/** No row fulfils it. */
export const never: Condition = { sql: "0", values: [] };

type Asking = Pick<CallContext, "user" | "database">;

/**
 * The rows of a table that a user may see: all without viewers, those whose viewers or team viewers they are among, and
 * their own; of a sub-table those whose parent they may see. That platform administrators see everything, and that who
 * sees a row may write it, is assumed.
 */
export function toVisibleCondition(call: Asking, table: Table): Condition | undefined {
  const { user, database } = call;
  if (user.admin) return undefined;
  let condition = "";
  const chain: string[] = [];
  const seen = new Set<string>();
  for (
    let at: Table | undefined = table;
    at && !seen.has(at.id);
    at = at.parent ? findTable(database, at.parent) : undefined
  ) {
    seen.add(at.id);
    chain.push(chain.length === 0 ? "rows" : `parent${chain.length}`);
  }
  for (const [level, row] of [...chain.entries()].reverse()) {
    const above = chain[level + 1];
    const parent =
      above === undefined
        ? ""
        : `AND EXISTS (SELECT 1 FROM rows ${above} WHERE ${above}.id = ${row}.parent AND ${condition})`;
    condition = `${mayRead(row)} ${parent}`;
  }
  return { sql: `(${condition})`, values: chain.flatMap(() => [user.id, user.id, user.id]) };
}

const mayRead = (row: string): string =>
  `(${row}.viewers IS NULL AND ${row}.team_viewers IS NULL OR ${row}.creator = ?
    OR EXISTS (SELECT 1 FROM json_each(${row}.viewers) v WHERE v.value = ?)
    OR EXISTS (SELECT 1 FROM json_each(${row}.team_viewers) v JOIN members m ON m.team_id = v.value WHERE m.user_id = ?))`;

/** True if a user may see a row, and the rows above it. */
export function isVisible({ user, database }: Asking, row: KeptRow): boolean {
  if (user.admin) return true;
  for (let at: KeptRow | undefined = row; at; at = at.parent === null ? undefined : findRow(database, at.parent)) {
    if (at.viewers === null && at.team_viewers === null) continue;
    const seen = `SELECT 1 FROM rows WHERE id = ? AND ${mayRead("rows")}`;
    if (!database.one(seen, at.id, user.id, user.id, user.id)) return false;
  }
  return true;
}

export function requireVisible(call: Asking, row: KeptRow): void {
  if (!isVisible(call, row)) throw forbidden("Only the row's viewers can see it");
}

/** A locked row is changed by nobody but platform administrators (assumed). */
export function requireWritable(call: Asking, row: KeptRow): void {
  requireVisible(call, row);
  if (row.locked === 1 && !call.user.admin) throw forbidden("The row is locked");
}
