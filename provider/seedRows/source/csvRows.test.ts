import { expect, test } from "@jest/globals";
import { readCell } from "./csvRows.ts";

test("a date is a day of the calendar", () => {
  for (const cell of ["2026-02-28", "2028-02-29", "2026-01-02T03:04:05Z"]) expect(readCell(cell, "date")).toBe(cell);
  for (const cell of ["2026-02-30", "2026-02-29", "2026-04-31T00:00:00Z"]) {
    expect(readCell(cell, "date")).toBeUndefined();
  }
});
