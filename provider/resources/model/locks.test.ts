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

test("those of one company work at the same time, one of another waits for all of them", async () => {
  const { lock, noted, work, end } = stage();
  const all = [
    lock.shared("team", work("a")),
    lock.shared("team", work("b")),
    lock.exclusive("team", work("c")),
    lock.shared("team", work("d")),
    lock.shared("other", work("e")),
  ];
  await turn();
  expect(noted).toEqual(["a begins", "b begins", "e begins"]);
  end("a");
  await turn();
  expect(noted).not.toContain("c begins");
  end("b");
  await turn();
  expect(noted.slice(3)).toEqual(["a ends", "b ends", "c begins"]);
  end("c");
  await turn();
  expect(noted.at(-1)).toBe("d begins");
  end("d");
  end("e");
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d", "e"]);
});

test("a failure lets the next one begin", async () => {
  const { lock, work, end } = stage();
  await expect(lock.exclusive("team", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const next = lock.shared("team", work("next"), "another company");
  await turn();
  end("next");
  expect(await next).toBe("next");
});

test("who leaves early works alone without waiting for itself, and leaving twice does no harm", async () => {
  const lock = new SharedLock();
  const leave = await lock.enter("table");
  const other = await lock.enter("table");
  leave();
  leave();
  let begun = false;
  const alone = lock.exclusive("table", () => Promise.resolve(void (begun = true)));
  await Promise.resolve();
  expect(begun).toBe(false);
  other();
  await alone;
  expect(begun).toBe(true);
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

test("who is cancelled waits for no turn, does nothing, and lets those behind in", async () => {
  const { lock, noted, work, end } = stage();
  const cancelling = new AbortController();
  const first = lock.shared("team", work("a"));
  const alone = lock.exclusive("team", work("b"), cancelling.signal);
  const beside = lock.shared("team", work("c"));
  const refused = expect(alone).rejects.toThrow(/^cancelled before its turn/);
  await turn();
  expect(noted).toEqual(["a begins"]);
  cancelling.abort();
  await refused;
  await turn();
  expect(noted).toEqual(["a begins", "c begins"]);
  await expect(lock.enter("team", "others", cancelling.signal)).rejects.toThrow("cancelled");
  end("a");
  end("c");
  expect(await Promise.all([first, beside])).toEqual(["a", "c"]);
  const next = lock.exclusive("team", work("d"));
  await turn();
  end("d");
  expect(await next).toBe("d");
});
