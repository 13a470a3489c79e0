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
  while (failures.length === 0) {
    const leave = await enter();
    const next = await new Promise<IteratorResult<Item>>((resolve) => resolve(items.next())).catch(fail);
    if (!next || next.done) {
      leave();
      break;
    }
    const one = work(next.value)
      .then(() => undefined, fail)
      .finally(() => {
        running.delete(one);
        leave();
      });
    running.add(one);
    if (running.size >= concurrency) await Promise.race(running);
  }
  await items.return?.();
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
