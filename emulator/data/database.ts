import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type * as Sqlite from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../machine/failures.ts";
import { keepToOwner, whyUnwritable } from "../../machine/ownFile.ts";
import { isObject } from "../../platform/contract/wire.ts";

/** Rises with every change of the tables below; files of other versions are refused. */
export const schemaVersion = 8;

// Times are milliseconds since the epoch. The table `rows` gets a column sort<N> and an index
// for each sort number that the seed uses.
export const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE users (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, password TEXT, admin INTEGER NOT NULL,
  invited INTEGER NOT NULL, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
  token TEXT PRIMARY KEY, user_id TEXT NOT NULL, created INTEGER NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_use ON sessions (used);
CREATE TABLE api_keys (key TEXT PRIMARY KEY, user_id TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE tables (id TEXT PRIMARY KEY, name TEXT NOT NULL, parent TEXT, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE fields (
  id TEXT PRIMARY KEY, table_id TEXT NOT NULL, label TEXT NOT NULL, type TEXT NOT NULL, sort INTEGER,
  target_table TEXT, target_field TEXT, position INTEGER NOT NULL, UNIQUE (table_id, label)
);
CREATE TABLE rows (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, table_id TEXT NOT NULL, parent TEXT, creator TEXT,
  submitted INTEGER NOT NULL, viewers TEXT, team_viewers TEXT, locked INTEGER NOT NULL DEFAULT 0,
  conflict INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL
);
CREATE INDEX rows_of_table ON rows (table_id, id);
CREATE INDEX rows_of_parent ON rows (parent, id) WHERE parent IS NOT NULL;

CREATE TABLE organizations (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX organizations_by_name ON organizations (name);
CREATE TABLE teams (
  id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT, admin_id TEXT,
  is_all_members INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX teams_of_organization ON teams (organization_id, name);
CREATE TABLE members (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, team_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL,
  target_route TEXT, target_app TEXT, target_screen TEXT, created INTEGER NOT NULL, UNIQUE (team_id, user_id)
);
CREATE INDEX members_of_user ON members (user_id);

CREATE TABLE apps (
  id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, requester_id TEXT NOT NULL, prompt TEXT NOT NULL,
  attachments TEXT NOT NULL, created INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE children (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row_id TEXT NOT NULL, field_id TEXT NOT NULL, content TEXT NOT NULL,
  creator TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
);
CREATE INDEX children_of_row ON children (row_id, field_id);
CREATE TABLE files (
  key TEXT NOT NULL, resource_id TEXT NOT NULL, digest TEXT NOT NULL, filename TEXT NOT NULL, type TEXT NOT NULL,
  created INTEGER NOT NULL, PRIMARY KEY (resource_id, key)
) WITHOUT ROWID;
CREATE TABLE contents (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE notifications (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, app_id TEXT NOT NULL, sender_id TEXT NOT NULL,
  message TEXT, badge INTEGER, unread INTEGER NOT NULL, created INTEGER NOT NULL
);
CREATE INDEX notifications_of_user ON notifications (user_id);
CREATE TABLE pushes (
  seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL, app_id TEXT NOT NULL, sender_id TEXT NOT NULL, message TEXT,
  badge INTEGER, created INTEGER NOT NULL
);

CREATE TABLE calls (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, endpoint TEXT NOT NULL, effect TEXT NOT NULL,
  mutating INTEGER NOT NULL, user_id TEXT, status INTEGER NOT NULL, failure TEXT, request TEXT NOT NULL, fault TEXT,
  session TEXT, duration REAL, remark TEXT, headers TEXT, answer TEXT
);

PRAGMA user_version = ${schemaVersion};
`;

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
  const missing: string[] = [];
  for (let folder = dirname(file); !isMemory(file) && !existsSync(folder); folder = dirname(folder))
    missing.unshift(folder);
  try {
    // One by one: the recursive form never returns where a file system lets nobody make any, such as /proc.
    for (const folder of missing) if (!existsSync(folder)) mkdirSync(folder);
  } catch (error) {
    const reason = whyUnwritable(file, { makesFolders: true }) ?? messageOf(error);
    throw new Error(`${file} can't be used, its folder can't be made: ${reason}`, { cause: error });
  }
}

/** Removes a data file of this process; one that is open loses its name, or stays until it is closed. */
export function removeDataFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows removes no open file.
  }
}

/** An error of opening a data file, as a sentence that names it and what helps; others stay as they are. */
export function toOpeningError(file: string, error: unknown): unknown {
  if (!isObject(error) || !("errcode" in error || "errno" in error)) return error; // neither SQLite's nor the system's
  const reason = whyUnwritable(file) ?? `${messageOf(error)}: start a new data file, with its seed or a snapshot`;
  return new Error(`${file} can't be used, ${reason}`, { cause: error });
}

/**
 * Prepares a data file: only its owner may read it and the files beside it. Throws, before anything is changed, when
 * an existing file is not the emulator's.
 */
function readyDataFile(file: string): void {
  if (isMemory(file)) return;
  closeSync(openSync(file, "a", 0o600));
  if (statSync(file).size > 0) recognise(file);
  for (const end of ["", "-wal", "-shm"]) keepToOwner(`${file}${end}`);
}

function recognise(file: string): void {
  const foreign = new Error(`${file} is not a data file of the emulator`);
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    const read = (sql: string) => Object.values(connection.prepare(sql).get() ?? {})[0];
    const version = read("PRAGMA user_version");
    if (version === 0 && read("SELECT count(*) FROM sqlite_schema") === 0) return; // made by somebody who has not planted it yet
    const own = "SELECT count(*) FROM sqlite_schema WHERE name IN ('users', 'sessions', 'calls')";
    if (read(own) !== 3) throw foreign;
    if (version !== schemaVersion)
      throw new Error(
        `${file} was written by another version of the emulator: delete it or name a new file, and its seed is planted anew`,
      );
  } catch (error) {
    throw String(error).includes("not a database") ? foreign : error;
  } finally {
    connection.close();
  }
}

const maxStatements = 300;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const options =
  "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768";

/**
 * One connection to a data file. Other processes may have the same file open: nothing is remembered outside the file,
 * and whoever writes waits for the other's transaction.
 */
/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- the caller names the columns that its SQL selects */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Snapshots of what has no file, by name. */
  readonly inMemory = new Map<string, { place: string; connection: DatabaseSync }>();
  /** Path of the data file; undefined for one in memory. */
  readonly file: string | undefined;
  /** True when this process made the file. */
  readonly fresh: boolean;

  /**
   * Opens a file, or memory for `:memory:`. A new one gets the schema and `plant`'s contents in one transaction; it finds a
   * snapshot's file attached as `snapshot`.
   */
  constructor(file: string, plant: (database: Database) => void, snapshot?: string) {
    readyDataFile(file);
    this.file = isMemory(file) ? undefined : file;
    this.#connection = new DatabaseSync(file, { timeout: 10_000 });
    try {
      this.#connection.exec(options);
      const begin = () =>
        this.transaction(() => {
          if (this.#version() !== 0) return false; // somebody has planted it
          this.#connection.exec(schema);
          plant(this);
          return true;
        });
      this.fresh = snapshot === undefined || this.#version() !== 0 ? begin() : this.attached(snapshot, begin);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  #version(): number {
    return this.one<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
  }

  /** Does something while another database is attached as `snapshot`, which nothing writes to. */
  attached<Result>(place: string, work: () => Result): Result {
    const name = isMemory(place) ? place : `${pathToFileURL(place).href}?mode=ro`;
    this.#connection.exec(`ATTACH ${quoted(name)} AS snapshot`);
    try {
      return work();
    } finally {
      this.#connection.exec("DETACH snapshot");
    }
  }

  /** Makes the data file smaller by what is free in it. */
  giveBack(): void {
    if (!this.#connection.isTransaction)
      this.#connection.exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Writes all that it has to a new file, or into memory. */
  copyTo(place: string): void {
    this.#connection.exec(`VACUUM INTO ${quoted(place)}`);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.prepare(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.prepare(sql).all(...values) as Row[];
  }

  /** Rows one after the other, until `return` is called or they end. The statement is not shared. */
  iterate<Row>(sql: string, ...values: SQLInputValue[]): IterableIterator<Row> {
    return this.#connection.prepare(sql).iterate(...values) as IterableIterator<unknown> as IterableIterator<Row>;
  }

  /** Returns the number of rows that were changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.prepare(sql).run(...values).changes);
  }

  /** Runs statements that are not worth keeping, such as changes of the schema. */
  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Does all of the work or none of it. */
  transaction<Result>(work: () => Result): Result {
    return this.#within("BEGIN IMMEDIATE", work);
  }

  /** Gives several reads one consistent view. */
  reading<Result>(work: () => Result): Result {
    return this.#within("BEGIN", work);
  }

  close(): void {
    this.#statements.clear();
    if (this.#connection.isOpen) this.#connection.close();
  }

  #within<Result>(begin: string, work: () => Result): Result {
    if (this.#isWithin()) return work();
    this.#connection.exec(begin);
    try {
      const result = work();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#isWithin()) this.#connection.exec("ROLLBACK"); // SQLite itself ends it after some errors
      throw error;
    }
  }

  #isWithin(): boolean {
    return this.#connection.isTransaction;
  }

  /** A prepared statement, which is kept for the next time. */
  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    if (this.#statements.size >= maxStatements) this.#statements.clear();
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
