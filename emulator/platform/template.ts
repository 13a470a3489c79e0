import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Database } from "../data/database.ts";
import { DatabaseSync, toMemoryPath, removeDataFile } from "../data/dataFile.ts";

/** The content that platforms on demand are copied from. */
export class Template {
  readonly #database: Database;
  readonly #bytes: Buffer | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#bytes = bytesOf(database);
  }

  /**
   * A copy for one connection, at the speed of copying bytes: a file that has no name any more, since a process keeps
   * the memory that many copies in memory give back. In memory where no file can be written.
   */
  copy(): Database {
    if (this.#bytes) {
      const file = newFile();
      try {
        writeFileSync(file, this.#bytes, { flag: "wx", mode: 0o600 });
        return new Database(file, () => undefined, { alone: true });
      } catch {
        removeDataFile(file);
      }
    }
    const place = toMemoryPath(randomUUID());
    const first = new DatabaseSync(place); // it is there as long as somebody has it open
    try {
      this.#database.execute(`VACUUM INTO '${place}'`);
      return new Database(place, () => undefined);
    } finally {
      first.close();
    }
  }

  close(): void {
    this.#database.close();
  }
}

const newFile = (): string => path.join(tmpdir(), `microapps-${randomUUID()}.db`);

/** The bytes of a data file with what a database has; undefined where no file can be written. */
function bytesOf(database: Database): Buffer | undefined {
  const file = newFile();
  try {
    writeFileSync(file, "", { flag: "wx", mode: 0o600 });
    database.execute(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
    return readFileSync(file);
  } catch {
    return undefined;
  } finally {
    removeDataFile(file);
  }
}
