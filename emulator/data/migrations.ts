import { schemaVersion } from "./schema.ts";

/** What a migration needs of a connection. */
interface Connection {
  all: <Row>(sql: string, ...values: string[]) => Row[];
  execute: (sql: string) => void;
}

// What a snapshot copied has the columns of its time, so its tables change with the platform's own.

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

/** Each brings a file from its version to the next one. */
const migrations: Readonly<Record<number, (database: Connection) => void>> = {
  1: (database) => {
    for (const table of ["rows", "members", "children", "notifications", "pushes"]) {
      renameColumn(database, table, "n", "seq");
    }
    renameColumn(database, "teams", "everyone", "is_all_members");
    database.execute("ALTER TABLE keys RENAME TO api_keys");
    database.execute("ALTER TABLE calls ADD COLUMN session TEXT");
    database.execute("ALTER TABLE calls ADD COLUMN duration REAL");
  },
  2: (database) => database.execute("ALTER TABLE calls ADD COLUMN remark TEXT"),
};

/** Whether this version of the emulator can open files of a version. */
export const isReadable = (version: number): boolean => version === schemaVersion || Object.hasOwn(migrations, version);

/** Brings a file to today's schema. The caller's transaction makes it all or nothing. */
export function migrate(database: Connection, from: number): void {
  for (let version = from; version < schemaVersion; version++) {
    migrations[version]?.(database);
    database.execute(`PRAGMA user_version = ${version + 1}`);
  }
}
