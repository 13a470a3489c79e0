import type { SQLInputValue } from "node:sqlite";
import type { Database } from "../data/database.ts";
import { newToken } from "../data/hashing.ts";
import { invalid, notFound, PlatformError } from "../data/platformError.ts";
import { indexSorts } from "../data/tables.ts";
import { Moment } from "../rows/walking/moment.ts";
import {
  columnsOf,
  contents,
  selectCopied,
  copyContents,
  isLarge,
  keyColumns,
  type SnapshotContent,
} from "./copies.ts";
import { dropLater, inSlices, newDraft } from "./drafts.ts";
import { Exchange, manyRows } from "./exchange.ts";
import { compareRows, copyInSlices, type Apart } from "./sliced.ts";

// A snapshot is a copy of the tables in the data file itself: made in one transaction, there for every process.

/** Differences between a snapshot and now in one table: rows by their key. */
export interface SnapshotDifference {
  table: string;
  added: string[];
  removed: string[];
  changed: string[];
}

const copyOf = (name: string, table: SnapshotContent): string => `snapshot:${name}:${table}`;

function validateName(name: string): void {
  if (!/^[\w.-]{1,60}$/.test(name)) {
    throw invalid("a snapshot's name consists of letters, digits, dots, hyphens and underscores");
  }
}

/** Saves the platform under a name; a snapshot of that name is replaced. */
export function saveSnapshot(database: Database, name: string): void {
  validateName(name);
  database.transaction(() => {
    copyContents(database, `snapshot:${name}`);
    noteSaving(database, name);
  });
}

const noteSaving = (database: Database, name: string): unknown =>
  database.run(`INSERT INTO "${copyOf(name, "meta")}" VALUES ('saved', ?)`, newToken());

/** Saves the platform of this moment under a name. Others are answered meanwhile, and change it. */
export async function takeSnapshot(database: Database, name: string): Promise<void> {
  validateName(name);
  const draft = newDraft();
  try {
    await copyInSlices(database, draft);
    database.transaction(() => {
      setAside(database, name, `${draft}:old`);
      for (const table of contents)
        database.execute(`ALTER TABLE "${draft}:${table}" RENAME TO "${copyOf(name, table)}"`);
      noteSaving(database, name);
    });
  } finally {
    dropLater(database, draft);
  }
}

/** Gives the tables of a snapshot the names of a draft, so that it is gone at once and they can be dropped later. */
function setAside(database: Database, name: string, draft: string): void {
  for (const { table, copy } of copiesOf(database, name))
    database.execute(`ALTER TABLE "${copy}" RENAME TO "${draft}:${table}"`);
}

export function snapshots(database: Database): string[] {
  const copies = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'snapshot:*:users' ORDER BY name";
  return database.all<{ name: string }>(copies).map(({ name }) => name.split(":")[1] ?? "");
}

/** Tables that a snapshot has: earlier versions kept fewer. */
function copiesOf(database: Database, name: string): { table: SnapshotContent; copy: string; columns: string }[] {
  return contents
    .map((table) => ({ table, copy: copyOf(name, table) }))
    .map(({ table, copy }) => ({ table, copy, columns: columnsOf(database, copy).join(", ") }))
    .filter(({ columns }) => columns !== "");
}

/** Columns that a copy and another table have: a sort field that an earlier state had has left its column. */
function sharedColumns(database: Database, copy: string, table: string, to = database): string[] {
  const there = new Set(columnsOf(to, table));
  return columnsOf(database, copy).filter((column) => there.has(column));
}

/** Puts the platform back to a snapshot, at once. */
export function loadSnapshot(database: Database, name: string): void {
  database.transaction(() => {
    requireSnapshot(database, name);
    for (const { table, copy } of copiesOf(database, name)) {
      if (table === "rows") indexSorts(database);
      const columns = sharedColumns(database, copy, table).join(", ");
      if (table !== "meta") database.execute(`DELETE FROM ${table}`);
      database.execute(
        `INSERT OR REPLACE INTO ${table} (${columns}) SELECT ${columns} FROM ${selectCopied(table, copy)}`,
      );
    }
  });
}

/** Puts the platform back to a snapshot. Others are answered meanwhile, and see the old state until the new one is whole. */
export async function restoreSnapshot(database: Database, name: string): Promise<void> {
  requireSnapshot(database, name);
  const copies = copiesOf(database, name);
  const isSmall = copies.every(({ table, copy }) => !isLarge(database, table) && !isLarge(database, copy));
  if (isSmall) {
    loadSnapshot(database, name);
    return;
  }
  const saved = identifySaving(database, name);
  const check = () => requireSame(database, name, saved);
  const exchange = new Exchange(
    database,
    copies.map(({ table }) => table),
  );
  try {
    for (const { table, copy } of copies) {
      if (table === "rows") exchange.sortRows();
      const columns = sharedColumns(database, copy, exchange.nameOf(table)).join(", ");
      const insert = `INSERT INTO "${exchange.nameOf(table)}" (${columns}) SELECT ${columns} FROM "${copy}"`;
      let last = 0;
      const rows = database.one<{ rows: number | null }>(`SELECT max(rowid) AS rows FROM "${copy}"`)?.rows ?? 0;
      if (rows > manyRows) await exchange.index();
      await inSlices((size) => {
        database.run(`${insert} WHERE rowid > ? AND rowid <= ?`, last, last + size);
        last += size;
        return last < rows;
      });
    }
    await exchange.index();
    exchange.commit(check);
  } catch (error) {
    check(); // a table that is gone fails in words of its own
    throw error;
  } finally {
    exchange.end();
  }
}

