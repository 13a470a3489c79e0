/**
 * A lock by name for steps that an engine runs side by side: any number of readers, or one writer. Waiting writers go
 * before new readers. Nobody may wait while holding it: release first.
 */
export class SharedLock {
  readonly #tails = new Map<string, { writers: Promise<void>; readers: Set<Promise<void>> }>();

  /** Holds the lock beside others; the answer releases it, once or more often. */
  async shared(name: string): Promise<() => void> {
    const entry = this.#entry(name);
    const { promise, open } = gate();
    const before = entry.writers;
    entry.readers.add(promise);
    void promise.then(() => entry.readers.delete(promise));
    await before;
    return open;
  }

  /** Runs work while nobody else holds the lock. */
  async exclusive<Answer>(name: string, work: () => Promise<Answer>): Promise<Answer> {
    const entry = this.#entry(name);
    const { promise, open } = gate();
    const before = [entry.writers, ...entry.readers];
    entry.writers = promise;
    await Promise.all(before);
    try {
      return await work();
    } finally {
      open();
    }
  }

  #entry(name: string) {
    const known = this.#tails.get(name);
    if (known) return known;
    const entry = { writers: Promise.resolve(), readers: new Set<Promise<void>>() };
    this.#tails.set(name, entry);
    return entry;
  }
}

function gate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}
