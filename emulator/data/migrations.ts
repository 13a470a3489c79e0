import { schemaVersion } from "./schema.ts";

/** The part of a connection that migrations use. */
interface Connection {
  all: <Row>(sql: string, ...values: string[]) => Row[];
  execute: (sql: string) => void;
}

// Tables in a snapshot have the columns of their time, so a migration changes them with the platform's own.

const tablesLike = (database: Connection, table: string): string[] =>
  database
    .all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name = ? OR name GLOB 'snapshot:*:' || ?)",
      ...[table, table],
    )
    .map(({ name }) => name);

function renameColumn(database: Connection, table: string, column: string, name: string): void {
  for (const found of tablesLike(database, table)) {
    database.execute(`ALTER TABLE "${found}" RENAME COLUMN ${column} TO ${name}`);
  }
}

/** Columns that got other names after a version, by table. */
const renamedColumns: Readonly<Record<number, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  1: {
    rows: { n: "seq" },
    members: { n: "seq" },
    children: { n: "seq" },
    notifications: { n: "seq" },
    pushes: { n: "seq" },
    teams: { everyone: "is_all_members" },
  },
};

/** Today's name of a column that a version had. */
export function todaysColumn(version: number, table: string, column: string): string {
  let name = column;
  for (let since = version; since < schemaVersion; since++) name = renamedColumns[since]?.[table]?.[name] ?? name;
  return name;
}

/** Each brings a file from its version to the next one. An index may have a generation behind its name. */
const migrations: Readonly<Record<number, (database: Connection) => void>> = {
  1: (database) => {
    for (const [table, columns] of Object.entries(renamedColumns[1] ?? {})) {
      for (const [column, name] of Object.entries(columns)) renameColumn(database, table, column, name);
    }
    database.execute("ALTER TABLE keys RENAME TO api_keys");
    database.execute("ALTER TABLE calls ADD COLUMN session TEXT");
    database.execute("ALTER TABLE calls ADD COLUMN duration REAL");
  },
  2: (database) => database.execute("ALTER TABLE calls ADD COLUMN remark TEXT"),
  // An older emulator does not know that indexes have generations, so it must not open the file.
  3: (database) => {
    database.execute("CREATE INDEX sessions_by_age ON sessions (created)");
    // A habit decides about unique names, so the column loses its constraint.
    database.execute("ALTER TABLE organizations RENAME TO organizations_before");
    database.execute(`CREATE TABLE organizations (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL
    ) WITHOUT ROWID`);
    database.execute("INSERT INTO organizations SELECT * FROM organizations_before");
    database.execute("DROP TABLE organizations_before");
    database.execute("CREATE INDEX organizations_by_name ON organizations (name)");
  },
  4: (database) => {
    database.execute("ALTER TABLE sessions ADD COLUMN used INTEGER NOT NULL DEFAULT 0");
    database.execute("UPDATE sessions SET used = created");
    database.execute("DROP INDEX sessions_by_age");
    database.execute("CREATE INDEX sessions_by_use ON sessions (used)");
  },
  // Each table with a sort field had indexes of its own.
  5: (database) => {
    const indexes = "SELECT name FROM sqlite_schema WHERE tbl_name = 'rows' AND name GLOB 'rows*:*:sort*'";
    for (const { name } of database.all<{ name: string }>(indexes)) database.execute(`DROP INDEX "${name}"`);
    const [generation] = database.all<{ value: string }>("SELECT value FROM meta WHERE key = 'generation'");
    for (const { sort } of database.all<{ sort: number }>("SELECT DISTINCT sort FROM fields WHERE sort IS NOT NULL")) {
      const name = `rows${generation?.value ?? ""}:sort${sort}`;
      database.execute(`CREATE INDEX "${name}" ON rows (table_id, sort${sort}, id)`);
    }
  },
  6: (database) => {
    database.execute("ALTER TABLE calls ADD COLUMN headers TEXT");
    database.execute("ALTER TABLE calls ADD COLUMN answer TEXT");
  },
};

/** True if this version of the emulator can open files of a version. */
export const isReadable = (version: number): boolean => version === schemaVersion || Object.hasOwn(migrations, version);

/** Brings a file to today's schema. The caller's transaction makes it all or nothing. */
export function migrate(database: Connection, from: number): void {
  for (let version = from; version < schemaVersion; version++) {
    migrations[version]?.(database);
    database.execute(`PRAGMA user_version = ${version + 1}`);
  }
}
