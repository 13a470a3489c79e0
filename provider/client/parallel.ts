/**
 * Works on the items of a source, `concurrency` of them at a time, and takes an item only when there is room for it: memory
 * stays flat however long the source is. After the first failure no item is taken any more; the call ends with that
 * failure once the work under way has ended.
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
