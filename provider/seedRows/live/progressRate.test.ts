import { expect, test } from "@jest/globals";
import { ProgressRate } from "./progressRate.ts";

test("one row is one row, of a number that is known as well", () => {
  const now = (): number => 0;
  const rate = new ProgressRate("rows read", now);
  expect([rate.add(1), rate.add(1_999)]).toEqual(["1 row read", "2,000 rows read"]);
  expect(new ProgressRate("rows written", now, 1).add(1)).toBe("1 of 1 row written");
  expect(new ProgressRate("rows written", now, 3).add(1)).toBe("1 of 3 rows written");
});