/** Puts another platform, in which nobody is yet, to a snapshot of this one. Others are answered meanwhile. */
export async function copySnapshot(database: Database, name: string, to: Database): Promise<void> {
  const saved = identifySaving(database, name);
  for (const { table, copy } of copiesOf(database, name)) {
    if (table === "rows") indexSorts(to);
    if (table !== "meta") to.run(`DELETE FROM ${table}`);
    const columns = sharedColumns(database, copy, table, to);
    const select = `SELECT ${columns.join(", ")} FROM "${copy}" WHERE rowid > ? AND rowid <= ?`;
    const insert = to.prepare(
      `INSERT OR REPLACE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    let last = 0;
    await inSlices((size) => {
      const rows = database.all<Record<string, SQLInputValue>>(select, last, last + size);
      to.transaction(() => {
        for (const row of rows) insert.run(...Object.values(row));
      });
      last += size;
      return rows.length === size;
    });
  }
  to.run("DELETE FROM meta WHERE key = 'saved'");
  requireSame(database, name, saved);
}

function requireSame(database: Database, name: string, saved: string | undefined): void {
  if (identifySaving(database, name) === saved) return;
  throw new PlatformError("conflict", `Snapshot ${name} was saved again or deleted while it was loaded`);
}

/** Distinguishes savings of a snapshot; undefined for a missing one, or one of an earlier version. */
export function identifySaving(database: Database, name: string): string | undefined {
  if (columnsOf(database, copyOf(name, "meta")).length === 0) return undefined;
  return database.one<{ value: string }>(`SELECT value FROM "${copyOf(name, "meta")}" WHERE key = 'saved'`)?.value;
}

export function deleteSnapshot(database: Database, name: string): void {
  const draft = newDraft();
  database.transaction(() => {
    requireSnapshot(database, name);
    setAside(database, name, draft);
  });
  dropLater(database, draft);
}

/** Lists the changes since a snapshot; tables without changes are left out. */
export function differences(database: Database, name: string): SnapshotDifference[] {
  return database.reading(() => {
    requireSnapshot(database, name);
    return copiesOf(database, name).flatMap(({ table, copy, columns }) =>
      toDifference(table, compareAtOnce(database, table, copy, columns)),
    );
  });
}

/** Lists the changes since a snapshot, up to now. Others are answered meanwhile. */
export async function compareSnapshot(database: Database, name: string): Promise<SnapshotDifference[]> {
  requireSnapshot(database, name);
  const copies = copiesOf(database, name);
  const rows = copies.find(
    ({ table, copy }) => table === "rows" && (isLarge(database, table) || isLarge(database, copy)),
  );
  if (!rows) return differences(database, name);
  const saved = identifySaving(database, name);
  const isSame = (): boolean => identifySaving(database, name) === saved;
  const moment = new Moment(database);
  try {
    const others = database.reading(() =>
      copies
        .filter((one) => one !== rows)
        .map(({ table, copy, columns }) => [table, compareAtOnce(database, table, copy, columns)] as const),
    );
    const apart = await compareRows(database, moment, rows.copy, rows.columns);
    if (apart && isSame()) {
      const all = new Map([...others, [rows.table, apart]]);
      return copies.flatMap(({ table }) => toDifference(table, all.get(table)));
    }
  } catch (error) {
    if (isSame()) throw error; // a table that is gone fails in words of its own
  } finally {
    moment.end();
  }
  return differences(database, name);
}

function compareAtOnce(database: Database, table: SnapshotContent, copy: string, columns: string): Apart {
  const [one, other] = [selectCopied(table, table), selectCopied(table, copy)];
  const only = (one: string, other: string) =>
    database
      .all<{ key: string | number }>(
        `SELECT ${keyColumns[table]} AS key FROM (SELECT ${columns} FROM ${one} EXCEPT SELECT ${columns} FROM ${other})`,
      )
      .map(({ key }) => String(key));
  return { now: only(one, other), before: only(other, one) };
}

function toDifference(table: SnapshotContent, { now, before }: Apart = { now: [], before: [] }): SnapshotDifference[] {
  const [known, unknown] = [new Set(now.length === 0 ? [] : before), new Set(before.length === 0 ? [] : now)];
  const added = now.filter((key) => !known.has(key)).sort();
  const removed = before.filter((key) => !unknown.has(key)).sort();
  const changed = now.filter((key) => known.has(key)).sort();
  return added.length + removed.length + changed.length > 0 ? [{ table, added, removed, changed }] : [];
}

function requireSnapshot(database: Database, name: string): void {
  validateName(name);
  if (!snapshots(database).includes(name)) throw notFound("Snapshot", name);
  const there = new Set(copiesOf(database, name).map(({ table }) => table));
  const missing = contents.find((table) => !there.has(table) && table !== "meta" && table !== "api_keys");
  if (missing) throw new PlatformError("conflict", `Snapshot ${name} has no ${missing}`);
}
