import { expect, test } from "@jest/globals";
import { SharedLock } from "./sharedLock.ts";

test("a writer waits for readers, and whoever comes after it waits for the writer", async () => {
  const lock = new SharedLock();
  const order: string[] = [];
  const [first, second] = await Promise.all([lock.shared("t"), lock.shared("t")]);
  const writer = lock.exclusive("t", async () => {
    order.push("writer begins");
    await Promise.resolve();
    order.push("writer ends");
  });
  const late = lock.shared("t").then((release) => {
    order.push("late reader");
    release();
  });
  order.push("readers");
  first();
  first(); // twice does no harm
  await Promise.resolve();
  order.push("one reader is left");
  second();
  await Promise.all([writer, late]);
  expect(order).toEqual(["readers", "one reader is left", "writer begins", "writer ends", "late reader"]);
});

test("writers of one name go one after the other, those of another name do not wait", async () => {
  const lock = new SharedLock();
  const order: string[] = [];
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  const first = lock.exclusive("t", () => promise.then(() => void order.push("first")));
  const second = lock.exclusive("t", () => Promise.resolve(void order.push("second")));
  await lock.exclusive("other", () => Promise.resolve(void order.push("other")));
  resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(["other", "first", "second"]);
});

test("work that fails releases the lock", async () => {
  const lock = new SharedLock();
  await expect(lock.exclusive("t", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await lock.exclusive("t", () => Promise.resolve("yes"))).toBe("yes");
});
