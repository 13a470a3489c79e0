import { describe, expect, test } from "@jest/globals";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { batches } from "./lists/batches.ts";
import { inParallel } from "./parallel.ts";

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

  test("a source that fails ends it too, after what is under way", async () => {
    async function* later(): AsyncGenerator<number> {
      yield await Promise.resolve(1);
      throw new Error("the source");
    }
    function* atOnce(): Generator<number> {
      yield 1;
      throw new Error("the source");
    }
    for (const source of [later(), atOnce()]) {
      const ended: number[] = [];
      const work = inParallel(source, 4, async (item) => {
        await new Promise((resolve) => setImmediate(resolve));
        ended.push(item);
      });
      await expect(work).rejects.toThrow("the source");
      expect(ended).toEqual([1]);
    }
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

  test("keeps no batch that was worked on while the next one waits for room", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const seen: WeakRef<object>[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let asked = 0;
    const enter = async (): Promise<() => void> => {
      if (++asked === 4) await gate;
      return () => undefined;
    };
    const blocks = Array.from({ length: 5 }, (_, at) => [{ at }, { at }]);
    const work = async (batch: object[]): Promise<void> => {
      seen.push(new WeakRef(batch));
      await turn();
    };
    const all = inParallel(batches(blocks, { maxRows: 2 }), 2, work, enter);
    while (asked < 4) await turn();
    await turn();
    collect();
    await turn();
    expect(seen.map((batch) => batch.deref())).toEqual([undefined, undefined, undefined]);
    open();
    await all;
    expect(seen).toHaveLength(5);
  });
});
