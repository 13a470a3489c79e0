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

test("one alone waits shortly, however many and however slow those were who came long ago", async () => {
  add(2);
  for (const late of [90, 170, 300]) {
    await wait(late);
    add(1);
  }
  await wait(600);
  expect(sizes()).toEqual([5]);
  await endAll();
  await wait(1_000);
  add(1);
  await wait(29);
  expect(sizes()).toEqual([5]);
  await wait(1);
  expect(sizes()).toEqual([5, 1]);
});

test("where several are expected the first one waits for them, once and for no longer than others do", async () => {
  collector.expectSeveral();
  await wait(60);
  add(1);
  await wait(99);
  add(2);
  await wait(99);
  expect(sizes()).toEqual([]);
  await wait(200);
  expect(sizes()).toEqual([3]);
  await endAll();
  collector.expectSeveral();
  add(1);
  await wait(1_000);
  await endAll();
  await wait(1_000);
  add(1);
  await wait(30);
  expect(sizes()).toEqual([3, 1, 1]);
});

test("as many as an engine keeps under way wait for nobody", async () => {
  for (let round = 1; round <= 3; round++) {
    add(usual);
    await wait(0);
    expect(sizes()).toEqual(Array(round).fill(usual));
    await endAll();
  }
});

test("those that come while others are worked on are joined by whom their end brings", async () => {
  add(3);
  await wait(100);
  add(usual - 3);
  await wait(500);
  expect(sizes()).toEqual([3]);
  await endAll();
  add(3);
  await wait(0);
  expect(sizes()).toEqual([3, usual]);
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

test("waits longer where a busy machine takes longer", async () => {
  add(2);
  await wait(99);
  add(1);
  await wait(150);
  add(1);
  expect(sizes()).toEqual([]);
  await wait(300);
  expect(sizes()).toEqual([4]);
});

test("learns that fewer are under way", async () => {
  for (let round = 0; round < 10; round++) {
    add(2);
    await wait(100);
    await endAll();
  }
  add(2);
  await wait(0);
  expect(sizes()).toEqual(Array(11).fill(2));
});

test("few at a time are not taken for all where many come slowly, as of an engine that saves a large state between", async () => {
  for (let round = 0; round < 5; round++) {
    add(2);
    await wait(100);
    await endAll();
  }
  expect(sizes()).toEqual(Array(5).fill(2));
  for (let item = 0; item < 100; item++) {
    add(1);
    await wait(50);
    await endAll();
  }
  expect(sizes().slice(-2)).toEqual([20, 20]);
  expect(batches.length).toBeLessThan(5 + 15);
});
