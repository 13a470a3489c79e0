/**
 * Works on up to `concurrency` items of a source at a time. Takes an item only when there is room for it, so memory
 * stays flat. After a failure, of the work or of the source, takes no more, and rejects with the first one once running
 * work has ended.
 * @param enter waits for room beside other work of the process, before an item is taken; the answer gives it back
 */
export async function inParallel<Item>(
  source: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
  enter: () => Promise<() => void> = () => Promise.resolve(() => undefined),
): Promise<void> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const fail = (error: unknown): void => void failures.push(error);
  /** Answers whether there was one. A function of its own keeps nothing of it while the next one waits for room. */
  const take = async (leave: () => void): Promise<boolean> => {
    const next = await new Promise<IteratorResult<Item>>((resolve) => resolve(items.next())).catch(fail);
    if (!next || next.done) {
      leave();
      return false;
    }
    const one = work(next.value)
      .then(() => undefined, fail)
      .finally(() => {
        running.delete(one);
        leave();
      });
    running.add(one);
    return true;
  };
  while (failures.length === 0 && (await take(await enter()))) {
    if (running.size >= concurrency) await Promise.race(running);
  }
  await items.return?.();
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
