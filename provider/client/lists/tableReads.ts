import type { Row } from "../../contract/values.ts";
import type { CallOptions, Client } from "../client.ts";
import { pages } from "./pages.ts";

interface Options {
  /** Milliseconds that a table which was read answers further reads. Our own writes drop it. */
  lifetime?: number;
  now?: () => number;
}

/** A table of more rows than this is read by each reader anew: nobody's memory should hold it. */
const mostRows = 10_000;

/**
 * Reads of whole tables, for many readers at a time that only look: what one of them reads of a small table serves all who
 * ask meanwhile or shortly afterwards. Who plans changes reads anew.
 */
export class TableReads {
  readonly #client: Client;
  readonly #lifetime: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { rows: Row[]; until: number }>();
  readonly #underway = new Map<string, Promise<void>>();
  /** How often a table was changed: what was read meanwhile is not kept. */
  readonly #changes = new Map<string, number>();

  constructor(client: Client, { lifetime = 5_000, now = Date.now }: Options = {}) {
    this.#client = client;
    this.#lifetime = lifetime;
    this.#now = now;
  }

  /** The rows of a table as they were at most a lifetime ago, page by page. */
  async *look(table: string, call: CallOptions = {}): AsyncGenerator<Row[], void, undefined> {
    for (let reader; (reader = this.#underway.get(table)) !== undefined;) await reader;
    const known = this.#kept.get(table);
    if (known && known.until > this.#now()) {
      if (known.rows.length > 0) yield known.rows;
      return;
    }
    const ended = Promise.withResolvers<undefined>();
    this.#underway.set(table, ended.promise);
    const letOthers = (): void => {
      if (this.#underway.get(table) === ended.promise) this.#underway.delete(table);
      ended.resolve(undefined);
    };
    const changes = this.#changes.get(table);
    let rows: Row[] | undefined = [];
    try {
      for await (const page of pages(this.#client, { microAppID: table, ...call })) {
        rows = rows && rows.length + page.length <= mostRows ? [...rows, ...page] : undefined;
        // A large table is everybody's own: nobody waits for its end.
        if (!rows) letOthers();
        yield page;
      }
      if (rows && changes === this.#changes.get(table)) {
        this.#kept.set(table, { rows, until: this.#now() + this.#lifetime });
      }
    } finally {
      letOthers();
    }
  }

  /** What was read of a table says nothing about the time after this. */
  changed(table: string): void {
    this.#changes.set(table, (this.#changes.get(table) ?? 0) + 1);
    this.#kept.delete(table);
  }
}
