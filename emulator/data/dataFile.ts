import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type * as Sqlite from "node:sqlite";
import { messageOf } from "../../machine/failures.ts";
import { keepToOwner, whyUnwritable } from "../../machine/ownFile.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { isReadable } from "./migrations.ts";

/** SQLite of Node, which before Node 24 warns of its being experimental: an engine would show that as an error. */
export const { DatabaseSync } = withoutWarning(() => process.getBuiltinModule("node:sqlite"));
export type DatabaseSync = Sqlite.DatabaseSync;

function withoutWarning<Result>(load: () => Result): Result {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A place in memory that several connections of this process open by its name, until the last of them closes. */
export const toMemoryPath = (name: string): string => `file:/${name}?vfs=memdb`;

const isMemory = (file: string): boolean => file === ":memory:" || /^file:\/.*\?vfs=memdb$/.test(file);

/** Makes the folders of a data file. Throws an error that names the file and what stands in the way. */
export function makeFolders(file: string): void {
  if (isMemory(file)) return;
  const missing: string[] = [];
  for (let folder = dirname(file); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  try {
    // One by one: the recursive form never returns where a file system lets nobody make any, such as /proc.
    for (const folder of missing) if (!existsSync(folder)) mkdirSync(folder);
  } catch (error) {
    const reason = whyUnwritable(file, { makesFolders: true }) ?? messageOf(error);
    throw new Error(`${file} can't be used, its folder can't be made: ${reason}`, { cause: error });
  }
}

/**
 * Prepares a data file: only its owner may read it and the files beside it. Throws, before anything is changed, when
 * an existing file is not the emulator's.
 */
export function readyDataFile(file: string): void {
  if (isMemory(file)) return;
  closeSync(openSync(file, "a", 0o600));
  if (statSync(file).size > 0) recognise(file);
  if (isCutInPage(file)) throw Object.assign(new Error("the last page is not whole"), { errcode: corrupt });
  for (const end of ["", "-wal", "-shm"]) keepToOwner(`${file}${end}`);
}

/** True for a file that ends within a page: SQLite reads zeros there. Where a log lies beside it, the page may be in that. */
function isCutInPage(file: string): boolean {
  const { size } = statSync(file);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (size === 0 || (log?.size ?? 0) > 0) return false;
  const header = Buffer.alloc(18);
  const opened = openSync(file, "r");
  try {
    readSync(opened, header, 0, header.length, 0);
  } finally {
    closeSync(opened);
  }
  const pageSize = header.readUInt16BE(16);
  return size % (pageSize === 1 ? 65_536 : pageSize) !== 0;
}

/** Removes a data file of this process; one that is open loses its name, or stays until it is closed. */
export function removeDataFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows removes no open file.
  }
}

/** Number of an error of SQLite; undefined for another one. */
const codeOf = (error: unknown): number | undefined =>
  isObject(error) && typeof error["errcode"] === "number" ? error["errcode"] & 0xff : undefined;

const full = 13; // SQLITE_FULL
const corrupt = 11; // SQLITE_CORRUPT

/** Describes why data can't be used or written; undefined for what is no fault of its file or disk. */
export function describeFileFault(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === full) return "the disk is full";
  if (code === 8) return "the data file may only be read"; // SQLITE_READONLY
  if (code === corrupt) return "the data file is broken or cut off";
  return code === 10 ? "the disk fails" : undefined; // SQLITE_IOERR
}

/** Writes what reads go on without while the disk is full. Returns false where it was not written. */
export function writeIfRoom(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (codeOf(error) !== full) throw error;
    return false;
  }
}

/** An error of opening a data file, as a sentence that names it and what helps. */
export function toOpeningError(file: string, error: unknown): unknown {
  const system = (error as { code?: unknown } | null)?.code;
  const fault =
    describeFileFault(error) ??
    (system === "EACCES" || system === "EPERM" || system === "EROFS" ? "the data file may only be read" : undefined) ??
    (system === "EISDIR" ? "it is a folder" : system === "ENOSPC" ? "the disk is full" : undefined);
  if (fault === undefined) return error;
  const help = fault.includes("broken") ? ": load a snapshot's file into a new data file, or start with a new one" : "";
  return new Error(`${file} can't be used, ${fault}${help}`, { cause: error });
}

export const otherVersion = (file: string): Error =>
  new Error(`${file} was written by another version of the emulator: start with a new file`);

function recognise(file: string): void {
  const foreign = new Error(`${file} is not a data file of the emulator`);
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    const found = connection.prepare("SELECT user_version AS version FROM pragma_user_version").get();
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const names = new Set(tables.map(({ name }) => name));
    if (names.size === 0 && found?.["version"] === 0) return; // made by somebody who has not planted it yet
    if (!["users", "sessions", "calls"].every((name) => names.has(name))) throw foreign;
    if (!isReadable(Number(found?.["version"]))) throw otherVersion(file);
  } catch (error) {
    throw String(error).includes("not a database") ? foreign : error;
  } finally {
    connection.close();
  }
}
