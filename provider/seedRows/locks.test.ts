import { expect, test } from "@jest/globals";
import { Capacity, SharedLock } from "./locks.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("who works alone waits for all others, they wait for it, and a failure lets the next one begin", async () => {
  const lock = new SharedLock();
  const begun: string[] = [];
  const leave = await lock.enter("team");
  const alone = lock.exclusive("team", () => Promise.reject(new Error(`no: ${begun.push("alone")}`)));
  const next = lock.enter("team").then(() => begun.push("next"));
  await lock.enter("crew"); // another key is another room
  await turn();
  expect(begun).toEqual([]);
  leave();
  leave();
  await expect(alone).rejects.toThrow("no: 1");
  await next;
  expect(begun).toEqual(["alone", "next"]);
  const cancelling = new AbortController();
  const cancelled = lock.exclusive("team", () => Promise.resolve(), cancelling.signal);
  cancelling.abort();
  await expect(cancelled).rejects.toThrow("cancelled before its turn");
});

/** Asks for parts of a room one after the other; `inside` has the names of those who have theirs. */
function crowd(size: number) {
  const capacity = new Capacity(size);
  const inside = new Map<string, () => void>();
  const enter = (name: string, part: number, signal?: AbortSignal): void =>
    void capacity.enter(part, signal).then((leave) => inside.set(name, leave));
  const names = async (): Promise<string[]> => {
    await turn();
    return [...inside.keys()];
  };
  const leave = (name: string): void => {
    inside.get(name)?.();
    inside.get(name)?.(); // once more gives nothing more back
    inside.delete(name);
  };
  return { enter, names, leave };
}

test("room is given in the order in which it was asked for, and a small part does not overtake a large one", async () => {
  const { enter, names, leave } = crowd(4);
  for (const [name, part] of [
    ["a", 3],
    ["b", 1],
    ["large", 100],
    ["c", 1],
  ] as const)
    enter(name, part);
  expect(await names()).toEqual(["a", "b"]);
  leave("a");
  expect(await names()).toEqual(["b"]);
  leave("b");
  expect(await names()).toEqual(["large"]);
  leave("large");
  expect(await names()).toEqual(["c"]);
});

test("who is cancelled waits for no room, takes none, and lets those behind in", async () => {
  const { enter, names, leave } = crowd(2);
  const cancelling = new AbortController();
  enter("a", 1);
  enter("large", 2, cancelling.signal);
  enter("b", 1);
  expect(await names()).toEqual(["a"]);
  cancelling.abort();
  expect(await names()).toEqual(["a", "large", "b"]);
  enter("late", 1, cancelling.signal);
  expect(await names()).toContain("late");
  leave("large");
  leave("late");
  enter("c", 1);
  expect(await names()).toEqual(["a", "b"]);
  leave("a");
  expect(await names()).toEqual(["b", "c"]);
});
