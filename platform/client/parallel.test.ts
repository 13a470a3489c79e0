import { describe, expect, test } from "@jest/globals";
import { inParallel } from "./lists.ts";

describe("work in parallel", () => {
  test("takes an item only when there is room for it", async () => {
    let taken = 0;
    let done = 0;
    let most = 0;
    function* items(): Generator<number> {
      for (; taken < 50; taken++) yield taken;
    }
    await inParallel(items(), 4, async () => {
      most = Math.max(most, taken + 1 - done);
      await new Promise((resolve) => setImmediate(resolve));
      done++;
    });
    expect({ done, most }).toEqual({ done: 50, most: 4 });
  });

  test("ends with the first failure, after what is under way, and takes nothing more", async () => {
    const ended: number[] = [];
    const taken: number[] = [];
    const work = inParallel([1, 2, 3, 4, 5, 6], 2, async (item) => {
      taken.push(item);
      await new Promise((resolve) => setImmediate(resolve));
      if (item === 1) throw new Error("first");
      if (item === 2) await new Promise((resolve) => setImmediate(resolve));
      ended.push(item);
    });
    await expect(work).rejects.toThrow("first");
    expect(taken).toEqual([1, 2]);
    expect(ended).toEqual([2]);
  });

  test("gives all room back, whether work ends well, fails, or there is none", async () => {
    let [held, entered] = [0, 0];
    const enter = (): Promise<() => void> => {
      held++;
      entered++;
      return Promise.resolve(() => {
        held--;
      });
    };
    await inParallel([1, 2, 3], 2, () => Promise.resolve(), enter);
    await inParallel([], 2, () => Promise.resolve(), enter);
    const failing = inParallel([1, 2, 3], 1, () => Promise.reject(new Error("no")), enter);
    await expect(failing).rejects.toThrow("no");
    expect([held, entered]).toEqual([0, 6]);
  });
});
