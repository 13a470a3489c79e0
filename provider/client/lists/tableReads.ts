import type { Row } from "../../contract/values.ts";
import type { CallOptions, Calls } from "../http/call.ts";
import { pages } from "./pages.ts";
import { SnapshotCache } from "./snapshotCache.ts";

interface Options {
  /** Milliseconds that a table which was read answers further reads. Our own writes drop it. */
  ttlMs?: number;
  now?: () => number;
}

/** A table of more rows than this is read by each reader anew: nobody's memory should hold it. */
const maxKeptRows = 10_000;

/**
 * Reads of whole tables, for many readers at a time that only look: what one of them reads of a small table serves all who
 * ask meanwhile or shortly afterwards. Who plans changes reads anew.
 */
export class TableReads {
  readonly #client: Calls<"microappdata">;
  readonly #snapshots: SnapshotCache<Row[]>;
  readonly #underway = new Map<string, Promise<void>>();

  constructor(client: Calls<"microappdata">, { ttlMs = 5_000, now = Date.now }: Options = {}) {
    this.#client = client;
    this.#snapshots = new SnapshotCache(ttlMs, now);
  }

  /** The rows of a table as they were at most a lifetime ago, page by page. */
  async *read(table: string, call: CallOptions = {}): AsyncGenerator<Row[], void, undefined> {
    for (let reader; (reader = this.#underway.get(table)) !== undefined;) await reader;
    const known = this.#snapshots.get(table);
    if (known) {
      if (known.snapshot.length > 0) yield known.snapshot;
      return;
    }
    const ended = Promise.withResolvers<undefined>();
    this.#underway.set(table, ended.promise);
    const letOthers = (): void => {
      if (this.#underway.get(table) === ended.promise) this.#underway.delete(table);
      ended.resolve(undefined);
    };
    const version = this.#snapshots.version(table);
    let rows: Row[] | undefined = [];
    try {
      for await (const page of pages(this.#client, { microAppID: table, ...call })) {
        rows = rows && rows.length + page.length <= maxKeptRows ? [...rows, ...page] : undefined;
        // A large table is everybody's own: nobody waits for its end.
        if (!rows) letOthers();
        yield page;
      }
      if (rows) this.#snapshots.keep(table, rows, version);
    } finally {
      letOthers();
    }
  }

  /** What was read of a table says nothing about the time after this. */
  changed(table: string): void {
    this.#snapshots.changed(table);
  }
}
