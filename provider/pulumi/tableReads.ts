import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { pages } from "../../platform/client/lists.ts";
import type { Row } from "../../platform/contract/values.ts";

interface Options {
  /** Milliseconds for which a table serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
  now?: () => number;
}

/** Above this number of rows each reader reads the table itself, so that no memory holds all of it. */
const maxKeptRows = 10_000;

/**
 * Reads whole tables for many readers at a time: one read of a small table serves all that ask meanwhile or within
 * `ttlMs`. For readers that only look; plans of changes read the table themselves.
 */
export class TableReads {
  readonly #client: Calls<"microappdata">;
  readonly #snapshots: SnapshotCache<Row[]>;
  readonly #underway = new Map<string, Promise<void>>();

  constructor(client: Calls<"microappdata">, { ttlMs = 5_000, now = Date.now }: Options = {}) {
    this.#client = client;
    this.#snapshots = new SnapshotCache(ttlMs, now);
  }

  /** Pages of a table as it was at most `ttlMs` ago. */
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
        // Each reader reads a large table itself: none waits for the end of this read.
        if (!rows) letOthers();
        yield page;
      }
      if (rows) this.#snapshots.keep(table, rows, version);
    } finally {
      letOthers();
    }
  }

  /** Notes a change of ours: earlier reads are not served any more. */
  changed(table: string): void {
    this.#snapshots.changed(table);
  }
}

/**
 * Snapshots by key, which serve further reads for `ttlMs` (ms) or until our own write drops them. A snapshot that was
 * read during a write is not kept.
 */
export class SnapshotCache<Snapshot> {
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { snapshot: Snapshot; until: number }>();
  /** How often each key was changed by us. */
  readonly #changes = new Map<string, number>();

  constructor(ttlMs: number, now: () => number) {
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** Keys with a snapshot, also one that is too old to serve. */
  get keys(): Iterable<string> {
    return this.#kept.keys();
  }

  /** The snapshot of a key, wrapped since it may be undefined itself. */
  get(key: string): { snapshot: Snapshot } | undefined {
    const known = this.#kept.get(key);
    return known && known.until > this.#now() ? known : undefined;
  }

  /** Keeps a snapshot, unless the key was changed since `version` was read. */
  keep(key: string, snapshot: Snapshot, version: number): void {
    if (version === this.version(key)) this.#kept.set(key, { snapshot, until: this.#now() + this.#ttlMs });
  }

  /** Counts our changes of a key. */
  version(key: string): number {
    return this.#changes.get(key) ?? 0;
  }

  /** Makes the next reader read again. */
  drop(key: string): void {
    this.#kept.delete(key);
  }

  /** Notes a change of ours: snapshots read before or during it are not served any more. */
  changed(key: string): void {
    this.#changes.set(key, this.version(key) + 1);
    this.drop(key);
  }
}
