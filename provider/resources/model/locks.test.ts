import { expect, test } from "@jest/globals";
import { SharedLock } from "./locks.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to; `begun` and `ended` are noted by name. */
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
