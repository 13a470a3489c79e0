import type { SQLInputValue, StatementSync } from "node:sqlite";
import { DatabaseSync, otherVersion, readyDataFile, removeDataFile } from "./dataFile.ts";
import { isReadable, migrate } from "./migrations.ts";
import { schema } from "./schema.ts";

const maxStatements = 300;

/** How a data file is used that others may have open, and one that nobody else has and that ends with its connection. */
const shared =
  "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY";
const alone =
  "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -2048; " +
  "PRAGMA temp_store = MEMORY";

/**
 * One connection to a data file. Other processes may have the same file open: nothing is remembered outside the file,
 * and whoever writes waits for the other's transaction.
 */
/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- the caller names the columns that its SQL selects */
export class Database {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** True when this process made the file. */
  readonly fresh: boolean;
  /** A file that goes when it is closed. */
  readonly #passing: string | undefined;

  /**
   * Opens a file, or memory for `:memory:`. A new one gets the schema and `plant`'s rows, an older one is migrated.
   * @param how `alone`: it is this connection's own, nobody finds it, and it is gone with it
   */
  constructor(file: string, plant: (database: Database) => void, how: { alone?: boolean } = {}) {
    const isAlone = how.alone === true;
    if (!isAlone) readyDataFile(file);
    this.#connection = new DatabaseSync(file, { timeout: 10_000 });
    try {
      this.#connection.exec(isAlone ? alone : shared);
      this.fresh = this.transaction(() => {
        const version = this.one<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
        if (version !== 0) {
          if (!isReadable(version)) throw otherVersion(file);
          migrate(this, version);
          return false;
        }
        if (this.one("SELECT 1 FROM sqlite_schema")) throw new Error(`${file} is not a data file of the emulator`);
        this.#connection.exec(schema);
        plant(this);
        return true;
      });
    } catch (error) {
      this.#connection.close();
      throw error;
    }
    this.#passing = isAlone ? file : undefined;
    if (isAlone) removeDataFile(file);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** Rows one after the other. The statement is not shared, so others may run between two rows. */
  iterate<Row>(sql: string, ...values: SQLInputValue[]): IterableIterator<Row> {
    return this.#connection.prepare(sql).iterate(...values) as IterableIterator<unknown> as IterableIterator<Row>;
  }

  /** Returns the number of rows that were changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Runs statements that are not worth keeping, such as changes of the schema. */
  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  /** A statement for a loop over many rows. */
  prepare(sql: string): StatementSync {
    return this.#prepared(sql);
  }

  /** Does all of the work or none of it. */
  transaction<Result>(work: () => Result): Result {
    return this.#within("BEGIN IMMEDIATE", work);
  }

  /** Gives several reads one consistent view. */
  reading<Result>(work: () => Result): Result {
    return this.#within("BEGIN", work);
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  close(): void {
    this.#statements.clear();
    if (!this.#connection.isOpen) return;
    this.#connection.close();
    if (this.#passing !== undefined) removeDataFile(this.#passing);
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

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement) return statement;
    statement = this.#connection.prepare(sql);
    if (this.#statements.size >= maxStatements) {
      const oldest = this.#statements.keys().next().value;
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, statement);
    return statement;
  }
}
