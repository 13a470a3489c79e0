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
