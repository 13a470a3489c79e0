import { expect, test } from "@jest/globals";
import { timeOf } from "./values.ts";

test.each([
  ["2026-01", "2026-01-01T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2026-01-05 09:00", "2026-01-05T09:00:00.000Z"],
  ["2026-01-05T09:00:07.1", "2026-01-05T09:00:07.100Z"],
  ["2026-01-05 09:00:00+00", "2026-01-05T09:00:00.000Z"],
  ["2026-01-05 09:00:00,123456 -0330", "2026-01-05T12:30:00.123Z"],
])("%s is the same moment on every machine", (date, moment) => {
  expect(timeOf(date)).toBe(Date.parse(moment));
});

test.each([
  ...["2024-01-01 (approx)", "2024-01-01 EST", "2024-011", "2024-01 January", "2024", "2024-01-01T10", "1/2/2024"],
  ...["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-01-01 25:00", "", "Track-1", NaN, null],
])("%p is no date", (text) => {
  expect(timeOf(text)).toBeUndefined();
});

test.each(["2026-01-05 09:00", "2026-01-05T09:00:00.5"])("%s has no place on the line", (date) => {
  expect(timeOf(date, true)).toBeUndefined();
  expect(timeOf(`${date}Z`, true)).toBe(timeOf(date));
});
