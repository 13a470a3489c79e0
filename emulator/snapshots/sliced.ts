import type { Database } from "../data/database.ts";
import { Moment } from "../rows/walking/moment.ts";
import { columnsOf, contents, copyContents, isLarge } from "./copies.ts";
import { inSlices } from "./drafts.ts";

// Rows are what a platform has very many of. They are copied and compared in slices, as they were at the beginning; all
// else at once. Where somebody else changes the data file meanwhile, nobody can tell how it was: rows go at once as well.

const exceptRows = contents.filter((table) => table !== "rows");

/** Copies all contents as they are now, as `copyContents` does. Others are answered meanwhile. */
export async function copyInSlices(database: Database, prefix: string, notes?: readonly string[]): Promise<void> {
  if (isLarge(database, "rows") && (await copyRows(database, prefix, notes))) return;
  if (database.isOpen) database.transaction(() => copyContents(database, prefix, notes));
}

/** Returns false when what it has copied is not how the platform was at any time. */
async function copyRows(database: Database, prefix: string, notes?: readonly string[]): Promise<boolean> {
  const copy = `${prefix}:rows`;
  const moment = database.transaction(() => {
    copyContents(database, prefix, notes, exceptRows);
    database.execute(`DROP TABLE IF EXISTS "${copy}"`);
    database.execute(`CREATE TABLE "${copy}" AS SELECT * FROM rows WHERE 0`);
    return new Moment(database);
  });
  try {
    const columns = columnsOf(database, copy).join(", ");
    const last = lastOf(database, "SELECT max(seq) AS last FROM rows");
    let after = 0;
    await inSlices((size) => {
      if (!database.isOpen || !moment.holds()) return false;
      const [rows, values] = moment.between(columns, after, after + size);
      database.run(`INSERT INTO "${copy}" (${columns}) ${rows} ORDER BY seq`, ...values);
      after += size;
      return after < last;
    });
    return database.isOpen && after >= last && moment.holds();
  } finally {
    moment.end();
  }
}

/** Keys of the rows that now and a copy have alone; a changed row is in both. */
export interface Apart {
  now: string[];
  before: string[];
}

/**
 * Compares all rows of a moment that has just begun with a copy of them, which has them in the order of `seq`. Others
 * are answered meanwhile. Resolves to undefined when they can't be compared so.
 */
export async function compareRows(
  database: Database,
  moment: Moment,
  copy: string,
  columns: string,
): Promise<Apart | undefined> {
  const end = lastOf(database, `SELECT max(rowid) AS last FROM "${copy}"`);
  const last = Math.max(
    lastOf(database, "SELECT max(seq) AS last FROM rows"),
    lastOf(database, `SELECT seq AS last FROM "${copy}" WHERE rowid = ?`, end),
  );
  const apart: Apart = { now: [], before: [] };
  let after = 0;
  let at = 0; // row of the copy
  await inSlices((size) => {
    if (!database.isOpen || !moment.holds()) return false;
    const to = after + size;
    const until = `SELECT max(rowid) AS last FROM "${copy}" WHERE rowid > ? AND rowid <= ? AND seq <= ?`;
    const reached = lastOf(database, until, at, at + size, to) || at;
    const [now, values] = moment.between(columns, after, to);
    const before = `SELECT ${columns} FROM "${copy}" WHERE rowid > ? AND rowid <= ?`;
    const keys = (one: string, other: string, ...values: readonly (string | number)[]) =>
      database
        .all<{ id: string }>(`SELECT id FROM (SELECT * FROM (${one}) EXCEPT SELECT * FROM (${other}))`, ...values)
        .map(({ id }) => id);
    apart.now.push(...keys(now, before, ...values, at, reached));
    apart.before.push(...keys(before, now, at, reached, ...values));
    after = to;
    at = reached;
    return after < last;
  });
  return database.isOpen && after >= last && at === end && moment.holds() ? apart : undefined;
}

const lastOf = (database: Database, sql: string, ...values: number[]): number =>
  database.one<{ last: number | null }>(sql, ...values)?.last ?? 0;
