import { expect, test } from "@jest/globals";
import { MaskedSum } from "./lastLook.ts";

const sumOf = (...rows: Record<string, unknown>[]): [number, number] => {
  const sum = new MaskedSum();
  for (const row of rows) sum.add(row, ["Name", "Tags"]);
  return [sum.high, sum.low];
};

test("the sum of what is written counts each text of each masked label, in whatever order the rows stand", () => {
  const [one, other] = [
    { Name: "Anna", Tags: ["a", "b"], Note: 1 },
    { Name: "Bob", Tags: [], Note: 2 },
  ];
  expect(sumOf(one, other)).toEqual(sumOf({ ...other, Tags: undefined }, { ...one, Note: 3 }));
  for (const changed of [
    [one],
    [one, one],
    [one, { ...other, Name: "Bop" }],
    [{ ...one, Tags: ["a"] }, other],
    [{ Name: "a", Tags: ["Anna", "b"] }, other],
  ])
    expect(sumOf(...changed)).not.toEqual(sumOf(one, other));
});
