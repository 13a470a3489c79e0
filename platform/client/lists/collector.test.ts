import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { availableParallelism } from "node:os";
import { Collector } from "./collector.ts";

const waits = { aloneMs: 30, idleMs: 100, maxMs: 1_000 };
const usual = 4 * availableParallelism();

let batches: number[][] = [];
let ends: (() => void)[] = [];
let collector: Collector<number>;

beforeEach(() => {
  jest.useFakeTimers();
  batches = [];
  ends = [];
  collector = new Collector((items) => {
    batches.push(items);
    return new Promise((resolve) => ends.push(resolve));
  }, waits);
});
afterEach(() => void jest.useRealTimers());

const wait = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const add = (count: number): void => {
  for (let item = 0; item < count; item++) collector.add(item);
};
const sizes = (): number[] => batches.map(({ length }) => length);
const endAll = async (): Promise<void> => {
  for (const end of ends.splice(0)) end();
  await wait(0);
};

test("one alone waits shortly; several wait while more come", async () => {
  add(1);
  await wait(29);
  expect(sizes()).toEqual([]);
  await wait(1);
  expect(sizes()).toEqual([1]);
  await endAll();
  for (let item = 0; item < 3; item++) {
    add(1);
    await wait(20);
  }
  expect(sizes()).toEqual([1]);
  await wait(80);
  expect(sizes()).toEqual([1, 3]);
});

test("as many as an engine keeps under way wait for nobody", async () => {
  for (let round = 1; round <= 3; round++) {
    add(usual);
    await wait(0);
    expect(sizes()).toEqual(Array(round).fill(usual));
    await endAll();
  }
});

test("work that does not end keeps nobody for longer than the longest wait", async () => {
  add(1);
  await wait(30);
  add(1);
  await wait(999);
  expect(sizes()).toEqual([1]);
  await wait(1);
  expect(sizes()).toEqual([1, 1]);
});
