import type { SQLInputValue } from "node:sqlite";
import type { Database } from "../../data/database.ts";
import { generationOf } from "../../data/tables.ts";

// The data in memory has one connection, whose reads see each write at once. So the connection keeps, for as long as a
// read goes on, the rows that are changed meanwhile as they were, and the IDs of all that are no longer so.

interface Readers {
  generation: string;
  open: Set<number>;
}

const readersOf = new WeakMap<Database, Readers>();

const triggers = ["INSERT", "UPDATE", "DELETE"] as const;
const tables = ["past_readers", "past_changes", "past_rows"] as const;

/** The rows as they were when it was made, for a read that lets others in between. Writes of other processes show. */
export class Moment {
  readonly #database: Database;
  readonly #readers: Readers;
  readonly #reader: number;
  readonly #version: number;

  constructor(database: Database) {
    this.#database = database;
    this.#readers = preparedReaders(database);
    const { open } = this.#readers;
    this.#reader = Math.max(0, ...open) + 1;
    open.add(this.#reader);
    database.run("INSERT INTO past_readers VALUES (?)", this.#reader);
    this.#version = versionOf(database);
  }

  /** False once another process has written to the data file, or all rows were exchanged: what it shows then is mixed. */
  holds(): boolean {
    const { generation } = this.#readers;
    return versionOf(this.#database) === this.#version && generationOf(this.#database) === generation;
  }

  hasChanges(): boolean {
    return this.#database.one("SELECT 1 FROM past_changes WHERE reader = ?", this.#reader) !== undefined;
  }

  /** Condition of a row's being as it was. */
  get unchanged(): [string, SQLInputValue[]] {
    const changed = "SELECT 1 FROM past_changes c WHERE c.reader = ? AND c.id = rows.id";
    return [` AND NOT EXISTS (${changed})`, [this.#reader]];
  }

  /** The changed rows of a table as they were, in place of its rows. */
  before(table: string): [string, SQLInputValue[]] {
    return [`FROM past_rows AS rows WHERE reader = ? AND table_id = ?`, [this.#reader, table]];
  }

  /** All tables' rows as they were, those with a `seq` above `after` and up to `to`. */
  between(columns: string, after: number, to: number): [string, (string | number)[]] {
    const range = "seq > ? AND seq <= ?";
    const now = `SELECT ${columns} FROM rows WHERE ${range}`;
    if (!this.hasChanges()) return [now, [after, to]];
    const before = `SELECT ${columns} FROM past_rows WHERE reader = ? AND ${range}`;
    const reader = this.#reader;
    return [`${now}${this.unchanged[0]} UNION ALL ${before}`, [after, to, reader, reader, after, to]];
  }

  end(): void {
    const { open } = this.#readers;
    open.delete(this.#reader);
    // Whoever exchanged all rows meanwhile may have made others since.
    if (!this.#database.isOpen || readersOf.get(this.#database) !== this.#readers) return;
    if (open.size > 0)
      for (const table of tables) this.#database.run(`DELETE FROM ${table} WHERE reader = ?`, this.#reader);
    else drop(this.#database);
  }
}

/** Changes whenever another connection has written. */
const versionOf = (database: Database): number =>
  database.one<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;

/** Readers of the rows that a database has now; the first one makes what keeps changed rows. */
function preparedReaders(database: Database): Readers {
  const generation = generationOf(database);
  const known = readersOf.get(database);
  if (known && known.open.size > 0 && known.generation === generation) return known;
  drop(database);
  const columns = database.all<{ name: string }>("SELECT name FROM pragma_table_info('rows')").map(({ name }) => name);
  const old = columns.map((name) => `OLD."${name}"`).join(", ");
  const readers = (row: "OLD" | "NEW") =>
    `FROM past_readers r WHERE NOT EXISTS (SELECT 1 FROM past_changes c WHERE c.reader = r.reader AND c.id = ${row}.id)`;
  const keep = `INSERT INTO past_rows SELECT r.reader, ${old} ${readers("OLD")};`;
  database.execute(
    [
      "CREATE TEMP TABLE past_readers (reader INTEGER PRIMARY KEY)",
      "CREATE TEMP TABLE past_changes (reader INTEGER, id TEXT, PRIMARY KEY (reader, id)) WITHOUT ROWID",
      "CREATE TEMP TABLE past_rows AS SELECT 0 AS reader, * FROM rows WHERE 0",
      ...triggers.map((event) => {
        const row = event === "INSERT" ? "NEW" : "OLD";
        return `CREATE TEMP TRIGGER past_${event} AFTER ${event} ON main.rows BEGIN
          ${event === "INSERT" ? "" : keep}
          INSERT INTO past_changes SELECT r.reader, ${row}.id ${readers(row)};
        END`;
      }),
    ].join(";\n"),
  );
  const made = { generation, open: new Set<number>() };
  readersOf.set(database, made);
  return made;
}

function drop(database: Database): void {
  for (const event of triggers) database.execute(`DROP TRIGGER IF EXISTS temp.past_${event}`);
  for (const table of tables) database.execute(`DROP TABLE IF EXISTS temp.${table}`);
}
