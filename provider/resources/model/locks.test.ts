import { expect, test } from "@jest/globals";
import { Capacity, SharedLock } from "./locks.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends on demand; `begun` and `ended` are noted by name. */
function stage() {
  const lock = new SharedLock();
  const noted: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<string> => {
    noted.push(`${name} begins`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    noted.push(`${name} ends`);
    return name;
  };
  return { lock, noted, work, end: (name: string) => ends.get(name)?.() };
}

test("a failure lets the next one begin", async () => {
  const { lock, work, end } = stage();
  await expect(lock.exclusive("team", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const next = lock.shared("team", work("next"), "another company");
  await turn();
  end("next");
  expect(await next).toBe("next");
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
