import { describe, expect, test } from "@jest/globals";
import { Limiter, type Slot } from "./limiter.ts";

/** Takes as many places as there are. */
async function fill(limiter: Limiter): Promise<Slot[]> {
  const slots: Slot[] = [];
  while (limiter.active < limiter.limit) slots.push(await limiter.acquire());
  return slots;
}

describe("a limiter", () => {
  test("starts at 8 and lets no more through", async () => {
    const limiter = new Limiter();
    await fill(limiter);
    let through = false;
    void limiter.acquire().then(() => (through = true));
    await Promise.resolve();
    expect({ active: limiter.active, through }).toEqual({ active: 8, through: false });
  });

  test("grows by one a round, up to 32", async () => {
    const limiter = new Limiter();
    for (const slot of await fill(limiter)) slot.release("easy");
    expect(limiter.limit).toBe(8); // not quite: each answer counts for less than the one before
    (await limiter.acquire()).release("easy");
    expect(limiter.limit).toBe(9);
    for (let round = 0; round < 40; round++) for (const slot of await fill(limiter)) slot.release("easy");
    expect(limiter.limit).toBe(32);
  });

  test("halves once for a burst of refusals, down to 1", async () => {
    const limiter = new Limiter();
    for (const slot of await fill(limiter)) slot.release("overloaded");
    expect(limiter.limit).toBe(4);
    for (let round = 0; round < 5; round++) for (const slot of await fill(limiter)) slot.release("overloaded");
    expect(limiter.limit).toBe(1);
    (await limiter.acquire()).release("unknown");
    expect(limiter.limit).toBe(1);
  });

  test("lets repeated calls go before new ones, and forgets those that leave", async () => {
    const limiter = new Limiter({ start: 1 });
    const first = await limiter.acquire();
    const order: string[] = [];
    const leaving = new AbortController();
    const left = limiter.acquire(leaving.signal);
    const queued = [
      limiter.acquire().then((slot) => (order.push("new"), slot)),
      limiter.acquire(undefined, true).then((slot) => (order.push("repeated"), slot)),
    ];
    leaving.abort();
    await expect(left).rejects.toMatchObject({ name: "AbortError" });
    first.release("unknown");
    first.release("unknown"); // a second time is nothing
    (await queued[1])?.release("unknown");
    (await queued[0])?.release("unknown");
    expect(order).toEqual(["repeated", "new"]);
    expect(limiter.active).toBe(0);
  });
});
