import { setImmediate as others } from "node:timers/promises";
import type { Database } from "../data/database.ts";
import { schema } from "../data/schema.ts";
import { addSorts } from "../data/tables.ts";
import { columnsOf, contents, selectCopied, isLarge, type SnapshotContent } from "./copies.ts";
import { dropDraft, dropLater, giveBack, newDraft } from "./drafts.ts";

/** Rows of a table from which on others feel it when one index of it is made at once. */
export const manyRows = 75_000;

/** New contents of a platform, gathered in tables of their own. Everybody sees the old ones until they are exchanged. */
export class Exchange {
  readonly #database: Database;
  readonly #tables: readonly SnapshotContent[];
  readonly #draft = newDraft();
  readonly #generation = this.#draft.slice(-12);
  readonly #indexes: string[] = [];

  /** Makes tables for contents, without rows and indexes; other contents stay as they are. */
  constructor(database: Database, tables: readonly SnapshotContent[] = contents) {
    this.#database = database;
    this.#tables = tables;
    database.transaction(() => {
      for (const table of tables) this.#make(table);
    });
  }

  nameOf(table: SnapshotContent): string {
    return `${this.#draft}:${table}`;
  }

  /** Gives `rows` what its sort fields need; the table `fields` must be complete. */
  sortRows(): void {
    const [rows, fields] = [this.nameOf("rows"), this.nameOf("fields")];
    const generation = this.#generation;
    const make = () => addSorts(this.#database, { rows, fields, generation });
    this.#indexes.push(...this.#database.transaction(make));
  }

  /** Makes the indexes that are missing, one at a time: at the end, since what has none is filled sooner, or at `manyRows`. */
  async index(): Promise<void> {
    for (const statement of this.#indexes.splice(0)) {
      this.#database.execute(statement);
      await others();
    }
  }

  /** Exchanges all at once, unless `check`, which sees the new contents, throws. */
  commit(check: () => void): void {
    const database = this.#database;
    database.transaction(() => {
      for (const table of this.#tables) {
        const made = this.nameOf(table);
        if (table === "rows" || (table !== "meta" && (isLarge(database, table) || isLarge(database, made)))) {
          database.execute(`ALTER TABLE ${table} RENAME TO "${this.nameOf(table)}:old"`);
          database.execute(`ALTER TABLE "${made}" RENAME TO ${table}`);
          continue;
        }
        if (table !== "meta") database.execute(`DELETE FROM ${table}`);
        const columns = columnsOf(database, made).join(", ");
        database.execute(
          `INSERT OR REPLACE INTO ${table} (${columns}) SELECT ${columns} FROM ${selectCopied(table, made)}`,
        );
      }
      if (this.#tables.includes("meta")) {
        // An explicit profile stays; otherwise the one saved with the file applies.
        const profile = selectCopied("meta", this.nameOf("meta"), ["profile"]);
        database.execute(`INSERT OR IGNORE INTO meta (key, value) SELECT key, value FROM ${profile}`);
      }
      database.run("INSERT OR REPLACE INTO meta VALUES ('generation', ?)", this.#generation);
      check();
    });
  }

  /** Drops the old contents after an exchange, the new ones without one: in the background. */
  end(): void {
    dropLater(this.#database, this.#draft);
  }

  /** Drops the new contents of an exchange that failed, and gives back the space that they took. */
  async undo(): Promise<void> {
    await dropDraft(this.#database, this.#draft);
    await giveBack(this.#database);
  }

  #make(table: SnapshotContent): void {
    for (const statement of schema.split(";").map((text) => text.trim())) {
      const [, kind, name = "", on] = /^CREATE (TABLE|INDEX) (\w+)(?: ON (\w+))?/.exec(statement) ?? [];
      const made = `"${this.nameOf(table)}"`;
      if (kind === "TABLE" && name === table) this.#database.execute(statement.replace(name, made));
      else if (kind === "INDEX" && on === table) {
        const index = `"${name}:${this.#generation}"`;
        this.#indexes.push(statement.replace(`${name} ON ${on}`, `${index} ON ${made}`));
      }
    }
  }
}
