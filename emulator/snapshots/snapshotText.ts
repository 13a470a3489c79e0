import { setImmediate as others } from "node:timers/promises";
import { checkJsonBounds } from "../../machine/settings/bounds.ts";
import { isObject } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";
import { todaysColumn } from "../data/migrations.ts";
import { schemaVersion } from "../data/schema.ts";
import { columnsOf, contents, type SnapshotContent } from "./copies.ts";
import { dropLater, newDraft } from "./drafts.ts";
import { copyInSlices } from "./sliced.ts";

// A snapshot as text has one JSON value in each line: what it is and the version of its tables; then each table's name
// and columns, with its rows below it; at last the number of all rows. The same state makes the same text.

export const format = "microapps emulator snapshot";

/** The platform's own notes in a file: the profile goes with it, unlike into a copy on the platform itself. */
export const notes = ["seed", "settings", "profile"] as const;

/** Rows that are read at once. A stored file may be large. */
const rowsAtOnce = (table: SnapshotContent): number => (table === "contents" ? 1 : 500);

/** Writes the state of a moment, piece by piece; others are answered meanwhile, and may change it. */
export async function* writeText(database: Database): AsyncGenerator<string> {
  const draft = newDraft();
  // A sort field that an earlier state had has left its column.
  const isUnused = (column: string): boolean => {
    const [, sort] = /^sort(\d+)$/.exec(column) ?? [];
    if (sort === undefined) return false;
    return database.one(`SELECT 1 FROM "${draft}:fields" WHERE sort = ?`, Number(sort)) === undefined;
  };
  let rows = 0;
  try {
    await copyInSlices(database, draft, notes);
    yield lineOf({ format, version: schemaVersion });
    for (const table of contents) {
      const copy = `${draft}:${table}`;
      const columns = columnsOf(database, copy)
        .filter((column) => !isUnused(column))
        .sort();
      yield lineOf({ table, columns });
      const select = `SELECT ${columns.join(", ")} FROM "${copy}" WHERE rowid > ? AND rowid <= ?`;
      for (let last = 0, size = rowsAtOnce(table); ; last += size) {
        const found = database.all<Record<string, unknown>>(select, last, last + size);
        if (found.length === 0) break;
        rows += found.length;
        yield found.map((row) => lineOf(columns.map((column) => written(row[column])))).join("");
        await others();
      }
    }
    yield lineOf({ rows });
  } finally {
    dropLater(database, draft);
  }
}

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

const written = (value: unknown): unknown =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;

/** A line of a snapshot. */
export type SnapshotLine =
  | { kind: "table"; table: SnapshotContent; columns: string[] }
  | { kind: "row"; values: (string | number | null | Uint8Array)[] };

/** Reads the lines of a text in their order, and throws where it is not one that `writeText` wrote. */
export class Reader {
  #version: number | undefined;
  #table: { table: SnapshotContent; columns: number } | undefined;
  readonly #seen = new Set<SnapshotContent>();
  #rows = 0;
  #ended = false;

  read(text: string): SnapshotLine | undefined {
    const value = parsed(text);
    if (this.#ended) throw new Error("nothing may stand behind the end of a snapshot");
    if (Array.isArray(value)) return this.#row(value as unknown[]);
    const line = isObject(value) ? value : {};
    if (this.#version === undefined) this.#begin(line);
    else if ("table" in line) return this.#begun(line["table"], line["columns"]);
    else if ("rows" in line) this.#end(line["rows"]);
    else throw new Error("this is neither a table nor a row");
    return undefined;
  }

  /** Throws when there must be more lines. */
  end(): void {
    if (this.#version === undefined) throw new Error("this is no snapshot of the emulator");
    if (!this.#ended) throw new Error("the snapshot is cut off here");
  }

  #begin(line: Record<string, unknown>): void {
    const { version } = line;
    if (line["format"] !== format || typeof version !== "number")
      throw new Error("this is no snapshot of the emulator");
    if (!(version >= 1 && version <= schemaVersion)) {
      throw new Error(
        `this snapshot is of version ${version}, and this emulator reads up to ${schemaVersion}: update pulumi-microapps`,
      );
    }
    this.#version = version;
  }

  #begun(table: unknown, columns: unknown): SnapshotLine {
    const name = contents.find((name) => name === table);
    if (!name) throw new Error(`a snapshot has no table ${JSON.stringify(table)}`);
    if (this.#seen.has(name)) throw new Error(`the table ${name} stands here a second time`);
    if (name === "rows" && !this.#seen.has("fields")) throw new Error("the table fields must stand before rows");
    if (!Array.isArray(columns) || !columns.every((column) => typeof column === "string" && /^\w+$/.test(column))) {
      throw new Error(`the columns of ${name} are not names`);
    }
    this.#seen.add(name);
    this.#table = { table: name, columns: columns.length };
    const names = (columns as string[]).map((column) => todaysColumn(this.#version ?? schemaVersion, name, column));
    return { kind: "table", table: name, columns: names };
  }

  #row(values: unknown[]): SnapshotLine {
    if (!this.#table) throw new Error("this is no snapshot of the emulator");
    const { table, columns } = this.#table;
    if (values.length !== columns) throw new Error(`a row of ${table} has ${columns} values, not ${values.length}`);
    this.#rows++;
    return { kind: "row", values: values.map(kept) };
  }

  #end(rows: unknown): void {
    const missing = contents.find((table) => !this.#seen.has(table));
    if (missing) throw new Error(`the table ${missing} is missing`);
    if (rows !== this.#rows) throw new Error(`the snapshot has ${this.#rows} rows, and should have ${String(rows)}`);
    this.#ended = true;
  }
}

function parsed(text: string): unknown {
  checkJsonBounds(text, { levels: 100, values: Infinity });
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("this is not JSON");
  }
}

function kept(value: unknown): string | number | null | Uint8Array {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  if (isObject(value) && typeof value["base64"] === "string") return Buffer.from(value["base64"], "base64");
  throw new Error("a value is neither text nor a number nor null");
}
