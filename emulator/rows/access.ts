import type { SQLInputValue } from "node:sqlite";
import type { CallContext } from "../data/callContext.ts";
import { forbidden } from "../data/platformError.ts";
import type { KeptRow } from "./records.ts";

/** Where SQL finds the values of a key, and what they are. */
export interface Column {
  sql: string;
  kind: "text" | "number" | "boolean" | "time";
  /** Number of the sort field whose index has the column. */
  sort?: number;
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

/**
 * The rows that a user may see: all without viewers, those whose viewers or team viewers they are among, and their own.
 * That platform administrators see everything, and that who sees a row may write it, is assumed.
 */
export function visible({ user }: Pick<CallContext, "user">): Condition | undefined {
  if (user.admin) return undefined;
  return {
    sql: `(viewers IS NULL AND team_viewers IS NULL OR creator = ?
      OR EXISTS (SELECT 1 FROM json_each(viewers) v WHERE v.value = ?)
      OR EXISTS (SELECT 1 FROM json_each(team_viewers) v JOIN members m ON m.team_id = v.value WHERE m.user_id = ?))`,
    values: [user.id, user.id, user.id],
  };
}

export function requireVisible(call: Pick<CallContext, "user" | "database">, row: KeptRow): void {
  const condition = visible(call);
  if (!condition || (row.viewers === null && row.team_viewers === null)) return;
  if (call.database.one(`SELECT 1 FROM rows WHERE id = ? AND ${condition.sql}`, row.id, ...condition.values)) return;
  throw forbidden("Only the row's viewers can see it");
}

/** A locked row is changed by nobody but platform administrators (assumed). */
export function requireWritable(call: Pick<CallContext, "user" | "database">, row: KeptRow): void {
  requireVisible(call, row);
  if (row.locked === 1 && !call.user.admin) throw forbidden("The row is locked");
}
