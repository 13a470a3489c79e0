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
const maxDropped = 100_000;

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
