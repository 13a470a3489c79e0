import { randomBytes } from "node:crypto";
import { setImmediate as others } from "node:timers/promises";
import { birthOf, isRunning } from "../../machine/processes.ts";
import type { Database } from "../data/database.ts";

// Tables that are not the platform's yet, or no longer: what is long in the making stands in them, so that others see
// all of it at once or nothing. Their names tell whose they are.

const owner = `${process.pid}.${birthOf()?.startTime ?? ""}`;

/** Begin of the names of tables that belong to one piece of work of this process. */
export const newDraft = (): string => `draft:${owner}:${randomBytes(6).toString("hex")}`;

const drafts = (database: Database, prefix: string): string[] =>
  database
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? || ':*'", prefix)
    .map(({ name }) => name);

/** Drops what processes left behind that were killed. */
export function dropLeftovers(database: Database): void {
  database.transaction(() => {
    for (const name of drafts(database, "draft")) {
      const [, pid = "", started] = /^draft:(\d+)\.(\d*):/.exec(name) ?? [];
      const isLeft = !isRunning(Number(pid)) || (birthOf(Number(pid))?.startTime ?? "") !== started;
      if (isLeft) database.execute(`DROP TABLE "${name}"`);
    }
  });
}

/** Rows of a table that is dropped at once. */
const maxDropped = 25_000;

/** Drops the tables of a draft, little by little. What is left when the data file is closed goes when it is opened. */
export async function dropDraft(database: Database, prefix: string): Promise<void> {
  for (const name of database.isOpen ? drafts(database, prefix) : []) {
    const clear = `DELETE FROM "${name}" WHERE rowid IN (SELECT rowid FROM "${name}" LIMIT ?)`;
    const span = `SELECT (SELECT max(rowid) FROM "${name}") - (SELECT min(rowid) FROM "${name}") AS span`;
    const isOrdered = database.one("SELECT 1 FROM pragma_table_list WHERE name = ? AND wr = 0", name) !== undefined;
    const most = /:contents(:old)?$/.test(name) ? 0 : maxDropped; // one file may be as large as very many rows
    const isLong = () => isOrdered && database.isOpen && (database.one<{ span: number }>(span)?.span ?? -1) >= most;
    if (isLong()) await inSlices((size) => database.isOpen && database.run(clear, size) > 0 && isLong());
    if (!database.isOpen) return;
    database.execute(`DROP TABLE "${name}"`);
  }
}

/** Free pages of a data file (4 KB each) that are given back. */
const manyPages = 1_000;

/** Highest number of used pages of an earlier version's data file that is rewritten at once to shrink it. */
const fewPages = 5_000;

/** Drops the tables of a draft in the background, and gives back the space that they took. */
export function dropLater(database: Database, prefix: string): void {
  // The next start drops the rest.
  dropDraft(database, prefix)
    .then(() => giveBack(database))
    .catch(() => undefined);
}

/** Makes the data file smaller by what is free in it, little by little. What can't be given back is used again. */
export async function giveBack(database: Database): Promise<void> {
  if (!database.isOpen || freePages(database) < manyPages) return;
  try {
    if (pragma(database, "auto_vacuum") === incremental) {
      await inSlices((size) => {
        if (!database.isOpen) return false;
        database.execute(`PRAGMA incremental_vacuum(${size})`);
        return freePages(database) > 0;
      });
    } else if (pragma(database, "page_count") - freePages(database) < fewPages) database.execute("VACUUM");
    else return;
    shortenLog(database);
  } catch {
    // Somebody else is reading or writing.
  }
}

/** Shortens the file beside the data file, unless somebody else is reading it: that is not waited for. */
function shortenLog(database: Database): void {
  if (!database.isOpen) return;
  const timeoutMs = pragma(database, "busy_timeout");
  database.execute("PRAGMA busy_timeout = 0");
  try {
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.execute(`PRAGMA busy_timeout = ${timeoutMs}`);
  }
}

const incremental = 2;

const pragma = (database: Database, name: string): number =>
  Object.values(database.one<Record<string, number>>(`PRAGMA ${name}`) ?? {})[0] ?? 0;

const freePages = (database: Database): number => pragma(database, "freelist_count");

/** How long one slice of a long piece of work keeps others waiting, in milliseconds. */
export const sliceMs = 8;

/** Runs work in slices of a suitable size until a slice returns true for the last one. Other work runs in between. */
export async function inSlices(slice: (size: number) => boolean): Promise<void> {
  for (let size = 16; ;) {
    const began = performance.now();
    if (!slice(size)) return;
    const spent = performance.now() - began;
    size = Math.ceil(Math.min(size * 4, Math.max(1, (size * sliceMs) / spent), 20_000));
    await others();
  }
}
