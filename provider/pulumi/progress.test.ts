import { expect, test } from "@jest/globals";
import { reporterThrough } from "./progress.ts";

test("a status that lasts is told at once, however many came before it", () => {
  const said: string[] = [];
  const report = reporterThrough(({ message }) => void said.push(message))(undefined, (text) => text);
  for (const row of [1, 2, 3]) report.status(`${row} rows`);
  report.status("waits 14 s before it tries again", true);
  expect(said).toEqual(["1 rows", "waits 14 s before it tries again"]);
});
