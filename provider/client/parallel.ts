/**
 * Works on up to `concurrency` items of a source at a time. Takes an item only when there is room for it, so memory
 * stays flat. After a failure takes no more, and rejects with the first failure once running work has ended.
 */
export async function inParallel<Item>(
  source: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of source) {
    const one = work(item)
      .then(
        () => undefined,
        (error: unknown) => void failures.push(error),
      )
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= concurrency) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
