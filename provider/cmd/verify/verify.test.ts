import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Stand } from "./testing/stand.ts";

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());

test("on the emulator every fact holds, and nothing is left", async () => {
  const { outcome } = await stand.verify();
  console.log(JSON.stringify([...Map.groupBy(outcome?.notTried ?? [], ({ why }) => why)].map(([why, all]) => [why, all.length, all.slice(0, 3).map((x) => x.fact)]), null, 1));
  expect(stand.differences()).toEqual([]);
});
