import { expect, test } from "@jest/globals";
import { digestOf } from "../../reconcile/digests.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { encodeExisting, encodeExistingInFailure, listExistingAmong } from "./existingKeys.ts";

/** Rows of some numbers, whatever they say. */
const rows = (numbers: Iterable<number>, content = "x"): RowSet => {
  const set = new RowSet();
  for (const one of numbers) set.add(digestOf(`key ${one}`), digestOf(`${content} ${one}`));
  return set;
};
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

test.each([10, 4_096])("of %d existing rows a list tells which of any rows are among them", (count) => {
  const text = encodeExisting(rows(range(0, count)));
  expect(text).toHaveLength("keys:1:".length + Math.ceil((count * 8) / 3) * 4);
  expect(listExistingAmong(text, rows([3, count, count + 1], "changed"))).toHaveLength(1);
});

test("of more a sketch tells it among about all of them, and says when it can't", () => {
  const text = encodeExisting(rows(range(0, 5_000)));
  const existing = listExistingAmong(text, rows(range(100, 5_200), "changed"));
  expect(existing).toHaveLength(4_900);
  expect(listExistingAmong(text, rows([1, 2, 3]))).toBeUndefined();
});

test("without any, none is existing; what is no such text is refused", () => {
  expect(encodeExisting(rows([]))).toBeUndefined();
  expect(listExistingAmong(undefined, rows([1]))).toHaveLength(0);
  expect(() => listExistingAmong("keys:2:AAAA", rows([1]))).toThrow("newer version");
  expect(() => listExistingAmong("nothing", rows([1]))).toThrow(RangeError);
});

test("what an error carries is small, and takes rather more rows for existing than fewer", () => {
  const [few, many] = [rows(range(0, 100)), rows(range(0, 3_000))];
  for (const [existing, ours, expected] of [
    [few, rows(range(0, 3_000)), 100],
    [many, rows(range(0, 3_100)), 3_000],
    [many, rows(range(0, 5_000)), 5_000],
  ] as const) {
    const text = encodeExistingInFailure(existing, ours) ?? "";
    expect(text.length).toBeLessThan(1_500);
    expect(listExistingAmong(text, ours)).toHaveLength(expected);
  }
  expect(encodeExistingInFailure(rows([]), few)).toBeUndefined();
});
