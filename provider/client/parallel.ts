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
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of source) {
    const one = work(item)
      .then(
        () => undefined,
        (error: unknown) => void failures.push(error),
      )
      .finally(() => underWay.delete(one));
    underWay.add(one);
    if (underWay.size >= concurrency) await Promise.race(underWay);
    if (failures.length > 0) break;
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
}
